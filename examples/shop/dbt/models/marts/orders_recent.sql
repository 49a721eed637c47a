{{ config(materialized='view') }}
select * from {{ ref('fct_orders') }} where order_day >= current_date - 30
