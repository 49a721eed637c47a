{{ config(incremental_strategy='delete+insert', unique_key='order_id') }}
select order_id, order_ts, day, amount, coupon
from {{ source('raw', 'orders') }}
{% if is_incremental() %}
where order_ts > (select max(order_ts) from {{ this }})
{% endif %}
