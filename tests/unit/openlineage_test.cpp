// OpenLineage's events: names, parts of datasets, runs that add up, and what is inferred from them.

#include <algorithm>
#include <random>

#include "graph/base/words.hpp"
#include "graph/join/builder.hpp"
#include "graph/names/address.hpp"
#include "ingest/openlineage/period.hpp"
#include "ingest/openlineage/windows.hpp"
#include "support.hpp"

using namespace backreach;
using namespace backreach::openlineage;

namespace {

std::string Set(const std::string& name, const std::string& more = "") {
  return R"({"namespace":"postgres://db:5432","name":")" + name + "\"" + more + "}";
}

// One event of a run, in the order of keys that producers like least.
std::string At(const std::string& time, const std::string& type, const std::string& run,
               const std::string& job, const std::string& in, const std::string& out,
               const std::string& facets = "") {
  return R"({"outputs":[)" + out + R"(],"inputs":[)" + in + R"(],"eventTime":")" + time +
         R"(","eventType":")" + type + R"(","job":{"namespace":"etl","name":")" + job +
         R"("},"run":{"runId":")" + run + R"(","facets":{)" + facets + "}}}";
}

SourceFacts Ingested(const std::string& text) {
  const Folder folder;
  Diagnostics diagnostics;
  auto facts = Named("openlineage").run({{folder.Write("e.json", text)}, {}}, diagnostics);
  REQUIRE_MESSAGE(facts.size() == 1, Format(diagnostics));
  return std::move(facts[0]);
}

std::string Said(const Facts& f) {
  std::string out;
  for (const DatasetFact& d : f.datasets) {
    out += d.name;
    if (!d.partitions.empty()) out += " by " + *d.partitions[0].grain;
    out += "\n";
  }
  for (const EdgeFact& e : f.edges)
    out += e.from + " -> " + e.to + " " + e.reads.value_or("?") + " " + e.first_seen.value_or("?") + " " +
           e.last_seen.value_or("?") + (e.failed_only ? " failed" : "") + "\n";
  return out;
}

}  // namespace

TEST_CASE("canonical names: scheme, host and bucket folded, tables as the platform stores them") {
  CHECK(CanonicalDataset("S3A://Bucket", "/Path/x/") == "s3://bucket/Path/x");
  CHECK(CanonicalDataset("postgres://DB:5432", "Shop.Public.Orders") ==
        "postgres://db:5432/shop.public.orders");
  CHECK(CanonicalDataset("postgresql://db:5432", "shop.public.\"Orders\"") ==
        "postgres://db:5432/shop.public.\"Orders\"");
  CHECK(CanonicalUri("postgres://db:5432/shop/public/orders") == "postgres://db:5432/shop.public.orders");
  CHECK(CanonicalDataset("snowflake://Org-Acct", "shop.public.orders") ==
        "snowflake://org-acct/SHOP.PUBLIC.ORDERS");
  CHECK(CanonicalDataset("bigquery", "Proj.ds.T") == "bigquery/Proj.ds.T");
  CHECK(CanonicalUri("bigquery://Proj/ds/T") == "bigquery/Proj.ds.T");
  CHECK(CanonicalDataset("file", "/mnt/a.csv") == "file/mnt/a.csv");
  CHECK(CanonicalUri("file:///mnt/a.csv") == "file/mnt/a.csv");
  CHECK(CanonicalDataset("file://host", "/mnt/a.csv") == "file://host/mnt/a.csv");
  CHECK(CanonicalDataset("duckdb://shop.duckdb", "shop.main.t") == "duckdb://shop.duckdb/shop.main.t");
  CHECK(CanonicalDataset("duckdb:///data/shop.duckdb", "shop.main.t") ==
        "duckdb:///data/shop.duckdb/shop.main.t");
  CHECK(CanonicalUri("duckdb://shop/shop/main/t") == "duckdb://shop/shop.main.t");
  CHECK(CanonicalDataset("kafka://k:9092", "clicks") == "kafka://k:9092/clicks");
  CHECK(CanonicalDataset("made-up", "x") == "made-up/x");
  CHECK(CanonicalUri("model.shop.orders") == "model.shop.orders");
  const auto table = ParseTableAddress("snowflake://acct/\"shop\".PUBLIC.orders");
  REQUIRE(table);
  CHECK(table->parts == std::vector<std::string>{"shop", "PUBLIC", "ORDERS"});
}

