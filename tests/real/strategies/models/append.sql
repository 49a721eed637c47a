{{ config(incremental_strategy='append') }}
{{ orders_of_the_period() }}
