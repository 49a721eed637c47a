// The checks that a step brings along, in the SQL of its platform.

#include "analysis/steps/checks.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace backreach;

TEST_CASE("checks are written in the platform's SQL, over the rebuilt period") {
  LineageGraph g;
  Dataset d;
  d.name = "model.p.orders";
  d.short_names = {"orders"};
  d.methods["dbt"] = "p.orders";
  d.relation = {"wh", "s", "orders"};
  d.key = {"order_id", "order"};
  d.column = "day";
  d.grain = Grain{Grain::Unit::kDay, 1};
  d.calendar = Calendar(*d.grain, Zone::Find("America/New_York"));
  d.layout = std::make_shared<Layout>(d.calendar);
  Step step;
  step.dataset = DatasetId{0};
  step.calendar = &d.layout->blocks()[0].calendar;
  step.spans = d.layout->AlignOut(
      SpanSet(Span{*ParseInstant("2026-03-01T05:00Z", true), *ParseInstant("2026-03-03T05:00Z", true)}));
  const auto checks = [&](const char* platform) {
    Step s = step;
    d.platform = platform;
    g.datasets = {d};
    FillChecks(g, s);
    return s;
  };
  CHECK(checks("").after_run.empty());
  CHECK(checks("teradata").after_run.empty());
  const Step postgres = checks("postgres");
  REQUIRE(postgres.before_publish.size() == 2);
  REQUIRE(postgres.after_run.size() == 3);
  CHECK(
      postgres.after_run[0].text ==
      "select order_id, \"order\", count(*) as copies\nfrom \"wh\".\"s\".\"orders\"\n"
      "where day >= '2026-03-01' and day < '2026-03-03'\ngroup by order_id, \"order\"\nhaving count(*) > 1");
  CHECK(postgres.before_publish[0].text.find("\"orders__staged\"") != std::string::npos);
  CHECK(postgres.after_run[2].kind == "dbt-test");
  CHECK(postgres.after_run[2].text.find("from {{ ref('orders') }}") != std::string::npos);
  CHECK(checks("snowflake")
            .after_run[0]
            .text.find("order_id, \"ORDER\", count(*) as copies\nfrom wh.s.orders\n") != std::string::npos);
  CHECK(checks("bigquery").after_run[1].text.find("date_trunc(date(day), day)") != std::string::npos);
  CHECK(checks("trino").after_run[0].text.find("day >= date '2026-03-01'") != std::string::npos);
  CHECK(checks("clickhouse").after_run[1].text.find("toDate(day) as `partition`") != std::string::npos);
  CHECK(checks("sqlserver").after_run[1].text.find("cast(datetrunc(day, day) as date) as [partition]") !=
        std::string::npos);
  // A column of instants is compared with instants: the day of New York begins at 05:00 UTC.
  d.measure = MeasureFact();
  d.measure->column_types["day"] = "timestamp with time zone";
  CHECK(checks("postgres").after_run[0].text.find("day >= '2026-03-01 05:00:00+00:00'") != std::string::npos);
  // What proves the key already is not written again as a test.
  d.checks.push_back({"test.p.u", "model.p.orders", "unique", {"order_id"}, true, true, true, {}, {}});
  CHECK(checks("postgres").after_run.size() == 2);
}

TEST_CASE("a check asks for the stretches that were rebuilt, or says that it asks for more") {
  LineageGraph g;
  Dataset d;
  d.name = "model.p.orders";
  d.platform = "postgres";
  d.relation = {"wh", "s", "orders"};
  d.key = {"id"};
  d.column = "day";
  d.grain = Grain{Grain::Unit::kDay, 1};
  d.calendar = Calendar(*d.grain, Zone::Find("UTC"));
  d.layout = std::make_shared<Layout>(d.calendar);
  g.datasets = {d};
  const auto text = [&](int stretches) {
    Step step;
    step.dataset = DatasetId{0};
    step.calendar = &g.datasets[0].layout->blocks()[0].calendar;
    for (int i = 0; i < stretches; ++i) step.spans.Add(SpanSet(Span{2 * i * kDay, (2 * i + 1) * kDay}));
    FillChecks(g, step);
    return step.after_run.at(0).text;
  };
  const std::string each = text(100);
  CHECK(std::count(each.begin(), each.end(), '>') == 101);  // and copies > 1
  CHECK(each.find("/*") == std::string::npos);
  const std::string cut = text(1000);
  CHECK(cut.find("/* 1000 stretches were rebuilt") != std::string::npos);
  CHECK(cut.size() < 1000);
}
