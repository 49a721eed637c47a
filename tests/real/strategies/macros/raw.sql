{# 120 days of ten orders each, computed from the number of the row. The correction touches five days of March: on the
   5th amounts change, on the 10th half of the orders vanish, on the 15th three orders come late, on the 20th all vanish. #}
{% macro load_raw(corrected=false) %}
  {% set statements %}
    create schema if not exists raw;
    drop table if exists raw.orders cascade;
    create table raw.orders as
    select n as order_id, timestamp '2026-01-01 00:00:00' + n * interval '144 minutes' as order_ts,
           cast(timestamp '2026-01-01 00:00:00' + n * interval '144 minutes' as date) as day,
           10 + n % 90 as amount,
           case when n % 7 = 0 then null else 'c' || (n % 5) end as coupon
    from generate_series(0, 1199) as g(n);
  {% endset %}
  {% do run_query(statements) %}
  {% if corrected %}{{ correct_raw() }}{% endif %}
{% endmacro %}

{% macro correct_raw() %}
  {% set statements %}
    update raw.orders set amount = amount + 1000 where day = date '2026-03-05';
    delete from raw.orders where day = date '2026-03-10' and order_id % 2 = 0;
    insert into raw.orders
    select 5000 + n, timestamp '2026-03-15 12:00:00', date '2026-03-15', 7, 'late' from generate_series(1, 3) as g(n);
    delete from raw.orders where day = date '2026-03-20';
  {% endset %}
  {% do run_query(statements) %}
{% endmacro %}

{% macro orders_of_the_period() %}
select order_id, order_ts, day, amount, coupon
from {{ source('raw', 'orders') }}
where day >= cast('{{ var("day_from") }}' as date) and day < cast('{{ var("day_to") }}' as date)
{% endmacro %}
