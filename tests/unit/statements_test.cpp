// What statements do, form by form: sources, targets, directions, and what only looks like a way out.

#include <doctest/doctest.h>

#include "graph/base/words.hpp"
#include "ingest/sql/statements.hpp"

namespace backreach {

namespace {

std::string Name(const SqlName& name) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < name.parts; ++i) parts.emplace_back(name.part[i]);
  return Join(parts, ".");
}

// `reads a, b`, `out a -> place`, `write t < a`, one after the other.
std::string Does(const std::string& sql, SqlDialect dialect = SqlDialect::kPostgres) {
  using Kind = SqlDeed::Kind;
  StatementReader reader({dialect, false});
  std::vector<std::string> out;
  for (const SqlDeed& deed : reader.Read(sql)) {
    std::vector<std::string> reads;
    for (const SqlName& name : deed.reads) reads.push_back(Name(name));
    const std::string from = Join(reads, ", ");
    if (deed.kind == Kind::kReads) out.push_back("reads " + from);
    if (deed.kind == Kind::kTakesOut && deed.possible) out.push_back("? may leave");
    if (deed.kind == Kind::kTakesOut && !deed.possible)
      out.push_back("out " + from + " -> " + deed.destination);
    if (deed.kind == Kind::kWrites)
      out.push_back(std::string(deed.temporary ? "temp " : "write ") + Name(deed.target) + " < " + from);
    if (deed.kind == Kind::kMakesView) out.push_back("view " + Name(deed.target) + " < " + from);
    if (deed.kind == Kind::kLoads) out.push_back("load");
    if (deed.kind == Kind::kNotUnderstood) out.push_back(deed.possible ? "? may leave" : "?");
    if (deed.kind == Kind::kCalls) out.push_back("call " + Name(deed.target));
    if (deed.kind == Kind::kSwaps) out.push_back("swap " + Name(deed.target) + " " + Name(deed.other));
    if (deed.kind == Kind::kFetches) out.push_back("fetch " + deed.destination + " -> " + deed.place);
    if (deed.kind == Kind::kDefines) out.push_back(deed.possible ? "defines a way out" : "defines");
  }
  return Join(out, "; ");
}

}  // namespace

TEST_CASE("statements: sources through table expressions, brackets and functions") {
  CHECK(Does("select a, extract(day from ts) from s.t where a is distinct from b") == "reads s.t");
  CHECK(Does("with orders as (select * from orders), c as (select * from orders) select * from c") ==
        "reads orders");
  CHECK(Does("with recursive t as (select 1 from base union all select n from t) select * from t") ==
        "reads base");
  CHECK(Does("select * from (a join b on a.x = b.x), c, lateral (select * from d) e") == "reads a, b, c, d");
  CHECK(Does("select * from unnest(x) u, \"Finance\".\"Ledger 2026\"") == "reads Finance.Ledger 2026");
  CHECK(Does("select (select max(h) from u) from t where exists (select 1 from v)") == "reads u, t, v");
  CHECK(Does("update a.b set x = c.y from c where a.b.id in (select id from d)") == "write a.b < c, d");
  CHECK(Does("merge into t using (select * from s) q on q.id = t.id when matched then update set a = q.a") ==
        "write t < s");
  CHECK(Does("delete from t using u where u.id = t.id") == "write t < u");
  CHECK(Does("/* job; nightly */ update a set x = 1; delete from b;") == "write a < ; write b < ");
  CHECK(Does("with x as (select * from s) insert into t select * from x") == "write t < s");
  CHECK(Does("from orders select d", SqlDialect::kDuckDb) == "reads orders");
  CHECK(Does("select * from `p.d.t`, `p`.`d.x`.`t`", SqlDialect::kBigQuery) == "reads p.d.t, p.d.x.t");
  CHECK(Does("select * from dw-prod.core.users", SqlDialect::kBigQuery) == "reads dw-prod.core.users");
}

