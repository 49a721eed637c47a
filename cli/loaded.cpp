// The clock is read here, once for a request whose `now` was not given; the analysis never reads it.

#include "cli/loaded.hpp"

#include <fmt/format.h>

#include <charconv>

#include "analysis/plan/plan.hpp"
#include "analysis/request_text.hpp"
#include "cli/selection.hpp"
#include "graph/store/store.hpp"

namespace backreach {

const BuiltGraph& LoadGraph(const Arguments& arguments) {
  const Store store = Store::OpenForReading(StorePath(arguments));
  std::vector<SourceFacts> facts = store.Load(false, MomentOf(arguments, "as-of"));
  if (facts.empty())
    throw Error(
        store.path() +
        ": error: the store is empty: no source was ingested\n  begin with: backreach ingest dbt target/");
  return BuildGraphForGood(std::move(facts), arguments.flag("strict"));
}

const LineageGraph& JoinForGood(std::vector<SourceFacts> facts) {
  return BuildGraphForGood(std::move(facts)).graph;
}

Request ReadRequestOf(const Arguments& a, const BuiltGraph& built, const std::vector<std::string>& targets) {
  RequestText text;
  text.targets = targets;
  text.no_target = targets.empty() && a.value("resume");
  text.from = a.value("from");
  text.to = a.value("to");
  text.ranges = a.list("range");
  text.whole = a.flag("whole");
  if (const auto now = a.value("now")) {
    const auto parsed = ParseInstant(*now, true);
    if (!parsed)
      throw Error(fmt::format("backreach: error: --now '{}' is no instant: write 2026-04-20T09:00Z", *now));
    text.now = *parsed;
  } else {
    text.now = ClockNow();
  }
  text.as_of = MomentOf(a, "as-of");
  text.excludes = a.list("exclude");
  text.accepts = a.list("accept");
  text.narrows = a.list("narrow");
  text.unchanged = a.list("unchanged");
  text.wheres = a.list("where");
  text.select = [&](const std::string& selector) {
    return SelectDatasets(a, built, {{selector}, {}, {}, {}}).datasets;
  };
  text.include_open = a.flag("include-open");
  text.full_refreshes = a.list("full-refresh");
  text.strict = a.flag("strict");
  text.fail_on = a.value("fail-on").value_or("blocking");
  if (const auto threads = a.value("threads")) {
    const auto [end, ec] = std::from_chars(threads->data(), threads->data() + threads->size(), text.threads);
    if (ec != std::errc{} || *end != '\0' || text.threads < 1 || text.threads > 10'000)
      throw Error(fmt::format("backreach: error: --threads '{}' must be a number from 1 to 10000", *threads));
  }
  Request request = ReadRequest(built.graph, built.names, text);
  request.log = Store::OpenForReading(StorePath(a)).RunLog();
  return request;
}

Status StatusOf(const Plan& plan) {
  for (const Hazard& h : plan.hazards)
    if (!h.accepted && h.severity >= plan.request.fail_on) return Status::kFound;
  return Status::kDone;
}

}  // namespace backreach
