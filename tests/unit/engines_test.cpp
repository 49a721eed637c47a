// How steps are run: the ways that analysis finds, the lines that engines make of them, and what feeds put
// together.

#include <doctest/doctest.h>

#include "analysis/steps/methods.hpp"
#include "graph/base/error.hpp"
#include "graph/base/shell.hpp"
#include "graph/base/sql_text.hpp"
#include "graph/base/words.hpp"
#include "ingest/dbt/refresh.hpp"
#include "ingest/dbt/selectors.hpp"
#include "render/commands/lines.hpp"
#include "render/engines/feed.hpp"
#include "render/quote.hpp"
#include "support.hpp"

using namespace backreach;

namespace {

// One dataset by `grain`, and a step over the cells from `from` to `to` (excluded), as instants.
struct Case {
  LineageGraph g;
  Step step;
  Case(Grain grain, const char* from, const char* to, const char* zone = "UTC") {
    Dataset d;
    d.name = "model.p.m";
    d.methods["dbt"] = "p.m";
    d.writes = Writes::kReplace;
    d.grain = grain;
    d.calendar = Calendar(grain, Zone::Find(zone));
    d.layout = std::make_shared<Layout>(d.calendar);
    g.datasets = {d};
    step.dataset = DatasetId{0};
    step.calendar = &g.datasets[0].layout->blocks()[0].calendar;
    step.spans = SpanSet(Span{*ParseInstant(from, true), *ParseInstant(to, true)});
    step.partitions = step.calendar->Count(step.spans.front());
  }
  Dataset& d() { return g.datasets[0]; }
  void Shell(const char* line) {
    d().methods.clear();
    Job job;
    job.name = "j";
    job.methods["shell"] = line;
    g.jobs = {job};
    d().jobs = {JobId{0}};
  }
  std::vector<std::string> Lines(std::size_t method = 0) {
    step.methods.clear();
    FillMethods(g, *ParseInstant("2026-04-20T09:00Z", true), false, false, step);
    std::vector<std::string> out;
    if (method < step.methods.size())
      for (const Line& line : LinesOf(step, step.methods[method])) out.push_back(line.text);
    return out;
  }
};

const Grain kDays{Grain::Unit::kDay, 1}, kMonths{Grain::Unit::kMonth, 1}, kHours{Grain::Unit::kHour, 1};
using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("the last day of a period is no key of a month") {
  Case c(kMonths, "2026-02-01T00:00Z", "2026-04-01T00:00Z");
  c.d().vars = {{"from", "a"}, {"to", "b"}, {"to_is", "inclusive"}};
  CHECK(c.Lines() == Texts{R"(dbt run --select p.m --vars '{"a": "2026-02-01", "b": "2026-03-31"}')"});
  c.d().vars["to_is"] = "exclusive";
  CHECK(c.Lines() == Texts{R"(dbt run --select p.m --vars '{"a": "2026-02-01", "b": "2026-04-01"}')"});
  Case h(kHours, "2026-03-01T05:00Z", "2026-03-01T08:00Z");
  h.d().vars = {{"from", "a"}, {"to", "b"}, {"to_is", "inclusive"}};
  CHECK(h.Lines() ==
        Texts{R"(dbt run --select p.m --vars '{"a": "2026-03-01T05:00", "b": "2026-03-01T07:00"}')"});
}

TEST_CASE("one variable is a run a cell, and cells that must be in order are too") {
  Case c(kDays, "2026-03-01T00:00Z", "2026-03-04T00:00Z");
  c.d().vars = {{"from", "day"}};
  CHECK(c.Lines() == Texts{R"(dbt run --select p.m --vars '{"day": "2026-03-01"}')",
                           R"(dbt run --select p.m --vars '{"day": "2026-03-02"}')",
                           R"(dbt run --select p.m --vars '{"day": "2026-03-03"}')"});
  CHECK(!WiderThanVariable(c.d(), c.step));
  c.d().vars["to"] = "end";
  CHECK(c.Lines().size() == 1);
  c.step.sequential = true;
  CHECK(c.Lines().size() == 3);
  Case m(kMonths, "2026-02-01T00:00Z", "2026-04-01T00:00Z");
  m.d().vars = {{"from", "day"}};
  CHECK(WiderThanVariable(m.d(), m.step));
}

TEST_CASE("batches in order take one thread, and stretches stay apart") {
  Case c(kDays, "2026-03-01T00:00Z", "2026-03-04T00:00Z");
  c.d().methods["dbt_batches"] = "day";
  c.step.spans.Add(
      SpanSet(Span{*ParseInstant("2026-03-10T00:00Z", true), *ParseInstant("2026-03-11T00:00Z", true)}));
  CHECK(c.Lines() == Texts{"dbt run --select p.m --event-time-start 2026-03-01 --event-time-end 2026-03-04",
                           "dbt run --select p.m --event-time-start 2026-03-10 --event-time-end 2026-03-11"});
  c.step.sequential = true;
  CHECK(EndsWith(c.Lines()[0], "--threads 1"));
}

TEST_CASE("a whole step of batches keeps the old ones, from begin on it does not") {
  Case c(kDays, "2026-03-01T00:00Z", "2026-03-04T00:00Z");
  c.d().methods["dbt_batches"] = "week";
  c.d().methods["dbt_begin"] = "2026-01-01";
  c.d().layout = nullptr, c.d().grain.reset();
  c.step.whole = true, c.step.spans = {}, c.step.calendar = nullptr;
  CHECK(c.Lines() == Texts{"dbt run --select p.m"});
  CHECK(c.step.effect == Effect::kKeptOld);
  REQUIRE(c.step.methods.size() == 3);
  CHECK(c.Lines(1) ==
        Texts{"dbt run --select p.m --event-time-start 2026-01-01 --event-time-end 2026-04-21"});
  CHECK(c.step.methods[1].effect == Effect::kReplaced);
  CHECK(c.Lines(2) == Texts{"dbt run --full-refresh --select p.m"});
  c.d().full_refresh_off = true;  // dbt ignores the flag there
  c.Lines();
  CHECK(c.step.methods.size() == 2);
}

TEST_CASE("the registry's placeholders are the period; a line without any has none") {
  Case c(kDays, "2026-03-01T05:00Z", "2026-03-03T05:00Z", "America/New_York");
  c.Shell("cd a && ./r {from} {to} ${from} {start} {end} {other}");
  CHECK(c.Lines() == Texts{"cd a && ./r 2026-03-01 2026-03-02 ${from} 2026-03-01T05:00:00Z "
                           "2026-03-03T05:00:00Z {other}"});
  CHECK(c.step.effect == Effect::kReplaced);
  c.Shell("./r '{from}' \"{to}\" {key}");
  c.d().key_format = "a'b \"%d\"";
  CHECK(c.Lines()[0] == R"(./r 'a'\''b "01"' "a'b \"01\"" 'a'\''b "01"')");
  c.d().key_format = "";
  c.Shell("./r {key}");
  CHECK(c.Lines() == Texts{"./r 2026-03-01", "./r 2026-03-02"});
  c.d().key_format = "day %d of %m/%Y";
  CHECK(c.Lines()[1] == "./r 'day 02 of 03/2026'");
  c.d().key_format = "";
  c.g.jobs[0].run_grain = kMonths;  // one run writes the month
  CHECK(c.Lines() == Texts{"./r 2026-03"});
  c.Shell("./r ${from}");
  CHECK(c.Lines() == Texts{"./r ${from}"});
  CHECK(c.step.effect == Effect::kUnknown);
  c.g.jobs[0].schedule = ScheduleFact();
  c.g.jobs[0].schedule->rewrites = "latest";
  c.Lines();
  CHECK(c.step.effect == Effect::kKeptOld);
  c.g.jobs[0].schedule->rewrites = "90d";
  c.Lines();
  CHECK(c.step.effect == Effect::kReplaced);
  // A beginning that nobody knows is no period.
  c.Shell("./r {from}");
  c.step.spans = SpanSet(Span{kMinInstant, *ParseInstant("2026-03-03T05:00Z", true)});
  CHECK(c.Lines().empty());
}

TEST_CASE("a stored view is refreshed by its platform's own statement") {
  const auto lines = [](const char* platform, const char* kind, const char* relation = "") {
    Texts out;
    for (const Line& line : RefreshLines({kind, platform, relation, {"d", "s", "it's"}, ""}))
      out.push_back(line.text);
    return out;
  };
  CHECK(lines("snowflake", "dynamic-table", "D.S.T") == Texts{"ALTER DYNAMIC TABLE D.S.T REFRESH"});
  CHECK(lines("snowflake", "dynamic-table", "D.S.T; drop table x") ==
        Texts{"ALTER DYNAMIC TABLE d.s.\"it's\" REFRESH"});
  CHECK(lines("snowflake", "dynamic-table", "D.\"a; \"\"b\".T") ==
        Texts{"ALTER DYNAMIC TABLE D.\"a; \"\"b\".T REFRESH"});
  CHECK(lines("snowflake", "dynamic-table") == Texts{"ALTER DYNAMIC TABLE d.s.\"it's\" REFRESH"});
  CHECK(lines("postgres", "materialized-view") == Texts{"REFRESH MATERIALIZED VIEW \"d\".\"s\".\"it's\""});
  CHECK(lines("bigquery", "materialized-view") == Texts{"CALL BQ.REFRESH_MATERIALIZED_VIEW('d.s.it\\'s')"});
  CHECK(lines("databricks", "streaming-table") == Texts{"REFRESH STREAMING TABLE `d`.`s`.`it's` FULL"});
  CHECK(lines("clickhouse", "materialized-view") ==
        Texts{"SYSTEM REFRESH VIEW `s`.`it's_mv`", "SYSTEM WAIT VIEW `s`.`it's_mv`"});
  const auto by = [](const char* adapter, const char* what, bool lag = false, bool scheduler_off = false) {
    DbtWriteConfig config;
    config.adapter = adapter;
    config.materialized = what;
    config.target_lag = lag;
    config.scheduler_off = scheduler_off;
    DatasetFact fact;
    NoteRefresh(config, ResolveDbtWrite(config), "", fact);
    return fact.methods["refreshed_by"] + (fact.methods.count("dbt_refreshes") ? "+dbt" : "");
  };
  CHECK(by("snowflake", "dynamic_table", true) == "itself");
  CHECK(by("snowflake", "dynamic_table", true, true) == "told+dbt");
  CHECK(by("snowflake", "dynamic_table") == "told+dbt");
  CHECK(by("postgres", "materialized_view") == "told");
  CHECK(by("redshift", "materialized_view") == "told");
  CHECK(by("bigquery", "materialized_view") == "itself");
  CHECK(by("databricks", "materialized_view") == "told");
  CHECK(by("clickhouse", "materialized_view") == "trigger");
  CHECK(by("postgres", "table") == "");
}

TEST_CASE("a selector takes one node") {
  std::vector<std::string> names = {"shop.orders", "shop.orders.lines", "shop.a b.x",
                                    "shop.items",  "other.shop.items",  "shop.pay"};
  std::vector<DbtSelectable> nodes;
  for (std::string& name : names) nodes.push_back({&name, Split(name, '.')[0]});
  MakeSelectorsExact(nodes);
  CHECK(names == Texts{"shop.order[s]", "shop.orders.lines", "shop.a[!!-~]b.x", "shop.items,package:shop",
                       "other.shop.items", "shop.pay"});
}

TEST_CASE("what dbt's selectors read as theirs is masked, or left to a person") {
  std::vector<std::string> names = {"p.*",         "p.a,b",         "p.+x",     "-p.x",
                                    "p.tag:x",     "p.a[b]",        "p.my mod", "p.my\tmod",
                                    "p.x\xC3\xA9", "p.x\xC3\xA9.y", "p.a_b"};
  std::vector<DbtSelectable> nodes;
  for (std::string& name : names) nodes.push_back({&name, "p"});
  MakeSelectorsExact(nodes);
  CHECK(names == Texts{"p.[*]", "p.a[!!-+--~]b", "p.[+]x", "[-]p.x", "p.tag[:]x", "p.a[[]b[]]", "", "",
                       "p.x[\xC3\xA9]", "p.x\xC3\xA9.y", "p.a_b"});
}

TEST_CASE("a value is put where a line of shell is understood, or nowhere") {
  const auto filled = [](const char* line) {
    return ShellFilled(line, {{"{v}", "a b'$(c)"}}).value_or("none");
  };
  CHECK(filled("x {v} ${v}") == R"(x 'a b'\''$(c)' ${v})");
  CHECK(filled("x \"{v}\" '{v}'") == R"x(x "a b'\$(c)" 'a b'\''$(c)')x");
  for (const char* line :
       {"x \"$(y {v})\"", "x \"$(y \"{v}\")\"", "x `y {v}`", "x # {v}", "x <<E\n{v}\nE", "x $'{v}'",
        "x $'\\'{v}'", "x ${y:-{v}}", "x $(( {v} ))", "x \\{v}", "x $$'\\' {v} '", "x \"${y}\"{v}"})
    CHECK(filled(line) == "none");
  for (const char* line :
       {"x $(y {v})", "x <<< {v}", "a#b {v}", "x # '\n{v}", "x \"\\\"\" {v}", "x $'\\'' {v}"})
    CHECK(filled(line) != "none");
  CHECK(ShellFilled("x <<E\n{v}\nE", {{"{v}", "2026-03-01"}}) == "x <<E\n2026-03-01\nE");
}

TEST_CASE("words of a line are those that were quoted, and of other lines none") {
  for (const Texts& words : {Texts{"a", "b c", "", "it's", "\n", "$x", "\xFF\\'"}, Texts{"airflow", "-x"}})
    CHECK(ShellWords(ShellLine(words)) == words);
  for (const char* line : {"a && b", "a $x", "a 'b", "a  b", "", "a;b", "a $(b)", "a\nb", "a > b", "a \"b\""})
    CHECK(!ShellWords(line));
}

TEST_CASE("texts are quoted as their language wants it") {
  CHECK(ShellWord("a b'c") == R"('a b'\''c')");
  CHECK(ShellQuoted("a") == "'a'");
  CHECK(PythonText("a\"\\\n") == R"("a\"\\\n")");
  CHECK(JsonText("a\"\n") == R"("a\"\u000a")");
  CHECK(SqlName("snowflake", {"a", "b c"}) == "a.\"b c\"");
  CHECK(SqlName("bigquery", {"a`", "b"}) == "`a\\``.`b`");
  CHECK(AirflowBash("a{{b}} {c} {% d") == "a{{ '{' }}{b}} {c} {{ '{' }}% d ");
  CHECK(AirflowBash("{{{%\r") == "{{ '{' }}{{ '{' }}{{ '{' }}%{{ '\\r' }} ");
  CHECK(ShellWord("a\nb'\\") == R"($'a\x0Ab\'\\')");
  CHECK(ShellWord("a\xE2\x80\xAE\xFFz") == R"($'a\xE2\x80\xAE\xFFz')");
  CHECK(ShellWord("=ls") == "'=ls'");
  CHECK(SqlName("clickhouse", {"a\\`"}) == "`a\\\\\\``");
  CHECK(SqlString("snowflake", "\\'") ==
        "'\\\\"
        "\'\'\'");
  CHECK(SqlString("postgres", "\\'") ==
        "'\\"
        "\'\'\'");
  CHECK(SqlString("bigquery", "\\'") ==
        "'\\\\"
        "\\\'\'");
}

namespace {

std::string PlanOf(const std::string& steps, const std::string& hazards = "[]") {
  return R"({"format": "backreach.plan/1", "id": "0123456789abcdef", "summary": "s", "request": {"now": "2026-04-20T09:00:00Z"}, "steps": )" +
         steps + R"(, "afterwards": [], "hazards": )" + hazards + "}";
}

std::string StepOf(int id, int wave, const std::string& after, const std::string& method) {
  return R"({"id": )" + std::to_string(id) + R"(, "wave": )" + std::to_string(wave) + R"(, "after": )" +
         after + R"(, "dataset": "d)" + std::to_string(id) +
         R"(", "action": "rebuild", "whole": true, "sequential": false, "interleaved": [], "run": null, "spans": [], "methods": [)" +
         method + R"(], "checks": {"before_publish": [], "after": []}})";
}

std::string DbtOf(const std::string& name, const std::string& effect = "replaced") {
  return R"({"engine": "dbt", "command": "dbt run --select )" + name +
         R"(", "commands": ["dbt run --select )" + name + R"("], "effect": ")" + effect +
         R"(", "argv": [["dbt", "run", "--select", ")" + name + R"("]]})";
}

