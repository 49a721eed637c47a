{{ config(incremental_strategy='delete+insert', unique_key='day') }}
{{ orders_of_the_period() }}
