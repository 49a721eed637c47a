{{ config(materialized='table') }}
select day, count(*) as orders, sum(amount) as amount
from {{ source('raw', 'orders') }}
group by day
