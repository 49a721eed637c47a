{{ config(materialized='table') }}
select day, sum(hits) over (order by day) as hits_so_far
from (select day, sum(hits) as hits from {{ ref('visits_daily') }} group by 1)
