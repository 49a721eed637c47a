{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='visited_at', batch_size='day', begin='2026-01-01') }}
select visited_at, page, hits from {{ source('raw', 'visits') }}