TEST_CASE("periods: keys of partitions, dates in paths, decorators and shards") {
  CHECK(ParsePeriod("2026-03-01")->cut == Cut::kDay);
  CHECK(ParsePeriod("2026-03-01T05")->to - ParsePeriod("2026-03-01T05")->from == kHour);
  CHECK(ParsePeriod("2026-W10")->from == ParsePeriod("2026-03-02")->from);
  CHECK(ParsePeriod("2026-Q1")->to == ParsePeriod("2026-04-01")->from);
  CHECK(ParsePeriod("20260301") == ParsePeriod("2026-03-01"));
  for (const char* none : {"", "2026", "2026-13-01", "2026-02-30", "part-0001", "99999999", "2026-03-01x"})
    CHECK_MESSAGE(!ParsePeriod(none), none);
  const auto hour = CutPath("raw/dt=2026-03-01/h=05/part.parquet");
  REQUIRE(hour);
  CHECK(hour->dataset == "raw");
  CHECK(hour->rest == "part.parquet");
  CHECK(hour->period == ParsePeriod("2026-03-01T05"));
  CHECK(CutPath("clean/2026/03/01")->period == ParsePeriod("2026-03-01"));
  CHECK_FALSE(CutPath("exports/revenue_2026-03.xlsx"));
  CHECK(CutTable("p.d.events$20260301")->sure);
  CHECK(CutTable("p.d.events_20260301")->table == "p.d.events");
  CHECK_FALSE(CutTable("p.d.events_20261301"));
}

TEST_CASE("offsets: in the unit of what is written, else in a finer one, else none") {
  const auto day = [](const char* a, const char* b) {
    return Period{Cut::kDay, ParsePeriod(a)->from, ParsePeriod(b)->to, false};
  };
  CHECK(OffsetOf(day("2026-03-01", "2026-03-07"), day("2026-03-07", "2026-03-07")) ==
        Offset{-6, 0, Cut::kDay});
  const Period hours{Cut::kHour, ParsePeriod("2026-03-02")->from, ParsePeriod("2026-03-03T02")->from, false};
  CHECK(OffsetOf(hours, day("2026-03-02", "2026-03-02")) == Offset{0, 2, Cut::kHour});
  Period month = *ParsePeriod("2026-03");
  CHECK(OffsetOf(day("2026-03-01", "2026-03-31"), month) == Offset{0, 0, Cut::kMonth});
  CHECK(OffsetOf(day("2026-02-26", "2026-03-31"), month) == Offset{-3, 0, Cut::kDay});
  Period moments{Cut::kMoment, month.from + 7, month.to, false};
  CHECK_FALSE(OffsetOf(moments, month));
}

TEST_CASE("the events of a run add up in any order, repeated, and over several files") {
  std::vector<std::string> events;
  for (int day = 1; day <= 5; ++day) {
    const std::string d = "2026-03-0" + std::to_string(day), run = "r" + std::to_string(day);
    const auto subset = [&](const char* side, const std::string& key) {
      return R"(,")" + std::string(side) + R"(putFacets":{"subset":{")" + side +
             R"(putCondition":{"type":"partition","partitions":[{"dimensions":{"d":")" + key + R"("}}]}}})";
    };
    events.push_back(At(d + "T01:00:00Z", "START", run, "j", Set("shop.public.a", subset("in", d)), ""));
    events.push_back(At(d + "T01:01:00Z", "RUNNING", run, "j", "", ""));
    events.push_back(At(d + "T01:02:00+00:00", day == 3 ? "FAIL" : "COMPLETE", run, "j", "",
                        Set("shop.public.b", subset("out", d))));
  }
  const std::string whole = Said(Ingested(Join(events, "\n")).facts);
  CHECK(whole ==
        "postgres://db:5432/shop.public.a by day\npostgres://db:5432/shop.public.b by day\n"
        "postgres://db:5432/shop.public.a -> postgres://db:5432/shop.public.b \"same\" 2026-03-01T01:00:00Z "
        "2026-03-05T01:02:00Z\n");
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::string> mixed = events;
    mixed.push_back(events[static_cast<std::size_t>(round) % events.size()]);
    std::shuffle(mixed.begin(), mixed.end(), random);
    CHECK(Said(Ingested(Join(mixed, "\n")).facts) == whole);
    const auto half = mixed.begin() + static_cast<std::ptrdiff_t>(mixed.size() / 2);
    SourceFacts first = Ingested("[" + Join({mixed.begin(), half}, ",\n") + "]"),
                second = Ingested("{\"events\": [" + Join({half, mixed.end()}, ",") + "]}");
    Named("openlineage").merge(first.facts, second.facts);
    CHECK(Said(second.facts) == whole);
    CHECK(second.facts.observed == Ingested(Join(events, "\n")).facts.observed);
  }
}

