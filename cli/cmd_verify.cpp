// backreach verify: counts before and after, held against the plan.

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "analysis/after/run.hpp"
#include "analysis/after/verify.hpp"
#include "cli/command.hpp"
#include "cli/counting.hpp"
#include "cli/loaded.hpp"
#include "cli/output.hpp"
#include "cli/plan_input.hpp"
#include "graph/base/words.hpp"
#include "graph/store/store.hpp"
#include "render/view/verify.hpp"

namespace backreach {

namespace {

// `5`, `5%`, `-12.5%`.
std::optional<double> ReadPercent(std::string text) {
  if (EndsWith(text, "%")) text.pop_back();
  if (text.empty() || text.find_first_not_of("0123456789.+-") != std::string::npos) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (*end != '\0') return std::nullopt;
  return value;
}

Expectation ReadExpectation(const std::string& given, std::string& dataset) {
  const std::size_t equals = given.rfind('=');
  const std::string range = equals == std::string::npos ? "" : given.substr(equals + 1);
  const std::size_t dots = range.find("..");
  const auto least = ReadPercent(range.substr(0, dots));
  const auto most = dots == std::string::npos ? std::nullopt : ReadPercent(range.substr(dots + 2));
  if (equals == 0 || !least || !most || *least > *most)
    throw Error(
        fmt::format("backreach: error: --expect '{}' must be DATASET=LEAST..MOST in percent, such as "
                    "revenue_daily=-15%..0%",
                    given));
  dataset = given.substr(0, equals);
  return {*least, *most};
}

struct Beside {
  std::vector<LoggedRun> log;
  const BuiltGraph* built = nullptr;
};

// What the store knows beside the plan; nothing where there is none.
Beside LoadBeside(const Arguments& a) {
  Beside out;
  std::error_code ec;
  if (!std::filesystem::exists(StorePath(a), ec)) return out;
  out.log = Store::OpenForReading(StorePath(a)).RunLog();
  out.built = &LoadGraph(a);
  return out;
}

Counts Read(const std::string& path, Diagnostics& diagnostics) {
  return ReadCounts(ReadWhole(path, "make one with the queries of: backreach verify PLAN.json --sql"), path,
                    diagnostics);
}

[[noreturn]] void Refuse(const Diagnostics& diagnostics) {
  std::string text = Format(diagnostics);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  throw Error(text);
}

Status PrintSql(const Arguments& a, const RecordedPlan& plan) {
  std::string out;
  for (const CountQuery& q : CountQueries(plan)) out += "-- " + Printable(q.dataset) + "\n" + q.sql + ";\n\n";
  if (out.empty())
    throw Error(plan.path +
                ": error: no step of the plan has a query for its counts\n  the platform of its tables is "
                "not known");
  WriteOut(a, out);
  return Status::kDone;
}

std::map<std::string, Expectation> ReadExpectations(const Arguments& a, const RecordedPlan& plan,
                                                    const Beside& beside) {
  std::map<std::string, Expectation> out;
  std::vector<std::string> names;
  for (const RecordedStep& step : plan.steps) names.push_back(step.cells.dataset);
  for (const std::string& given : a.list("expect")) {
    std::string dataset;
    const Expectation expectation = ReadExpectation(given, dataset);
    bool known = beside.built && beside.built->names.Find(dataset).found;
    for (const std::string& name : names)
      known = known || name == dataset || EndsWith(name, "." + dataset) || EndsWith(name, "/" + dataset);
    if (!known) {
      const auto near = Nearest(dataset, names);
      throw Error(fmt::format("backreach: error: --expect names '{}', which is no dataset of the plan{}",
                              dataset, near.empty() ? "" : "\n  nearest: " + Join(near, ", ")));
    }
    out[dataset] = expectation;
  }
  return out;
}

Status Run(const Arguments& a) {
  const std::string format = FormatOf(a, {"text", "json", "svg"}, "text");
  const RecordedPlan plan = ReadPlanFile(a.words[0]);
  if (a.flag("sql")) return PrintSql(a, plan);
  const auto before = a.value("before"), after = a.value("after");
  const bool ask = a.flag("run");
  if (ask && !before) {  // nothing to compare with yet: the counts themselves
    WriteOut(a, RunCounts(a, plan));
    return Status::kDone;
  }
  if (!before || (!after && !ask) || (after && ask))
    throw Error(
        "backreach: error: verify needs --before FILE, and --after FILE or --run\n"
        "  the counts before can be made with: backreach verify PLAN.json --run --out before.csv");
  VerifyQuestion question;
  if (const auto tolerance = a.value("tolerance")) {
    question.tolerance = ReadPercent(*tolerance);
    if (!question.tolerance || *question.tolerance < 0)
      throw Error(
          fmt::format("backreach: error: --tolerance '{}' must be a percentage, such as 5%", *tolerance));
  }
  const Beside beside = LoadBeside(a);
  question.expected = ReadExpectations(a, plan, beside);
  Diagnostics diagnostics;
  const Counts first = Read(*before, diagnostics);
  const Counts second =
      ask ? ReadCounts(RunCounts(a, plan), "(counted now)", diagnostics) : Read(*after, diagnostics);
  if (diagnostics.has_errors()) Refuse(diagnostics);
  question.plan = &plan, question.before = &first, question.after = &second;
  question.run = FindRun(beside.log, plan.id, false);
  if (beside.built) {
    question.graph = &beside.built->graph;
    question.canonical = [&](const std::string& name) -> std::optional<std::string> {
      const NameMatch match = beside.built->names.Find(name);
      if (!match.found) return std::nullopt;
      return beside.built->graph.datasets[*match.found].name;
    };
  }
  const Verification verification = Verify(question, diagnostics);
  if (diagnostics.has_errors()) Refuse(diagnostics);
  WriteOut(a, format == "json" ? VerifyJson(verification)
              : format == "svg"
                  ? VerifySvg(verification)
                  : VerifyText(verification, a.value("out") ? 80 : TerminalWidth(), a.flag("all")));
  return verification.result == "fail" ? Status::kFound : Status::kDone;
}

}  // namespace

Command VerifyCommand() {
  using Kind = OptionSpec::Kind;
  return {
      "verify",
      "PLAN.json",
      1,
      1,
      "did the rebuild do what the plan says? by counts of rows before and after (only counts are compared)",
      "  backreach verify plan.json --before before.csv --after after.csv\n"
      "  backreach verify plan.json --before before.csv --run --expect revenue_daily=-15%..0%",
      std::vector<OptionSpec>{
          {Kind::kValue, "before", "FILE",
           "counts from before: dataset,partition,rows[,distinct_keys][,counted_at]"},
          {Kind::kValue, "after", "FILE", "counts from after"},
          {Kind::kFlag, "run", "",
           "count now, by dbt's profile or --connect; without --before print the counts"},
          {Kind::kValue, "connect", "URL",
           "postgresql://... (psql) or duckdb:FILE (duckdb); default: dbt's profile"},
          {Kind::kValue, "project-dir", "D", "dbt's project, for --run"},
          {Kind::kValue, "profiles-dir", "D", "where its profiles.yml lies"},
          {Kind::kValue, "target", "NAME", "the target in it"},
          {Kind::kFlag, "sql", "", "print the queries that make the counts files, and nothing else"},
          {Kind::kValue, "tolerance", "PERCENT", "a cell may change by so much"},
          {Kind::kList, "expect", "DATASET=A..B", "a dataset may change from A to B percent"},
          {Kind::kValue, "format", "FORMAT", "text (default), json or svg (a chart for each dataset)"},
          {Kind::kValue, "out", "FILE", "write to this file"},
          {Kind::kFlag, "all", "", "every cell of a long table"}} +
          CommonOptions(),
      Run};
}

}  // namespace backreach
