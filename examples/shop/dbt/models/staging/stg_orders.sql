{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='ordered_at',
          batch_size='day', begin='2025-12-01', lookback=1) }}
select order_id, ordered_at, customer_id, amount
from {{ source('raw', 'order_events') }}
