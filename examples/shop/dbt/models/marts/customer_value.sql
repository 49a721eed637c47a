{{ config(materialized='table') }}
select c.customer_id, c.region, coalesce(sum(o.amount), 0) as value
from {{ source('raw', 'customers') }} c
left join {{ ref('fct_orders') }} o using (customer_id)
group by c.customer_id, c.region
