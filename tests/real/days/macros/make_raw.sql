{# 59 days of visits; a correction changes those of two days in February and drops a third. #}
{% macro make_raw(correction) %}
  {% do run_query("create schema if not exists raw") %}
  {% do run_query("create or replace table raw.visits as select timestamp '2026-01-01' + (i * 37) * interval 1 minute as visited_at, "
      ~ "'page ' || (i % 5) as page, (i % 7) + 1 as hits from range(2290) t(i)") %}
  {% if correction %}
    {% do run_query("update raw.visits set hits = hits + 10 where cast(visited_at as date) in ('2026-02-10', '2026-02-11') and page = 'page 3'") %}
    {% do run_query("delete from raw.visits where cast(visited_at as date) = '2026-02-11' and page = 'page 1'") %}
  {% endif %}
{% endmacro %}
