{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='day', batch_size='day', begin='2026-01-01') }}
select d.day, sum(w.hits) as hits
from (select distinct day from {{ ref('visits_daily') }}) as d
join {{ ref('visits_daily').render() }} as w on w.day between d.day - interval 6 day and d.day
group by 1