const Feed& FeedTo(const std::string& name) {
  for (const Feed& feed : Feeds())
    if (name == feed.name) return feed;
  return Feeds()[0];
}

std::string Fed(const std::string& to, const std::string& plan, FeedOptions options = {}) {
  return WriteFeed(FeedTo(to), plan, "p.json", options).files.begin()->second;
}

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string Fault(const std::string& plan) {
  try {
    ReadFeedPlan(plan, "p.json");
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a plan that does not hold to its form is refused with its place") {
  const std::string good = StepOf(1, 0, "[]", DbtOf("p.a"));
  CHECK(Fault(PlanOf("[" + good + "]")) == "");
  CHECK(Has(Fault(PlanOf("null")), "/steps: must be a list, and is null"));
  CHECK(Has(Fault(PlanOf("[null]")), "/steps/0"));
  CHECK(Has(Fault(PlanOf("[" + good + "," + good + "]")), "/steps/1/id: step 1 stands twice"));
  CHECK(Has(Fault(PlanOf("[" + StepOf(1, 1, "[7]", DbtOf("p.a")) + "]")),
            "/steps/0/after: waits for step 7, which is not in the plan"));
  CHECK(Has(Fault(PlanOf("[" + StepOf(1, 0, "[1]", DbtOf("p.a")) + "]")), "no earlier wave"));
  CHECK(Has(
      Fault(PlanOf(
          "[]", R"([{"code": "c", "dataset": null, "message": "m", "severity": "odd", "accepted": false}])")),
      "/hazards/0/severity: 'odd' is none of note, warning, blocking"));
  CHECK(Has(
      Fault(PlanOf("[" + StepOf(1, 0, "[]", R"({"engine": "dbt", "command": "x", "effect": null})") + "]")),
      "/steps/0/methods/0/commands: is missing"));
  CHECK(Has(Fault("{}"), "not a plan"));
}

TEST_CASE("waits for steps in a row are read as those steps") {
  const auto plan = [](const std::string& after) {
    std::string steps;
    for (int i = 1; i <= 3; ++i) steps += StepOf(i, 0, "[]", DbtOf("p.m" + std::to_string(i))) + ",";
    return PlanOf("[" + steps + StepOf(4, 1, after, DbtOf("p.m4")) + "]");
  };
  CHECK(ReadFeedPlan(plan("[[1, 3]]"), "p.json").steps.back().after == std::vector<int>{1, 2, 3});
  CHECK(ReadFeedPlan(plan("[1, [2, 3]]"), "p.json").steps.back().after == std::vector<int>{1, 2, 3});
  CHECK(Has(Fault(plan("[[3, 1]]")), "/steps/3/after/0: its last id must be behind its first"));
  CHECK(Has(Fault(plan("[[1]]")), "/steps/3/after/0: must be an id"));
  CHECK(Has(Fault(plan("[[1, 4]]")), "no earlier wave"));
}

TEST_CASE("models of one wave and one window are one call of dbt, tested afterwards") {
  const std::string plan =
      PlanOf("[" + StepOf(1, 0, "[]", DbtOf("p.a")) + "," + StepOf(2, 1, "[1]", DbtOf("p.b")) + "," +
             StepOf(3, 1, "[1]", DbtOf("p.c")) + "," + StepOf(4, 1, "[]", DbtOf("p.d", "duplicated")) + "]");
  FeedOptions options;
  options.project_dir = "my project";
  options.target = "prod";
  options.threads = "8";
  const std::string script = Fed("dbt", plan, options);
  CHECK(
      Has(script, R"(dbt run --project-dir '\''my project'\'' --target prod --threads 8 --select p.b p.c')"));
  // What adds rows runs alone: it must not be run again because another one failed.
  CHECK(Has(script, R"(--select p.d')"));
  CHECK(Has(script, "--select p.a --indirect-selection buildable"));
  CHECK(Has(script, "dbt test --project-dir"));
  options.tests = false;
  CHECK(!Has(Fed("dbt", plan, options), "dbt test"));
  const std::string dag = Fed("airflow", plan);
  CHECK(Has(dag, "tests_0 >> step_2"));
  CHECK(Has(dag, "step_1 >> tests_0"));
}

TEST_CASE(
    "a line with && stays one command, SQL is for a client or a person, and queued runs are waited for") {
  const auto shell = [](const char* engine, const char* line, const char* more = "") {
    return std::string(R"({"engine": ")") + engine + R"(", "command": ")" + line + R"(", "commands": [")" +
           line + R"("], "effect": "replaced")" + more + "}";
  };
  const std::string two = PlanOf("[" + StepOf(1, 0, "[]", shell("shell", "cd a && ./b")) + "]");
  CHECK(Has(Fed("airflow", two), R"(bash_command="cd a && ./b ")"));
  CHECK(Has(Fed("shell", two), "'cd a && ./b'"));
  const std::string sql = PlanOf("[" + StepOf(1, 0, "[]", shell("sql", "REFRESH X 'y'")) + "]");
  CHECK(Has(Fed("shell", sql), "by_hand 1"));
  CHECK(Has(Fed("airflow", sql), "exit 1"));
  const std::string client =
      PlanOf("[" + StepOf(1, 0, "[]", shell("sql", "REFRESH X 'y'", R"(, "client": "psql -c {sql}")")) + "]");
  CHECK(Has(Fed("airflow", client), R"(psql -c 'REFRESH X '\\''y'\\''')"));
  const std::string backfill = PlanOf(
      "[" +
      StepOf(1, 0, "[]", shell("airflow", "airflow backfill create --dag-id d --from-date A --to-date B")) +
      "," +
      StepOf(2, 0, "[]", shell("airflow", "airflow backfill create --dag-id d --from-date C --to-date D")) +
      "]");
  const std::string dag = Fed("airflow", backfill);
  CHECK(Has(
      dag,
      "AIRFLOW_WAIT + \"airflow backfill create --dag-id d --from-date A --to-date B && airflow_wait d A B"));
  CHECK(Has(dag, "step_1 >> step_2"));  // one unfinished backfill a DAG
  const std::string triggers =
      Fed("airflow", PlanOf("[" + StepOf(1, 0, "[]", shell("airflow", "airflow dags trigger d")) + "," +
                            StepOf(2, 0, "[]", shell("airflow", "airflow dags trigger e")) + "]"));
  CHECK(!Has(triggers, "step_1 >> step_2"));
  const auto wait = [](const char* line) { return WithWait(Split(line, ' '), "id").line; };
  CHECK(wait("airflow dags trigger d") ==
        "run=id_$(date +%s) && airflow dags trigger d --run-id \"$run\" && airflow_wait d \"$run\"");
  CHECK(wait("airflow dags trigger -- -d") ==
        "run=id_$(date +%s) && airflow dags trigger --run-id \"$run\" -- -d && airflow_wait -d \"$run\"");
  CHECK(wait("airflow dags backfill --reset-dagruns -s A -e B d") ==
        "airflow dags backfill --reset-dagruns -s A -e B d");
  CHECK(
      WithWait({"airflow", "backfill", "create", "--dag-id=-a b", "--from-date", "A", "--to-date", "B"}, "id")
          .line ==
      "airflow backfill create '--dag-id=-a b' --from-date A --to-date B && airflow_wait '-a b' A B");
}

