// Which mapping the code of a model gives: one small model a shape, over the dialects.

#include <doctest/doctest.h>

#include <fmt/format.h>

#include "graph/join/code_mappings.hpp"
#include "ingest/dbt/mappings.hpp"

using namespace backreach;

namespace {

struct Shape {
  const char* adapter = "duckdb";
  const char* sql = "";        // raw code; parents by source('raw', 'NAME') or ref('NAME')
  const char* expected = "";   // "p: same proven"
  const char* column = "day";  // of the child
  const char* grain = "day";
  const char* parent_column = "day";
  const char* parent_grain = "day";
  const char* zone = "UTC";  // of the child
  MacroBodies macros = {};
};

std::string Known_(const Edge& e) { return ToString(e.known); }

// The mappings of all parents that are named p, q, r: "p: same proven; q: window [-6, 0] day inferred".
std::string MappingsOf(const Shape& s, std::string& why, bool compiled = false) {
  LineageGraph g;
  std::vector<DbtParent> parents;
  const auto dataset = [&](const std::string& name, const char* grain, const char* column, const char* zone) {
    Dataset d;
    d.name = name;
    d.grain = *ParseGrain(grain);
    d.calendar = Calendar(*d.grain, Zone::Find(zone));
    d.layout = std::make_shared<const Layout>(d.calendar);
    d.column = column;
    d.zone_assumed = false;
    g.datasets.push_back(std::move(d));
  };
  dataset("child", s.grain, s.column, s.zone);
  const std::string sql = s.sql;
  for (const std::string name : {"p", "q", "r"}) {
    if (sql.find("'" + name + "'") == std::string::npos && sql.find("raw." + name) == std::string::npos)
      continue;
    dataset(name, s.parent_grain, s.parent_column, "UTC");
    parents.push_back({"source.x.raw." + name, {"db", "raw", name}, {name}, true, false, nullptr});
  }
  DbtCode code;
  (compiled ? code.compiled : code.raw) = sql;
  code.path = "models/child.sql";
  const DbtCodeReads reads = ReadDbtCode(code, parents, {"db", "main", "child"}, {}, s.macros, s.adapter);
  for (std::size_t i = 0; i < parents.size(); ++i) {
    Edge e;
    e.from = DatasetId{static_cast<std::uint32_t>(i + 1)};
    e.to = DatasetId{0};
    if (reads.told[i])
      e.code = std::make_shared<ReadInCode>(
          ReadInCode{FormatCodeReads(ParseCodeReads(FormatCodeReads(reads.of[i]))), "", ""});
    g.edges.push_back(std::move(e));
  }
  TakeMappingsFromCode(g);
  std::string out;
  for (std::size_t i = 0; i < parents.size(); ++i) {
    std::string one;
    for (const Edge& e : g.edges)
      if (e.from.value == i + 1) one += (one.empty() ? "" : ", ") + FormatReads(e.reads);
    for (const Edge& e : g.edges)
      if (e.from.value == i + 1) {
        if (e.code) why += e.code->why + " at " + e.code->place + "; ";
        out += (out.empty() ? "" : "; ") + g.datasets[i + 1].name + ": " + one + " " + Known_(e);
        break;
      }
  }
  return out;
}

}  // namespace

#define P "{{ source('raw', 'p') }}"
#define Q "{{ source('raw', 'q') }}"

