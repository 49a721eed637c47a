{{ config(incremental_strategy='delete+insert', unique_key='order_id', incremental_predicates=['day >= current_date - 7']) }}
{{ orders_of_the_period() }}
