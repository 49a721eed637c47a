// In the words of the output, for somebody who meets them at night.

#include "render/view/glossary.hpp"

namespace backreach {

const std::vector<GlossaryWord>& Glossary() {
  static const std::vector<GlossaryWord> words = {
      {"accepted",
       "a hazard that somebody has looked at and wants all the same: --accept CODE[:DATASET]; it no longer "
       "sets the exit status"},
      {"afterwards",
       "cells that cannot be made right yet, since their period or one that they read is still open: their "
       "ordinary run does it later"},
      {"assumed",
       "what the plan had to take for true because nobody said it: a mapping, a zone, a grain; each with the "
       "line of a registry that would say it"},
      {"cell",
       "one partition of one dataset: fct_orders of 2026-03-01; a dataset without a grain is one cell"},
      {"choke point",
       "a dataset through which alone most of what is reached is reached: a mistake there is a mistake "
       "everywhere below"},
      {"complete",
       "a partition whose period has ended, and the time that it is waited for after that (complete_after)"},
      {"copy", "data that was taken out of the platform, or frozen in it, and that no job brings up to date"},
      {"correct", "what a step does that nothing writes: the place where the correction lands, by hand"},
      {"dirty", "a cell whose content differs, or may differ, because of the correction"},
      {"effect",
       "what a run does to a cell that is there already: replaced, duplicated (rows twice), lost, kept-old "
       "(the run is green and changes nothing), overwritten-open, unknown"},
      {"fresh on read",
       "a thing that stores nothing (a view, a live dashboard): it is right as soon as what it reads is"},
      {"grain", "how a dataset is cut in time: 15 minutes, hour, day, week, month, quarter, year; or none"},
      {"hazard",
       "a way in which a green run of the plan leaves the data, or other people's work, worse off; backreach "
       "hazard CODE explains one"},
      {"heals", "the moment at which a copy that is taken again and again will be right by itself"},
      {"known",
       "how a mapping is known: declared (somebody said it), proven (by the code), inferred (recognised in "
       "the code, or seen in runs), assumed"},
      {"left stale",
       "cells inside the platform that the correction makes wrong and the plan leaves as they are: excluded, "
       "protected, a snapshot, inputs that are gone"},
      {"mapping",
       "what a partition of a reader reads of a parent: same, window, to_date, period, previous, following, "
       "fixed, latest, latest_then, key, all"},
      {"mixes old into", "a dataset that is rebuilt from some input that is right and some that stays old"},
      {"open",
       "a partition whose period has not ended, or is still waited for: another writer is filling it"},
      {"out of reach", "copies that keep the old numbers until somebody acts"},
      {"partition", "one cut of a dataset in time, named by where it starts in the dataset's own zone"},
      {"pass",
       "what the readers of a dataset see of its rebuild: its cells, or less where its rows carry a time of "
       "their own"},
      {"rewritten along", "cells that nobody asked for, which the only way to run a step writes beside"},
      {"row time",
       "the time that rows carry: rebuilding the dataset changes only rows whose time lies in what its "
       "parents changed (row_time, dbt's event_time)"},
      {"sequential", "a step whose cells must run oldest first, one at a time"},
      {"span", "a stretch of partitions, first and last included: 2026-03-01 .. 2026-03-31"},
      {"stanza", "a line of a registry that says what nobody has said"},
      {"step", "a dataset and the cells of it to rebuild, with what has to be finished before"},
      {"suspected",
       "a grain that something speaks for and nobody stated; it is offered (backreach init) and never "
       "planned with"},
      {"target", "what the correction is made to"},
      {"wave", "steps that can run at once: all that they wait for lies in earlier waves"},
      {"whole",
       "all of a table in one run, because it has no grain, or because every run replaces all of it"},
      {"widened",
       "rebuilt further than the correction reaches, because something above it is rebuilt whole or read "
       "whole"},
  };
  return words;
}

}  // namespace backreach