TEST_CASE("what passes rows through, day by day, is proven the same") {
  const Shape shapes[] = {
      {"duckdb", "select day, amount from " P, "p: same proven"},
      {"duckdb", "select * from " P, "p: same proven"},
      {"duckdb", "select p.* from " P " p where amount > 3", "p: same proven"},
      {"duckdb", "with a as (select * from " P "), b as (select day, amount from a) select * from b",
       "p: same proven"},
      {"duckdb", "select cast(ts as date) as day, sum(x) as x from " P " group by 1", "p: same proven", "day",
       "day", "ts"},
      {"duckdb", "select ts::date as day, sum(x) as x from " P " group by ts::date", "p: same proven", "day",
       "day", "ts"},
      {"postgres", "select date_trunc('day', ts) as day, count(*) from " P " group by day", "p: same proven",
       "day", "day", "ts"},
      {"bigquery", "select date(ts) as day, count(*) from " P " group by all", "p: same proven", "day", "day",
       "ts"},
      {"bigquery", "select date_trunc(day, month) as month, count(*) c from " P " group by month",
       "p: same proven", "month", "month"},
      {"snowflake", "select to_date(ts) as day, count(*) c from " P " group by 1", "p: same proven", "day",
       "day", "ts"},
      {"clickhouse", "select toStartOfMonth(day) as month, sum(x) from " P " group by month",
       "p: same proven", "month", "month"},
      {"sqlserver",
       "select datetrunc(month, day) as month, sum(x) s from " P " group by datetrunc(month, day)",
       "p: same proven", "month", "month"},
      {"duckdb", "select distinct day, k from " P, "p: same proven"},
      {"duckdb", "select day, x, row_number() over (partition by day order by x) as n from " P,
       "p: same proven"},
      {"duckdb",
       "select ts, x from (select *, rank() over (partition by cast(ts as date), k order by x desc) as n "
       "from " P ") where n = 1",
       "p: same proven", "ts", "day", "ts"},
      {"duckdb", "select p.day, q.x from " P " p left join " Q " q on q.day = p.day and q.k = p.k",
       "p: same proven; q: same proven"},
      {"duckdb", "select day, p.x, q.y from " P " p join " Q " q using (day, k)",
       "p: same proven; q: same proven"},
      {"duckdb",
       "select coalesce(p.day, q.day) as day, p.x, q.y from " P " p full outer join " Q " q on p.day = q.day",
       "p: same proven; q: same proven"},
      {"duckdb", "select day, x from " P " union all select day, y from " Q,
       "p: same proven; q: same proven"},
      {"duckdb",
       "select p.day, x from " P " p where exists (select 1 from " Q " q where q.k = p.k and q.day = p.day)",
       "p: same proven; q: same proven"},
      {"duckdb",
       "select s.day, coalesce(sum(x), 0) as x from (select unnest(generate_series(date '2024-01-01', "
       "current_date, interval 1 day)) as day) s left join " P " p on p.day = s.day group by 1",
       "p: same proven"},
      {"duckdb", "select day, x from " P " where day >= current_date - 30 order by day", "p: same proven"},
      {"duckdb",
       "select day, x from " P
       " {% if is_incremental() %} where day > (select max(day) - 3 from {{ this }}) {% endif %}",
       "p: same proven"},
      {"duckdb", "-- sum(x) over (order by day)\nselect day, 'lag(x) over (' as t from " P, "p: same proven"},
      {"duckdb",
       "select day, {% for c in ['a', 'b'] %} sum({{ c }}) as {{ c }}{% if not loop.last %},{% endif %}{% "
       "endfor %} from " P " group by day",
       "p: same proven"},
      {"duckdb",
       "select {{ cut('day') }} as month, sum(x) as x from " P " group by 1",
       "p: same proven",
       "month",
       "month",
       "day",
       "day",
       "UTC",
       {{"cut",
         "{% macro cut(column, unit='month') %}date_trunc('{{ unit }}', {{ column }}){% endmacro %}"}}},
      {"snowflake", "select {{ dbt.date_trunc('month', 'day') }} as month, sum(x) as x from " P " group by 1",
       "p: same proven", "month", "month"},
      {"spark", "select day, tag from " P " lateral view explode(tags) t as tag", "p: same proven"},
      {"snowflake", "select p.day, f.value from " P " p, lateral flatten(input => p.items) f",
       "p: same proven"},
      {"duckdb", "select day, case when x > 3 then 'a' else 'b' end as c from " P, "p: same proven"},
      {"duckdb", "select p.day, t.target from " P " p join " Q " t on t.day = date_trunc('month', p.day)",
       "p: same proven; q: to_date month inferred"},
  };
  for (const Shape& s : shapes) {
    std::string why;
    const std::string got = MappingsOf(s, why), sql = s.sql, expected = s.expected;
    CHECK_MESSAGE(got == expected, (sql + "\n    " + why));
  }
}