TEST_CASE("runs that failed are kept as such, and one that never ended is none of them") {
  const std::string a = Set("shop.public.a"), b = Set("shop.public.b"), c = Set("shop.public.c");
  const SourceFacts s = Ingested(At("2026-03-01T01:00:00Z", "START", "1", "f", a, b) + "\n" +
                                 At("2026-03-01T01:01:00Z", "ABORT", "1", "f", "", "") + "\n" +
                                 At("2026-03-01T01:00:00Z", "START", "2", "s", a, c));
  REQUIRE(s.facts.edges.size() == 2);
  CHECK(s.facts.edges[0].failed_only);
  CHECK_FALSE(s.facts.edges[1].failed_only);
}

TEST_CASE("partitions are one dataset once two were seen; files side by side stay apart") {
  const auto file = [](const std::string& name) {
    return R"({"namespace":"s3://Lake","name":")" + name + "\"}";
  };
  const auto names = [&](const std::vector<std::string>& paths) {
    std::vector<std::string> events;
    for (std::size_t i = 0; i < paths.size(); ++i)
      events.push_back(At("2026-03-01T01:00:00Z", "COMPLETE", std::to_string(i), "j", "", file(paths[i])));
    std::vector<std::string> out;
    for (const DatasetFact& d : Ingested(Join(events, "\n")).facts.datasets) out.push_back(d.name);
    return Join(out, " ");
  };
  CHECK(names({"raw/dt=2026-03-01/x.csv"}) == "s3://lake/raw/dt=2026-03-01/x.csv");
  CHECK(names({"raw/dt=2026-03-01/x.csv", "raw/dt=2026-03-02/x.csv"}) == "s3://lake/raw");
  CHECK(names({"raw/2026/03/01/x.csv", "raw/2026/03/02/x.csv", "raw/2026/03/01/y.csv",
               "raw/2026/03/02/y.csv"}) == "s3://lake/raw/x.csv s3://lake/raw/y.csv");
  CHECK(names({"a/x.csv", "a/y.csv"}) == "s3://lake/a/x.csv s3://lake/a/y.csv");
}

TEST_CASE("a symlink joins, and one that is said of two datasets joins neither") {
  const auto at = [](const std::string& bucket) {
    return R"({"namespace":"s3://)" + bucket +
           R"(","name":"t","facets":{"symlinks":{"identifiers":[{"namespace":"hive","name":"db.t","type":"TABLE"}]}}})";
  };
  const std::string hive = R"({"namespace":"hive","name":"db.t"})", x = Set("shop.public.x");
  const std::string one = At("2026-03-01T01:00:00Z", "COMPLETE", "1", "w", "", at("lake")) + "\n" +
                          At("2026-03-01T01:00:00Z", "COMPLETE", "2", "r", hive, x);
  const BuiltGraph joined = BuildGraph({Ingested(one)});
  REQUIRE(joined.graph.datasets.size() == 2);
  CHECK(joined.names.Find("hive/db.t").found == joined.names.Find("s3://lake/t").found);
  const BuiltGraph two =
      BuildGraph({Ingested(one + "\n" + At("2026-03-01T01:00:00Z", "COMPLETE", "3", "w2", "", at("lake2")))});
  CHECK(two.graph.datasets.size() == 4);
  CHECK(std::any_of(two.graph.unresolved.begin(), two.graph.unresolved.end(),
                    [](const Unresolved& u) { return u.fact.what == "two-paths"; }));
}

TEST_CASE("what is no event is said with its line, and nothing is taken") {
  const Folder folder;
  const auto complaint = [&](const std::string& text) {
    Diagnostics diagnostics;
    CHECK(Named("openlineage").run({{folder.Write("e.ndjson", text)}, {}}, diagnostics).empty());
    return Format(diagnostics);
  };
  const std::string good = At("2026-03-01T01:00:00Z", "COMPLETE", "1", "j", "", Set("a.b.c"));
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(complaint(good + "\n" + good.substr(0, 40) + "\n"), "e.ndjson:2"));
  CHECK(has(complaint("nonsense"), "expected an event"));
  CHECK(has(complaint(""), "holds no event"));
  CHECK(has(complaint("[" + good), "ends inside"));
}
