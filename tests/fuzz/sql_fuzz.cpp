// What is read from SQL, on statements put together at random from the words that matter to it: it must not
// crash or hang, and comments and blanks between words must change nothing.
//   sql_fuzz SECONDS [SEED]

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <iterator>
#include <random>

#include "ingest/dbt/sql.hpp"
#include "ingest/sql/bounds.hpp"
#include "ingest/sql/scan.hpp"

using namespace backreach;

namespace {

// Strings and Jinja that are not closed: a comment within them is none.
const char* const kOpens[] = {"{{", "}}", "{%", "%}", "'", "\""};

const char* const kWords[] = {"select",
                              "from",
                              "where",
                              "join",
                              "left join",
                              "cross join",
                              "on",
                              "and",
                              "or",
                              "not",
                              "in",
                              "exists",
                              "union all",
                              "group by",
                              "order by",
                              "having",
                              "qualify",
                              "case when",
                              "then",
                              "end",
                              "as",
                              "with",
                              "m as (",
                              "n as (",
                              "(",
                              "(",
                              ")",
                              ")",
                              ",",
                              ",",
                              ".",
                              "*",
                              "=",
                              ">",
                              ">=",
                              "<",
                              "<=",
                              "<>",
                              "-",
                              "+",
                              "::date",
                              ";",
                              "between",
                              "interval",
                              "day",
                              "'3 days'",
                              "'-2 month'",
                              "3",
                              "1.5",
                              "99999999999",
                              "ts",
                              "day",
                              "m",
                              "n",
                              "m.mx",
                              "mx",
                              "max(ts) as mx",
                              "max(",
                              "dateadd(day, -3, current_date)",
                              "dateadd(",
                              "dateadd(dd, -3, max(ts))",
                              "dateadd(month, datediff(month, 0, now()), 0)",
                              "timestampdiff(hour, ts, now())",
                              "at time zone 'utc'",
                              "make_interval(days => 3)",
                              "extract(day from",
                              "to_char(ts, 'YYYY-MM')",
                              "coalesce(",
                              "date('now', '-1 month')",
                              "convert(date, getdate())",
                              "case",
                              "when",
                              "'it\\'s'",
                              "'today'::date",
                              "*",
                              "/",
                              "||",
                              "date_sub(",
                              "date_trunc('month', ",
                              "datediff(day, ts, current_date)",
                              "current_date",
                              "current_timestamp",
                              "now()",
                              "cast(",
                              "last_day(",
                              "is null",
                              "'text'",
                              "\"quoted\"",
                              "`name`",
                              "{{ this }}",
                              "{{ this }}",
                              "{{ ref('a') }}",
                              "{{ var('n', 3) }}",
                              "{{ var('d') }}",
                              "'{{ run_started_at }}'",
                              "'{{ x }}'",
                              "{{ x }}",
                              "{% set x = this %}",
                              "{% set x = run_started_at - modules.datetime.timedelta(days=2) %}",
                              "{% set x %}",
                              "{% endset %}",
                              "{% if is_incremental() %}",
                              "{% if target.name == 'dev' %}",
                              "{% else %}",
                              "{% elif var('d') %}",
                              "{% endif %}",
                              "{{ own(this, 3) }}",
                              "{{ own(column='ts') }}",
                              "{{ foreign.call() }}",
                              kOpens[0],
                              kOpens[1],
                              kOpens[2],
                              kOpens[3],
                              kOpens[4],
                              kOpens[5],
                              "shop.public.t",
                              "select * from shop.public.t",
                              "copy into @stage/x from",
                              "(select max(ts) from {{ this }})",
                              "where ts > (select mx from m)",
                              "x as (select * from m)"};

std::string Text(const SqlTraits& t) {
  std::string out = fmt::format("{} {} {} {} {} {}", t.watermark, t.watermark_how, t.reads_itself,
                                t.bounded_aside, t.bound ? FormatRunBound(*t.bound) : "-", t.bound_how);
  for (const auto* list :
       {&t.variables, &t.environment, &t.instead_of_watermark, &t.instead_of_bound, &t.unknown_filters})
    for (const std::string& name : *list) out += " " + name;
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 10;
  std::mt19937_64 random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  const MacroBodies macros = {
      {"own",
       "{% macro own(column, days=var('n', 7)) %}{{ column }} >= current_date - {{ days }} and ts > (select "
       "max(ts) from {{ column }}) {{ own(column) }}{% endmacro %}"}};
  const std::vector<std::string> relation = {"shop", "public", "t"};
  const auto begun = std::chrono::steady_clock::now();
  std::size_t n = 0;
  for (; std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count() < seconds; ++n) {
    std::string plain, commented;
    bool open = false;
    const std::size_t length = 1 + random() % 60;
    for (std::size_t i = 0; i < length; ++i) {
      const char* word = kWords[random() % std::size(kWords)];
      for (const char* mark : kOpens) open = open || word == mark;
      open = open || std::string_view(word).find('\\') != std::string_view::npos;  // open in some dialects
      plain += std::string(word) + " ";
      commented +=
          std::string(word) + (random() % 2 ? " /* now() > 3 {{ this }} */ " : "\n-- where ts > 1\n");
    }
    static constexpr const char* kAdapters[] = {"",           "snowflake", "bigquery", "redshift", "postgres",
                                                "duckdb",     "spark",     "trino",    "mysql",    "oracle",
                                                "clickhouse", "sqlite",    "sqlserver"};
    const SqlDialect dialect = DialectOf(kAdapters[random() % std::size(kAdapters)]);
    const std::string found = Text(ReadSqlTraits(plain, macros, relation, dialect));
    ReadRunBounds(plain, macros, dialect);
    ReadPredicate(plain, dialect);
    FindExports(plain);
    SideEffects(plain);
    if (open) continue;
    const std::string again = Text(ReadSqlTraits(commented, macros, relation, dialect));
    if (found == again) continue;
    fmt::print("seed and number {}: comments change what is read of\n{}\n{}\n{}\n", n, plain, found, again);
    return 1;
  }
  fmt::print("{} statements\n", n);
  return 0;
}