TEST_CASE("bounds on the parent's time, frames and shifts are recognised") {
  const Shape shapes[] = {
      {"duckdb",
       "select d.day, sum(e.x) as x from " P " d join " P
       " e on e.day between d.day - 6 and d.day group by 1",
       "p: window [-6, 0] day inferred"},
      {"postgres",
       "select p.day, sum(q.x) as x from " P " p join " Q
       " q on q.day > p.day - 7 and q.day <= p.day group by p.day",
       "p: same proven; q: window [-7, 0] day inferred"},
      {"snowflake",
       "select p.day, q.x from " P " p join " Q " q on datediff(day, q.day, p.day) between 0 and 6",
       "p: same proven; q: window [-6, 0] day inferred"},
      {"bigquery",
       "select p.day, q.x from " P " p join " Q " q on date_diff(p.day, q.day, day) between 0 and 6",
       "p: same proven; q: window [-6, 0] day inferred"},
      {"snowflake", "select p.day, q.x from " P " p join " Q " q on datediff(month, q.day, p.day) = 1",
       "p: same proven; q: period month offset -1 inferred"},
      {"bigquery", "select p.day, q.x from " P " p join " Q " q on q.day = date_sub(p.day, interval 1 day)",
       "p: same proven; q: window [-1, -1] day inferred"},
      {"redshift", "select p.day, q.x from " P " p join " Q " q on q.day = dateadd(month, -1, p.day)",
       "p: same proven; q: window [-1, -1] month inferred"},
      {"trino",
       "select p.day, q.x from " P " p join " Q
       " q on q.day between date_add('day', -2, p.day) and p.day + interval '1' day",
       "p: same proven; q: window [-2, 1] day inferred"},
      {"clickhouse", "select p.day, q.x from " P " p join " Q " q on q.day = subtractDays(p.day, 3)",
       "p: same proven; q: window [-3, -3] day inferred"},
      {"spark", "select p.day, q.x from " P " p join " Q " q on q.day = date_sub(p.day, 364)",
       "p: same proven; q: window [-364, -364] day inferred"},
      {"oracle", "select p.day, q.x from " P " p join " Q " q on q.day = add_months(p.day, -12)",
       "p: same proven; q: window [-12, -12] month inferred"},
      {"duckdb",
       "select day, sum(x) over (order by day range between interval 6 day preceding and current row) as x "
       "from " P,
       "p: window [-6, 0] day inferred"},
      {"duckdb",
       "select day, sum(x) over (order by day desc range between interval 6 day preceding and current row) "
       "as x from " P,
       "p: window [0, 6] day inferred"},
      {"bigquery",
       "select day, sum(x) over (order by unix_date(day) range between 6 preceding and current row) as x "
       "from " P,
       "p: window [-6, 0] day inferred"},
      {"duckdb",
       "select day, sum(x) over w as x from " P
       " window w as (order by day range between interval 2 day preceding and interval 1 day following)",
       "p: window [-2, 1] day inferred"},
      {"duckdb", "select cast(ts - interval 8 hour as date) as day, sum(x) as x from " P " group by 1",
       "p: window [8, 8] hour inferred", "day", "day", "ts", "hour"},
      {"duckdb", "select day + 1 as day, x from " P, "p: window [-1, -1] day inferred"},
      {"duckdb", "select day, x from " P " union all select day + 7, x from " P,
       "p: same, window [-7, -7] day inferred"},
      {"duckdb", "select day, sum(x) over (order by day) as x from " P, "p: previous inferred"},
      {"duckdb",
       "select day, sum(x) over (order by day rows between 6 preceding and current row) as x from " P,
       "p: previous inferred"},
      {"duckdb", "select day, x - lag(x) over (order by day) as x from " P, "p: previous inferred"},
      {"duckdb", "select day, lead(x) over (partition by k order by day) as x from " P,
       "p: following inferred"},
      {"duckdb",
       "select day, x, k from " P " qualify row_number() over (partition by k order by day desc) = 1",
       "p: following inferred"},
      {"duckdb",
       "select day, k from " P " p where (p.k, p.day) in (select k, max(day) from " P " group by k)",
       "p: following inferred"},
      {"clickhouse", "select day, t from " P " array join tags as t", "p: same proven"},
      {"postgres", "select distinct on (k) day, k, x from " P " order by k, day desc",
       "p: following inferred"},
      {"postgres", "select distinct on (k) day, k, x from " P " order by k, day", "p: previous inferred"},
      {"duckdb", "select day, sum(x) over (partition by date_trunc('month', day) order by day) as x from " P,
       "p: to_date month inferred"},
      {"duckdb", "select day, x / sum(x) over (partition by date_trunc('month', day)) as x from " P,
       "p: period month inferred"},
      {"duckdb", "select day, sum(x) over (partition by year(day), month(day) order by day) as x from " P,
       "p: to_date month inferred"},
      {"duckdb",
       "select p.day, (select sum(q.x) from " Q " q where q.day between p.day - 2 and p.day) as x from " P
       " p",
       "p: same proven; q: window [-2, 0] day inferred"},
      {"duckdb", "select p.day, q.x from " P " p asof join " Q " q on q.k = p.k and p.day >= q.day",
       "p: same proven; q: previous inferred"},
      {"postgres",
       "select p.day, q.x from " P " p left join lateral (select * from " Q
       " q where q.k = p.k and q.day <= p.day order by q.day desc limit 1) q on true",
       "p: same proven; q: previous inferred"},
      {"duckdb", "select p.day, q.x from " P " p join " Q " q on q.day >= p.day",
       "p: same proven; q: following inferred"},
      {"duckdb", "select k, min(day) as day from " P " group by k", "p: previous inferred"},
      {"duckdb", "select k, max(day) as day, max_by(x, day) as x from " P " group by k",
       "p: following inferred"},
      {"duckdb",
       "select p.day, p.x / q.x as x from " P " p cross join (select x from " Q
       " where day = date '2024-01-01') q",
       "p: same proven; q: fixed 2024-01-01 .. 2024-01-01 inferred"},
      {"duckdb",
       "select p.day + s.n as day, sum(x) as x from " P
       " p cross join (select unnest(range(0, 7)) as n) s group by 1",
       "p: window [-6, 0] day inferred"},
      {"duckdb", "select p.day, q.x from " P " p join " Q " q on q.day in (p.day - 7, p.day - 14)",
       "p: same proven; q: window [-14, -7] day inferred"},
      {"duckdb",
       "select p.day, q.x from " P " p join " Q " q on strftime(q.day, '%Y-%m') = strftime(p.day, '%Y-%m')",
       "p: same proven; q: period month inferred"},
      {"bigquery", "select date(ts, 'America/Los_Angeles') as day, count(*) as n from " P " group by 1",
       "p: same proven", "day", "day", "ts", "hour", "America/Los_Angeles"},
      {"bigquery", "select date(ts, 'America/Los_Angeles') as day, count(*) as n from " P " group by 1",
       "p: window [7, 8] hour inferred", "day", "day", "ts", "hour"},
      {"snowflake",
       "select convert_timezone('UTC', 'Asia/Tokyo', ts)::date as day, count(*) as n from " P " group by 1",
       "p: window [-9, -9] hour inferred", "day", "day", "ts", "hour"},
  };
  for (const Shape& s : shapes) {
    std::string why;
    const std::string got = MappingsOf(s, why), sql = s.sql, expected = s.expected;
    CHECK_MESSAGE(got == expected, (sql + "\n    " + why));
  }
}

