{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='day', batch_size='day', begin='2026-01-01') }}
select cast(visited_at as date) as day, page, sum(hits) as hits from {{ ref('visits') }} group by 1, 2