TEST_CASE("statements: every way out, and its direction") {
  CHECK(Does("copy t to stdout csv") == "out t -> STDOUT");
  CHECK(Does("COPY CORE.SESSIONS(D,USER_ID)TO STDOUT") == "out CORE.SESSIONS -> STDOUT");
  CHECK(Does("copy (from orders select d) to 'x.json'", SqlDialect::kDuckDb) == "out orders -> x.json");
  CHECK(Does("copy(select*from core.rates)to stdout") == "out core.rates -> STDOUT");
  CHECK(Does("copy (table v) to program 'gzip > /x.gz'") == "out v -> gzip > /x.gz");
  CHECK(Does("copy (delete from q where id = 1 returning *) to stdout") == "out q -> STDOUT; write q < ");
  CHECK(Does("copy t from stdin -- not to stdout") == "load");
  CHECK(Does("copy into @s/x/ from (with a as (select * from b) select * from a)", SqlDialect::kSnowflake) ==
        "out b -> @s/x/");
  CHECK(Does("copy into 's3://p/' from db.t", SqlDialect::kSnowflake) == "out db.t -> s3://p/");
  CHECK(Does("copy into t from @s/x/", SqlDialect::kSnowflake) == "load");
  CHECK(Does("unload ('select * from s.t where d = ''x''') to 's3://b/k_' iam_role default",
             SqlDialect::kRedshift) == "out s.t -> s3://b/k_");
  CHECK(Does("unload ($$ select * from u $$) to 's3://b/'", SqlDialect::kRedshift) == "out u -> s3://b/");
  CHECK(Does("export data options(uri=r'gs://b/*.csv') as\n-- select * from secret\nselect * from d.t",
             SqlDialect::kBigQuery) == "out d.t -> gs://b/*.csv");
  CHECK(Does("insert overwrite directory using csv options (path 'abfss://d/u') select * from a cross join b",
             SqlDialect::kSpark) == "out a, b -> abfss://d/u");
  CHECK(Does("insert into delta.`s3://x/y` select * from a", SqlDialect::kSpark) == "out a -> s3://x/y");
  CHECK(Does("select * from t into outfile '/tmp/x'", SqlDialect::kMySql) == "out t -> /tmp/x");
  CHECK(Does("insert into function s3('https://b/x.csv', 'CSV') select * from t", SqlDialect::kClickHouse) ==
        "out t -> https://b/x.csv");
  CHECK(Does("create external table s.x stored as parquet location 's3://e/x/' as select * from r",
             SqlDialect::kRedshift) == "out r -> s3://e/x/");
  CHECK(
      Does("select aws_s3.query_export_to_s3('select * from t', aws_commons.create_s3_uri('b', 'k', 'r'))") ==
      "out t -> s3://b/k");
  CHECK(Does("execute immediate 'copy into @out from t'", SqlDialect::kSnowflake) == "out t -> @out");
  CHECK(Does("do $$ begin copy t to '/x'; end $$") == "out t -> /x");
  CHECK(Does("begin export data options(uri='gs://x/*') as select * from t; end", SqlDialect::kBigQuery) ==
        "out t -> gs://x/*");
  CHECK(Does("get @s/2026/ file:///home/a/", SqlDialect::kSnowflake) == "fetch @s/2026/ -> file:///home/a/");
}

TEST_CASE("statements: what only looks like a way out") {
  CHECK(Does("select 'copy t to ''/x''' as example") == "reads ");
  CHECK(Does("select $q$copy t to program 'x'$q$") == "reads ");
  CHECK(Does("/* copy t to '/x' /* nested */ still */ select 1") == "reads ");
  CHECK(Does("select E'it\\'s copy t to stdout'") == "reads ");
  CHECK(Does("select '{{1,2},{3,4}}', 'it''s' from t") == "reads t");
  CHECK(Does("select export.data from core.exports as export", SqlDialect::kBigQuery) ==
        "reads core.exports");
  CHECK(Does("select r'\\'EXPORT DATA\\'', '''multi\nEXPORT DATA options(uri='gs://q/*') AS''' from t",
             SqlDialect::kBigQuery) == "reads t");
  CHECK(Does("create task n as copy into @s from t", SqlDialect::kSnowflake) == "defines a way out");
  CHECK(Does("create function f() returns void as $f$ begin copy t to '/x'; end $f$") == "defines a way out");
  CHECK(Does("comment on table t is 'copy into @x from t'") == "");
  CHECK(Does("create table x as select * from t with no data") == "");
  CHECK(Does("create table x (like t including all)") == "");
  CHECK(Does("explain select * from t") == "");
  CHECK(Does("create or replace table a copy grants as select * from b", SqlDialect::kSnowflake) ==
        "write a < b");
}

TEST_CASE("statements: tables that are made, kept for a session, or moved") {
  CHECK(Does("create temp table x as select * from t") == "temp x < t");
  CHECK(Does("select * into #t2 from u", SqlDialect::kRedshift) == "temp #t2 < u");
  CHECK(Does("select a into ann.mailing from t where b") == "write ann.mailing < t");
  CHECK(Does("create table b as table a") == "write b < a");
  CHECK(Does("create snapshot table `p.d.s` clone `p.d.t`", SqlDialect::kBigQuery) == "write p.d.s < p.d.t");
  CHECK(Does("alter table orders swap with orders_wrk", SqlDialect::kSnowflake) == "swap orders orders_wrk");
  CHECK(Does("create or replace view v as select * from t with no schema binding", SqlDialect::kRedshift) ==
        "view v < t");
}

TEST_CASE("statements: what is not understood is said") {
  CHECK(Does("execute immediate 'insert overwrite directory ''s3://d/'' select * from ' || tab",
             SqlDialect::kSpark) == "? may leave");
  CHECK(Does("unload ('select * from ?') to ? iam_role ?", SqlDialect::kRedshift).find("may leave") !=
        std::string::npos);
  CHECK(Does("frobnicate t to 's3://x'") == "? may leave");
  CHECK(Does("frobnicate t") == "?");
  CHECK(Does("call ops.dump()") == "call ops.dump");
  StatementReader reader({SqlDialect::kPostgres, false});
  reader.Read("copy (select a, b");
  CHECK(reader.cut());
  reader.Read("select a from t where x = 'abc");
  CHECK(reader.cut());
  reader.Read("select a from t");
  CHECK(!reader.cut());
}

}  // namespace backreach