TEST_CASE("what is neither proven nor recognised is read whole") {
  const Shape shapes[] = {
      {"duckdb", "select day, x, (select sum(x) from " P ") as total from " P, "p: all assumed"},
      {"duckdb", "select shipped as day, count(*) as n from " P " group by 1", "p: all assumed"},
      {"duckdb", "select day, x from " P " order by day desc limit 10", "p: all assumed"},
      {"duckdb", "select day, x, ntile(4) over (order by day) as n from " P, "p: all assumed"},
      {"duckdb", "select day, sum(x) over (partition by k) as x from " P, "p: all assumed"},
      {"duckdb", "select day, row_number() over (order by x) as n from " P, "p: all assumed"},
      {"duckdb", "select p.day, q.x from " P " p join " Q " q on q.k = p.k",
       "p: same proven; q: all assumed"},
      {"duckdb",
       "select p.day, p.x from " P " p where p.k in (select k from " Q " group by k having count(*) > 3)",
       "p: same proven; q: all assumed"},
      {"duckdb", "select max(day) as day, k, sum(x) as x from " P " group by k", "p: all assumed"},
      {"duckdb", "select current_date as day, sum(x) as x from " P, "p: all assumed"},
      {"duckdb", "select day, sum(x) as x from " P " group by rollup (day)", "p: all assumed"},
      {"duckdb", "select day, {{ unknown_macro('x') }} as x from " P, "p: all assumed"},
      {"snowflake", "select day, x from " P " sample (10)", "p: all assumed"},
      {"duckdb", "select p.day, q.x from " P " p join " Q " q on q.day = p.day - p.lag_days",
       "p: same proven; q: all assumed"},
      {"duckdb", "select p.day, q.x from " P " p join " Q " q on month(q.day) = month(p.day)",
       "p: same proven; q: all assumed"},
      {"duckdb", "select p.day, q.x from " P " p left join " Q " q on q.day = p.day or q.k = p.k",
       "p: same proven; q: all assumed"},
      {"duckdb", "pivot " P " on k using sum(x)", "p: all assumed"},
  };
  for (const Shape& s : shapes) {
    std::string why;
    const std::string got = MappingsOf(s, why), sql = s.sql, expected = s.expected;
    CHECK_MESSAGE(got == expected, (sql + "\n    " + why));
  }
}

TEST_CASE("a chain of table expressions is followed to its end, however long it is") {
  for (const int n : {20, 400}) {
    std::string same = "with c0 as (select day, x from " P ")",
                whole = same + ", z as (select day, x from c0 limit 5)";
    std::string last = "z";
    for (int i = 1; i <= n; ++i) {
      same += fmt::format(", c{} as (select day, x from c{})", i, i - 1);
      whole += fmt::format(", c{} as (select day, x from {})", i, last);
      last = fmt::format("c{}", i);
    }
    same += fmt::format(" select day, x from c{}", n);
    whole += fmt::format(" select a.day, a.x from " Q " a, {} b where a.day = b.day", last);
    std::string why;
    const std::string known = MappingsOf({"duckdb", same.c_str(), ""}, why);
    CHECK_MESSAGE((known == "p: same proven" || known == "p: all assumed"), known);
    CHECK(MappingsOf({"duckdb", whole.c_str(), ""}, why).find("p: all assumed") != std::string::npos);
  }
}
