{# The raw layer: order events and clicks as the shop's own systems would deliver them. Everything is computed from
   the number of the row, so that two builds hold the same rows. `correction` doubles nothing and mends March. #}
{% macro make_raw(from="2025-12-01", to="2026-04-20", correction=false) %}
  {% set statements %}
    create schema if not exists raw;
    create or replace table raw.order_events as
    select
      n as order_id,
      (timestamp '{{ from }} 00:00:00' + interval (n * 37) minute) as ordered_at,
      1 + (n * 7919) % 97 as customer_id,
      cast(((n * 104729) % 20000) / 100.0 as decimal(10, 2))
        {% if not correction %}
        * case when (timestamp '{{ from }} 00:00:00' + interval (n * 37) minute) >= '2026-03-01 05:00:00'
                and (timestamp '{{ from }} 00:00:00' + interval (n * 37) minute) < '2026-04-01 04:00:00'
                and n % 5 = 0 then 2 else 1 end
        {% endif %} as amount
    from range(0, cast(date_diff('minute', timestamp '{{ from }} 00:00:00', timestamp '{{ to }} 00:00:00') / 37 as bigint)) t(n);
    create or replace table raw.customers as
    select n as customer_id, 'customer ' || n as name, case when n % 3 = 0 then 'eu' else 'us' end as region from range(1, 98) t(n);
    create or replace table raw.clicks as
    select n as click_id, (timestamp '2026-04-18 00:00:00' + interval (n * 3) minute) as clicked_at, 1 + (n * 31) % 97 as customer_id
    from range(0, 960) t(n);
  {% endset %}
  {% do run_query(statements) %}
{% endmacro %}
