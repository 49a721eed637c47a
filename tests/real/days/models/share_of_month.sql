{{ config(materialized='table') }}
select day, page, hits / sum(hits) over (partition by date_trunc('month', day)) as share
from {{ ref('visits_daily') }}
