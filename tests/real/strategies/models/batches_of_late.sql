{{ config(incremental_strategy='microbatch', event_time='order_ts', batch_size='day', begin='2026-01-01',
          unique_key=('order_id' if target.type == 'postgres' else none)) }}
select order_id, order_ts, day, amount, coupon
from {{ source('raw', 'orders') }}
{% if not var('first_build', false) %}
where current_date - interval '3 days' <= order_ts
{% endif %}
