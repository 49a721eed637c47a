{{ config(materialized='ephemeral') }}
-- The shop closes its books in New York: an order belongs to the day that New York's clocks show.
select order_id, customer_id, amount,
       cast((ordered_at at time zone 'UTC') at time zone 'America/New_York' as date) as order_day
from {{ ref('stg_orders') }}
