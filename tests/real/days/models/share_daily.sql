{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='day', batch_size='day', begin='2026-01-01') }}
select day, max(share) as top from {{ ref('share_of_month') }} group by 1
