{{ config(materialized='table') }}
select customer_id, count(*) as orders, sum(amount) as spent, max(order_day) as last_order
from {{ ref('fct_orders') }}
group by customer_id
