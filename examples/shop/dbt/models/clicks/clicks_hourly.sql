{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='hour',
          batch_size='hour', begin='2026-04-18', lookback=2) }}
select date_trunc('hour', clicked_at) as hour, count(*) as clicks
from {{ source('raw', 'clicks') }}
group by 1
