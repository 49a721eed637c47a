{{ config(incremental_strategy='delete+insert', unique_key='order_id') }}
{% if is_incremental() %}
with newest as (select max(order_ts) as seen_until from {{ this }})
{% endif %}
select o.order_id, o.order_ts, o.day, o.amount, o.coupon
from {{ source('raw', 'orders') }} o
{% if is_incremental() %}
cross join newest where o.order_ts > newest.seen_until
{% endif %}
