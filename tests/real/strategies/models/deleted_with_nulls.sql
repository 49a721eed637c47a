{{ config(incremental_strategy='delete+insert', unique_key=['order_id', 'coupon']) }}
{{ orders_of_the_period() }}
