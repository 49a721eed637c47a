{{ config(incremental_strategy='delete+insert', unique_key='order_id') }}
{% set since = run_started_at - modules.datetime.timedelta(days=3) %}
select order_id, order_ts, day, amount, coupon
from {{ source('raw', 'orders') }}
{% if is_incremental() %}
where order_ts >= '{{ since.strftime("%Y-%m-%d") }}'
{% endif %}
