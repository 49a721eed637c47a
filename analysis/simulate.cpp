// A table of five days, the last one still being filled. What was loaded was wrong in the values of days 2
// and 3; the input is right by now. A run asks the input for its days and writes the answer in its way. Right
// is what a rebuild of everything would hold.

#include "analysis/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "analysis/hazards/hazard.hpp"

namespace backreach {

namespace {

constexpr int kDays = 5, kToday = 5, kNoKey = -1;

struct Row {
  int day, key;
  double value;
  int row;  // which row it is, whatever its key
  friend bool operator<(const Row& a, const Row& b) {
    return std::tie(a.day, a.row, a.key, a.value) < std::tie(b.day, b.row, b.key, b.value);
  }
};
using Table = std::vector<Row>;

Table Wanted(int from, int to, int rows, double value) {
  Table out;
  for (int day = from; day <= to; ++day)
    for (int i = 0; i < rows; ++i) out.push_back({day, day * 100'000 + i, value + i, i});
  return out;
}

template <typename F>
void Drop(Table& table, F f) {
  table.erase(std::remove_if(table.begin(), table.end(), f), table.end());
}

void Write(WayOfWriting way, Table& table, const Table& result, int from, int to) {
  std::set<int> keys, days;
  for (const Row& r : result) {
    days.insert(r.day);
    if (r.key != kNoKey) keys.insert(r.key);  // a null equals nothing, itself neither
  }
  switch (way) {
    case WayOfWriting::kAppend: break;
    case WayOfWriting::kMerge:
    case WayOfWriting::kDeleteInsert: Drop(table, [&](const Row& r) { return keys.count(r.key) > 0; }); break;
    case WayOfWriting::kDeleteInsertGrain:
    case WayOfWriting::kDynamicOverwrite:
      Drop(table, [&](const Row& r) { return days.count(r.day) > 0; });
      break;
    case WayOfWriting::kReplace:
      Drop(table, [&](const Row& r) { return from <= r.day && r.day <= to; });
      break;
    case WayOfWriting::kWhole: table.clear(); break;
  }
  table.insert(table.end(), result.begin(), result.end());
}

// The table before, the input when the run reads it, and the right table.
struct Setting {
  Table before, input, right;
  int from = 2, to = 3, runs = 1;
};

Setting SettingOf(Situation situation, int rows) {
  Setting s;
  const Table past = Wanted(1, kToday - 1, rows, 10), today = Wanted(kToday, kToday, rows / 2, 10);
  s.input = past;
  s.input.insert(s.input.end(), today.begin(), today.end());
  s.before = s.input;
  for (Row& r : s.before)
    if (r.day == 2 || r.day == 3) r.value -= 3;
  s.right = s.input;
  switch (situation) {
    case Situation::kRerun: break;
    case Situation::kTwice: s.runs = 2; break;
    case Situation::kToday: {
      // The ordinary run wrote more rows of today while this run went on with the input that it had read.
      const Table full = Wanted(kToday, kToday, rows, 10);
      Drop(s.before, [](const Row& r) { return r.day == kToday; });
      s.before.insert(s.before.end(), full.begin(), full.end());
      s.right = past;
      s.right.insert(s.right.end(), full.begin(), full.end());
      s.to = kToday;
      break;
    }
    case Situation::kNullKeys:
      for (Table* t : {&s.before, &s.input, &s.right})
        for (Row& r : *t)
          if (r.row == 0) r.key = kNoKey;
      break;
    case Situation::kPart:
      Drop(s.input, [&](const Row& r) { return r.day == 3 && r.row >= rows / 4; });
      break;
    case Situation::kEmptied:
      for (Table* t : {&s.input, &s.right}) Drop(*t, [](const Row& r) { return r.day == 3; });
      break;
    case Situation::kRemoved:
      for (Table* t : {&s.input, &s.right}) Drop(*t, [](const Row& r) { return r.day == 2 && r.row == 1; });
      break;
  }
  return s;
}

double Mean(const Table& t) {
  double sum = 0;
  for (const Row& r : t) sum += r.value;
  return t.empty() ? 0 : sum / static_cast<double>(t.size());
}

int Newest(const Table& t) {
  int newest = 0;
  for (const Row& r : t) newest = std::max(newest, r.day);
  return newest;
}

// Rows of `a` that `b` lacks, by what they hold.
std::int64_t Lacking(const Table& a, const Table& b) {
  std::multiset<Row> there(b.begin(), b.end());
  std::int64_t n = 0;
  for (const Row& r : a) {
    const auto it = there.find(r);
    if (it == there.end())
      ++n;
    else
      there.erase(it);
  }
  return n;
}

// The same row more than once, whatever its values.
bool Twice(const Table& t, bool by_key) {
  std::set<std::pair<int, int>> seen;
  for (const Row& r : t) {
    if (by_key && r.key == kNoKey) continue;
    if (!seen.emplace(r.day, by_key ? r.key : r.row).second) return true;
  }
  return false;
}

std::int64_t RowsOf(const Table& t, int day) {
  return std::count_if(t.begin(), t.end(), [&](const Row& r) { return r.day == day; });
}

}  // namespace

const std::vector<WayOfWriting>& WaysOfWriting() {
  using W = WayOfWriting;
  static const std::vector<W> all = {
      W::kAppend,           W::kMerge,   W::kDeleteInsert, W::kDeleteInsertGrain,
      W::kDynamicOverwrite, W::kReplace, W::kWhole};
  return all;
}

const char* ToString(WayOfWriting way) {
  static constexpr const char* kWords[] = {
      "append",  "merge", "delete_insert", "delete_insert on the grain", "dynamic_overwrite",
      "replace", "whole"};
  return kWords[static_cast<int>(way)];
}

const std::vector<Situation>& Situations() {
  using S = Situation;
  static const std::vector<S> all = {S::kRerun, S::kTwice,   S::kToday,  S::kNullKeys,
                                     S::kPart,  S::kEmptied, S::kRemoved};
  return all;
}

const char* ToString(Situation situation) {
  static constexpr const char* kWords[] = {"rerun", "twice",   "today",  "null-keys",
                                           "part",  "emptied", "removed"};
  return kWords[static_cast<int>(situation)];
}

const char* SentenceOf(Situation situation) {
  static constexpr const char* kSentences[] = {
      "two past days, populated, are run again",
      "the same, and once more",
      "the range reaches into today, which its ordinary run is filling",
      "the same two days, where a row of each has no key",
      "a day is run from a quarter of its input",
      "the correction leaves a day without rows",
      "the correction removes one row of a day"};
  return kSentences[static_cast<int>(situation)];
}

Simulated Simulate(WayOfWriting way, Situation situation, int rows) {
  rows = std::max(4, rows);
  const Setting s = SettingOf(situation, rows);
  Table table = s.before;
  Table result = s.input;
  if (way != WayOfWriting::kWhole) Drop(result, [&](const Row& r) { return r.day < s.from || r.day > s.to; });
  for (int run = 0; run < s.runs; ++run) Write(way, table, result, s.from, s.to);

  Simulated out{way, situation, Effect::kReplaced, {}, {}, 0, 0, 0};
  out.rows_before = static_cast<std::int64_t>(s.before.size());
  out.rows_after = static_cast<std::int64_t>(table.size());
  out.rows_right = static_cast<std::int64_t>(s.right.size());
  const std::int64_t lacks = Lacking(s.right, table), more = Lacking(table, s.right);
  if (lacks > 0) out.moved.push_back("completeness");
  if (Newest(table) != Newest(s.right)) out.moved.push_back("freshness");
  const bool twice = Twice(table, false);
  if (twice) out.moved.push_back("uniqueness");
  if (out.rows_after != out.rows_right) out.moved.push_back("volume");
  if (std::abs(Mean(table) - Mean(s.right)) > 1e-9) out.moved.push_back("distribution");

  if (Twice(table, true)) out.told_by.push_back("unique");
  if (std::any_of(table.begin(), table.end(), [](const Row& r) { return r.key == kNoKey; }))
    out.told_by.push_back("not_null");
  for (int day = s.from; day <= s.to; ++day) {
    const double before = static_cast<double>(RowsOf(s.before, day)),
                 after = static_cast<double>(RowsOf(table, day));
    if (after > 1.5 * before || after < 0.5 * before) {
      out.told_by.push_back("row_count");
      break;
    }
  }
  if (Newest(table) < Newest(s.before)) out.told_by.push_back("freshness");

  const bool open = situation == Situation::kToday;
  if (twice)
    out.effect = Effect::kDuplicated;
  else if (lacks > 0 && open)
    out.effect = Effect::kOverwrittenOpen;
  else if (lacks > 0 && out.rows_after < out.rows_right)
    out.effect = Effect::kLost;
  else if (lacks > 0 || more > 0)
    out.effect = Effect::kKeptOld;
  return out;
}

std::vector<Simulated> SimulateAll() {
  std::vector<Simulated> out;
  for (const Situation s : Situations())
    for (const WayOfWriting w : WaysOfWriting()) out.push_back(Simulate(w, s));
  return out;
}

std::optional<WayOfWriting> WayOf(const Dataset& d) {
  switch (d.writes) {
    case Writes::kAppend: return WayOfWriting::kAppend;
    case Writes::kMerge: return WayOfWriting::kMerge;
    case Writes::kDeleteInsert:
      return KeyIsGrain(d) ? WayOfWriting::kDeleteInsertGrain : WayOfWriting::kDeleteInsert;
    case Writes::kDynamicOverwrite: return WayOfWriting::kDynamicOverwrite;
    case Writes::kReplace: return WayOfWriting::kReplace;
    case Writes::kWhole: return WayOfWriting::kWhole;
    default: return std::nullopt;
  }
}

}  // namespace backreach