TEST_CASE("no line of a feed is longer than an argument may be, and a sentence is cut between characters") {
  std::string steps;
  for (int i = 1; i <= 3000; ++i)
    steps +=
        (i > 1 ? "," : "") +
        StepOf(i, 0, "[]", DbtOf("p.a_model_with_a_name_that_is_as_long_as_they_are_" + std::to_string(i)));
  const std::string script = Fed("dbt", PlanOf("[" + steps + "]"));
  for (const std::string& line : Split(script, '\n')) CHECK(line.size() < 128'000);
  CHECK(Has(script, "as_they_are_3000"));
  std::string long_sentence = "x";
  for (int i = 0; i < 500; ++i) long_sentence += "\xC3\xA9";
  std::string plan = PlanOf("[" + StepOf(1, 0, "[]", DbtOf("p.a")) + "]");
  const std::size_t at = plan.find("\"summary\": \"") + 12;
  REQUIRE(at > 12);
  plan.replace(at, plan.find('"', at) - at, long_sentence);
  const std::string dag = Fed("airflow", plan);
  CHECK(Has(dag, "\xC3\xA9... (cut; the whole sentence begins this file)\""));
}

TEST_CASE("clients and vars of a registry are checked where they stand") {
  const Folder folder;
  const auto faults = [&](const std::string& text) {
    Diagnostics diagnostics;
    Named("registry").run({{folder.Write("r.yml", "backreach: 1\n" + text)}, {}}, diagnostics);
    std::string out;
    for (const Diagnostic& d : diagnostics.items()) out += d.message + "\n";
    return out;
  };
  CHECK(faults("clients:\n  - {platform: postgres, command: \"psql -c {sql}\"}\n") == "");
  CHECK(Has(faults("clients:\n  - {platform: postgres, command: \"psql\"}\n"), "does not say where"));
  CHECK(Has(faults("clients:\n  - {platform: postgres, command: \"psql -c '{sql}'\"}\n"), "in quotes"));
  CHECK(Has(faults("clients:\n  - {platform: postgres, command: \"a {sql}\"}\n  - {platform: Postgres, "
                   "command: \"b {sql}\"}\n"),
            "stands twice"));
  CHECK(Has(faults("datasets:\n  - {name: a, vars: {to: x}}\n"), "not where it begins"));
  CHECK(Has(faults("datasets:\n  - {name: a, vars: {form: x}}\n"), "form"));
  CHECK(faults("datasets:\n  - {name: a, vars: {from: x}}\n") == "");
}
