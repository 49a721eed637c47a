{{ config(materialized='incremental', incremental_strategy='append') }}
select order_id, order_day, customer_id, amount
from {{ ref('order_amounts') }}
where order_day >= '{{ var("day_from") }}' and order_day < '{{ var("day_to") }}'
