// A coarse cell written from part of its input.

#include <fmt/format.h>

#include "analysis/hazards/all.hpp"
#include "graph/base/words.hpp"

namespace backreach::hazards {

namespace {

// Batches that replace their range, and take nothing of an older one.
void EmptiedCells(const HazardContext& c, const Written& w, const Dataset& d, const Finding& f,
                  std::vector<Hazard>& out) {
  const SpanSet cells = BeyondReach(c, w, f);
  if (cells.empty()) return;
  out.push_back(MakeHazard(
      "partial-overwrite", HazardSeverity::kBlocking, w.dataset, cells,
      fmt::format("each batch of {} {}, and replaces its period by that: what it does not take is lost",
                  d.name, f.fact.detail),
      "take that filter away for this run: a batch is bounded by its own period already"));
}

void FromFinding(const Written& w, const Dataset& d, const Finding& f, std::vector<Hazard>& out) {
  // A table without partitions that holds the last days is what its query makes it.
  if (f.fact.data.count("history") && !d.layout) return;
  const bool configured = f.fact.data.count("by") > 0;
  out.push_back(MakeHazard(
      "partial-overwrite", configured ? HazardSeverity::kWarning : HazardSeverity::kBlocking, w,
      configured
          ? fmt::format("{}: {}, the rest of it is lost", d.name, f.fact.detail)
          : fmt::format("a run replaces the whole of {} and {}: all the rest is lost", d.name, f.fact.detail),
      configured
          ? "make the batch as large as the partition"
          : "take the bound away for this run, or partition the table so that only the period is replaced"));
}

// The cell in which a bound by the run's date lies is written from the part behind the bound, asked for or
// not: the run falls where it falls. A batch writes no cell but its own.
void CutCell(const HazardContext& c, const Written& w, const Dataset& d, const Finding& f,
             std::vector<Hazard>& out) {
  const auto bound = ReachOf(c.frame.now(), d, f);
  if (!d.layout || w.whole || w.along || !bound || !ReplacesPresentCells(d) || RangeInstead(d, f)) return;
  const Span cell = d.layout->CellAt(*bound);
  if (cell.start == *bound || cell.end <= c.frame[w.dataset].first) return;
  if (d.methods.count("dbt_batches") > 0 && !w.spans.Intersects(cell)) return;
  out.push_back(MakeHazard(
      "partial-overwrite", HazardSeverity::kBlocking, w.dataset, SpanSet(cell),
      fmt::format("a run of {} {}: of {} it takes a part and overwrites all of it, the rest is lost", d.name,
                  f.fact.detail, KeyOf(d, cell.start)),
      "let the bound fall on the beginning of a partition"));
}

// A job whose runs write less than a cell.
void SmallRuns(const HazardContext& c, const Written& w, const Dataset& d, std::vector<Hazard>& out) {
  if (!d.layout || !d.grain || !ReplacesPresentCells(d)) return;
  for (const JobId id : d.jobs) {
    const Job& job = c.graph[id];
    if (!job.run_grain || job.run_grain->none() || job.run_grain->unit >= d.grain->unit) continue;
    out.push_back(MakeHazard(
        "partial-overwrite", HazardSeverity::kWarning, w,
        fmt::format("{} runs by the {} and overwrites {} by the {}: each run leaves of a cell what it "
                    "has itself",
                    job.name, FormatGrain(*job.run_grain), d.name, FormatGrain(*d.grain)),
        "run it once for each whole cell"));
  }
}

void Find(const HazardContext& c, std::vector<Hazard>& out) {
  for (const Written& w : WrittenCells(c)) {
    const Dataset& d = c.graph[w.dataset];
    for (const Finding& f : d.findings) {
      if (f.fact.code == "partial-overwrite" && f.fact.data.count("each") > 0)
        EmptiedCells(c, w, d, f, out);
      else if (f.fact.code == "partial-overwrite")
        FromFinding(w, d, f, out);
      if (f.fact.code == "watermark-filter") CutCell(c, w, d, f, out);
    }
    // A table written whole whose run is given a period.
    if (d.writes == Writes::kWhole && d.layout && d.vars.count("from"))
      out.push_back(MakeHazard(
          "partial-overwrite", HazardSeverity::kBlocking, w,
          fmt::format(
              "a run replaces the whole of {}, and its query takes its period from a variable ({}): all the "
              "rest is lost",
              d.name, d.vars.at("from")),
          "let the variable's default cover all of its history, or write it by partitions"));
    SmallRuns(c, w, d, out);
  }

  // A coarser reader of cells that a table written whole loses.
  for (const HazardContext::Expiry& e : c.expiries) {
    if (!c.graph[e.dataset].written_whole() || c.StepsOf(e.dataset).empty()) continue;
    for (const Step& step : c.plan.steps) {
      for (const StepReads& read : step.reads) {
        if (read.cells.dataset != e.dataset || step.dataset == e.dataset ||
            !read.cells.spans.Intersects(e.cells))
          continue;
        const Dataset& d = c.graph[step.dataset];
        out.push_back(MakeHazard(
            "partial-overwrite", HazardSeverity::kBlocking, step.dataset,
            step.whole ? SpanSet::All() : step.spans,
            fmt::format(
                "{} reads {}, which loses {} by its own rebuild: it would be written from what is left",
                d.name, c.graph[e.dataset].name,
                SpansText(c.graph[e.dataset], Intersection(read.cells.spans, e.cells))),
            "restore the lost input first, or leave this dataset out (--exclude)"));
      }
    }
  }
}

}  // namespace

HazardKind PartialOverwrite() {
  return {"partial-overwrite",
          HazardSeverity::kBlocking,
          "a coarse cell would be overwritten from part of its input",
          "the rest of the cell is lost, and the run is green",
          "restore the input, or leave the cell out",
          Find};
}

}  // namespace backreach::hazards
