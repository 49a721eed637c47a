{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key='month') }}
select cast(date_trunc('month', order_day) as date) as month, sum(orders) as orders, sum(revenue) as revenue
from {{ ref('revenue_daily') }}
where order_day >= date_trunc('month', date '{{ var("day_from") }}') and order_day < '{{ var("day_to") }}'
group by 1
