{{ config(incremental_strategy='merge', unique_key='order_id') }}
{{ orders_of_the_period() }}
