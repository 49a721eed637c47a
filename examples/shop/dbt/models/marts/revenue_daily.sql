{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key='order_day',
          post_hook="copy {{ this }} to '{{ env_var('SHOP_EXPORTS', '.') }}/revenue_daily.csv' (header)") }}
select order_day, count(*) as orders, sum(amount) as revenue
from {{ ref('fct_orders') }}
where order_day >= '{{ var("day_from") }}' and order_day < '{{ var("day_to") }}'
group by order_day
