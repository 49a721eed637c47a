{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key='day') }}
-- Each day with the 28 days that end in it.
select d.day, count(o.order_id) as orders, sum(o.amount) as revenue
from (select cast(unnest(range(date '{{ var("day_from") }}', date '{{ var("day_to") }}', interval 1 day)) as date) as day) d
left join {{ ref('fct_orders') }} o on o.order_day > d.day - 28 and o.order_day <= d.day
group by d.day
