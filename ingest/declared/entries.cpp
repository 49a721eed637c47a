// Entries of the registry, wherever they stand (formats.md section 3).

#include "ingest/declared/entries.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "graph/base/words.hpp"
#include "graph/time/calendar.hpp"
#include "ingest/declared/blocks.hpp"

namespace backreach {

namespace {

const std::vector<std::string> kCopyKinds = {"spreadsheet", "file",        "export",   "partner_feed",
                                             "ml_model",    "feature_set", "notebook", "dashboard_cache",
                                             "other"};

using Defaults = EntryDefaults;

}  // namespace

const std::vector<std::string>& Weekdays() {
  static const std::vector<std::string> words = {"monday", "tuesday",  "wednesday", "thursday",
                                                 "friday", "saturday", "sunday"};
  return words;
}

Text GetGrain(YamlMap& map, const std::string& key) {
  const Text text = map.GetText(key);
  std::string why;
  if (!text || ParseGrain(*text, &why)) return text;
  map.Fail(key, fmt::format("grain '{}' of {} is not one that can be planned with", *text, map.what()),
           {why});
  return std::nullopt;
}

namespace {

Text GetTimeOfDay(YamlMap& map, const std::string& key) {
  const Text text = map.GetText(key);
  if (!text) return text;
  const auto digit = [&](std::size_t i) { return (*text)[i] >= '0' && (*text)[i] <= '9'; };
  if (text->size() == 5 && digit(0) && digit(1) && (*text)[2] == ':' && digit(3) && digit(4) &&
      *text < "24:00" && (*text)[3] < '6')
    return text;
  map.Fail(key, fmt::format("'{}' of {} is '{}', and must be a time of day such as \"06:00\" (in quotes)",
                            key, map.what(), *text));
  return std::nullopt;
}

PartitionFact ReadPartitionBlock(YamlMap& map, const Defaults& defaults) {
  PartitionFact p;
  p.grain = GetGrain(map, "grain");
  p.timezone = map.GetZone("timezone");
  if (!p.timezone) p.timezone = defaults.timezone;
  p.starts_at = GetTimeOfDay(map, "starts_at");
  p.column = map.GetText("column");
  p.week_start = map.GetWord("week_start", Weekdays());
  if (!p.week_start) p.week_start = defaults.week_start;
  p.first = map.GetDate("first");
  p.last = map.GetDate("last");
  p.key_format = map.GetText("key_format");
  p.from = map.GetDate("from");
  p.until = map.GetDate("until");
  map.Finish();
  return p;
}

void ReadPartitions(YamlMap& map, const Defaults& defaults, DatasetFact& fact) {
  const auto node = map.Get("partitions");
  if (!node) {
    // A zone or a week start by default is known of every dataset of the file, with or without a grain.
    if (fact.partitions.empty() && (defaults.timezone || defaults.week_start)) {
      PartitionFact p;
      p.timezone = defaults.timezone;
      p.week_start = defaults.week_start;
      fact.partitions.push_back(p);
    }
    return;
  }
  std::vector<PartitionFact> blocks;
  const std::string what = "partitions of " + map.what();
  if (node->IsScalar()) {
    PartitionFact p;
    p.grain = GetGrain(map, "partitions");
    p.timezone = defaults.timezone;
    p.week_start = defaults.week_start;
    blocks.push_back(p);
  } else if (node->IsSequence()) {
    for (const auto& item : *node) {
      YamlMap block(item, map.file(), what, map.diagnostics());
      if (block.valid()) blocks.push_back(ReadPartitionBlock(block, defaults));
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (i > 0 && !blocks[i].from && !blocks[i - 1].until)
        map.Fail("partitions",
                 fmt::format("block {} of {} has no 'from', and the one before it no 'until'", i + 1, what),
                 {"several grains over time need to know where one ends and the next begins"});
    }
  } else {
    YamlMap block(*node, map.file(), what, map.diagnostics());
    if (block.valid()) blocks.push_back(ReadPartitionBlock(block, defaults));
  }
  fact.partitions = blocks;
}

void Override(Text& field, const Text& value) {
  if (value) field = value;
}

// `7d`, `none`, `snapshots`, `time_travel 7d`.
Text GetRollback(YamlMap& map) {
  const Text text = map.GetText("rollback");
  if (!text || *text == "none" || *text == "snapshots") return text;
  const auto words = Split(*text, ' ');
  if (words.size() == 2 && words[0] == "time_travel" && ParseDuration(words[1])) return text;
  map.Fail("rollback",
           fmt::format("rollback '{}' of {} must be none, snapshots or 'time_travel 7d'", *text, map.what()));
  return std::nullopt;
}

}  // namespace

void ReadDatasetEntry(YamlMap& map, const Defaults& defaults, DatasetFact& fact) {
  for (const std::string& alias : map.GetList("aliases")) fact.aliases.push_back(alias);
  static const std::vector<std::string> kinds = {"source", "table",     "view",    "ephemeral", "snapshot",
                                                 "seed",   "dashboard", "feature", "file",      "external"};
  Override(fact.kind, map.GetWord("kind", kinds));
  ReadPartitions(map, defaults, fact);
  Override(fact.complete_after, map.GetDuration("complete_after"));
  Override(fact.run_date_offset, map.GetDuration("run_date_offset"));
  if (const auto node = map.Get("vars")) {
    YamlMap vars(*node, map.file(), "vars of " + map.what(), map.diagnostics());
    if (vars.valid()) {
      if (const Text from = vars.GetText("from")) fact.vars["from"] = *from;
      if (const Text to = vars.GetText("to")) fact.vars["to"] = *to;
      if (const Text to_is = vars.GetWord("to_is", {"exclusive", "inclusive"})) fact.vars["to_is"] = *to_is;
      vars.Finish();
      if (vars.Get("to") && !vars.Get("from")) {
        map.Fail("vars",
                 fmt::format("vars of {} name where a run ends ('to') and not where it begins", map.what()),
                 {"add the variable that holds the beginning: vars: {from: ..., to: ...}"});
        fact.vars.clear();
      }
    }
  }
  if (const Text row_time = map.GetText("row_time")) {
    std::string why;
    const auto grain = ParseGrain(*row_time, &why);
    if (*row_time == "exact" || (grain && !grain->none()))
      fact.row_time = row_time;
    else
      map.Fail("row_time",
               fmt::format("row_time '{}' of {} must be exact or a grain", *row_time, map.what()));
  }
  Override(fact.retention, map.GetDuration("retention"));
  Override(fact.keeps_from, map.GetDate("keeps_from"));
  Override(fact.origin, map.GetWord("origin", {"operational", "files", "stream", "platform"}));
  const Text writes = map.GetWord("writes", {"replace", "whole", "append", "merge", "delete_insert",
                                             "dynamic_overwrite", "snapshot", "none"});
  if (writes) {
    fact.write.mode = writes;
    fact.write.why = "declared in " + BaseName(map.file()) + ":" + std::to_string(map.line());
  }
  if (map.Get("key")) {
    fact.write.key = map.GetList("key");
    fact.write.key_given = true;
  }
  if (const auto node = map.Get("proven")) {
    YamlMap proven(*node, map.file(), "proven of " + map.what(), map.diagnostics());
    if (proven.valid()) {
      if (const auto b = proven.GetBool("unique")) fact.proven_unique = b;
      if (const auto b = proven.GetBool("not_null")) fact.proven_not_null = b;
      proven.Finish();
    }
  }
  if (const auto node = map.Get("dimensions")) {
    if (!node->IsMap())
      map.Fail("dimensions", fmt::format("dimensions of {} must be a mapping of lists", map.what()));
    else {
      for (const auto& item : *node) {
        const auto name = ScalarText(item.first);
        if (!name || !item.second.IsSequence()) {
          map.diagnostics().Error(YamlWhere(map.file(), item.first.Mark()),
                                  fmt::format("dimensions of {} must be a mapping of lists", map.what()));
          continue;
        }
        auto& values = fact.dimensions[*name];
        values.clear();
        for (const auto& value : item.second)
          if (const auto text = ScalarText(value)) values.push_back(*text);
      }
    }
  }
  Override(fact.rollback, GetRollback(map));
  if (const auto b = map.GetBool("never_rebuild")) fact.never_rebuild = b;
  if (const auto b = map.GetBool("deletions")) fact.deletions = b;
  if (const auto b = map.GetBool("sequential")) fact.sequential = b;
  Override(fact.owner, map.GetText("owner"));
  Override(fact.contact, map.GetText("contact"));
  Override(fact.note, map.GetText("note"));
  if (const auto node = map.Get("changes")) {
    if (!node->IsSequence())
      map.Fail("changes", fmt::format("changes of {} must be a list", map.what()));
    else {
      for (const auto& item : *node) {
        YamlMap change(item, map.file(), "a change of " + map.what(), map.diagnostics());
        if (!change.valid()) continue;
        const Text on = change.GetDate("on");
        const Text kind = change.GetWord("kind", {"schema", "key", "layout"});
        const Text what = change.GetText("what");
        change.Finish();
        if (!on || !kind)
          change.diagnostics().Error(YamlWhere(map.file(), item.Mark()),
                                     fmt::format("a change of {} needs 'on' and 'kind'", map.what()));
        else
          fact.changes.push_back({*on, *kind, what.value_or("")});
      }
    }
  }
  for (const std::string& effect : map.GetList("side_effects")) fact.side_effects.push_back(effect);
  if (const auto node = map.Get("slo")) {
    YamlMap slo(*node, map.file(), "slo of " + map.what(), map.diagnostics());
    if (slo.valid()) {
      Override(fact.fresh_within, slo.GetDuration("fresh_within"));
      slo.Finish();
    }
  }
}

namespace {

HoldsFact ReadHolds(YamlMap& copy, const YAML::Node& node, const std::string& key) {
  HoldsFact holds;
  if (const auto word = ScalarText(node)) {
    if (*word == "all")
      holds.all = true;
    else
      copy.Fail(key,
                fmt::format("'{}' of {} must be all, {{from:, to:}} or {{last: 90d}}", key, copy.what()));
    return holds;
  }
  YamlMap map(node, copy.file(), key + " of " + copy.what(), copy.diagnostics());
  if (!map.valid()) return holds;
  holds.from = map.GetDate("from");
  holds.to = map.GetDate("to");
  holds.last = map.GetDuration("last");
  map.Finish();
  if (!holds.from && !holds.to && !holds.last)
    copy.Fail(key, fmt::format("'{}' of {} must be all, {{from:, to:}} or {{last: 90d}}", key, copy.what()));
  return holds;
}

}  // namespace

void ReadCopyEntry(YamlMap& map, CopyFact& copy) {
  for (const std::string& of : map.GetList("of")) copy.of.push_back(of);
  Override(copy.kind, map.GetWord("kind", kCopyKinds));
  Override(copy.where, map.GetText("where"));
  for (const std::string& user : map.GetList("by")) copy.by.push_back(user);
  Override(copy.owner, map.GetText("owner"));
  Override(copy.contact, map.GetText("contact"));
  Override(copy.note, map.GetText("note"));
  for (const std::string& taken : map.GetList("taken")) {
    const DateResult parsed = ParseDate(taken, Calendar());
    if (parsed.span)
      copy.taken.push_back(taken);
    else
      map.Fail("taken", fmt::format("'taken' of {}: {}", map.what(), parsed.error));
  }
  if (const auto holds = map.Get("holds")) copy.holds = ReadHolds(map, *holds, "holds");
  if (const auto node = map.Get("refresh")) {
    YamlMap refresh(*node, map.file(), "refresh of " + map.what(), map.diagnostics());
    if (refresh.valid()) {
      RefreshFact r;
      r.cron = refresh.GetText("cron");
      r.timezone = refresh.GetZone("timezone");
      r.keeps = refresh.GetWord("keeps", {"append", "replace"});
      if (const auto holds = refresh.Get("holds")) r.holds = ReadHolds(refresh, *holds, "holds");
      refresh.Finish();
      copy.refresh = r;
    }
  }
  for (const std::string& feeds : map.GetList("feeds")) copy.feeds.push_back(feeds);
  Override(copy.expires, map.GetDate("expires"));
  copy.personal_data = map.GetBool("personal_data").value_or(copy.personal_data);
}

namespace {

// Faults in a block inside another tool's file are that file's, but no reason to refuse all of it.
template <typename F>
void ReadForeignBlock(const std::string& text, const std::string& where, Diagnostics& diagnostics, F read) {
  Diagnostics faults;
  try {
    YamlMap map(YAML::Load(text), where, "meta.backreach", faults);
    if (map.valid()) {
      read(map);
      map.Finish();
    }
  } catch (const YAML::Exception& e) {
    faults.Error(where, "meta.backreach cannot be read: " + e.msg);
  }
  for (const Diagnostic& d : faults.items()) diagnostics.Warning(where, d.message + " (left out)", d.notes);
}

}  // namespace

void ReadDatasetBlock(const std::string& text, const std::string& where, DatasetFact& fact,
                      Diagnostics& diagnostics) {
  ReadForeignBlock(text, where, diagnostics, [&](YamlMap& map) { ReadDatasetEntry(map, {}, fact); });
}

void ReadCopyBlock(const std::string& text, const std::string& where, CopyFact& fact,
                   Diagnostics& diagnostics) {
  ReadForeignBlock(text, where, diagnostics, [&](YamlMap& map) { ReadCopyEntry(map, fact); });
}

}  // namespace backreach
