{{ config(incremental_strategy='merge', unique_key='order_id', merge_update_columns=['coupon']) }}
{{ orders_of_the_period() }}
