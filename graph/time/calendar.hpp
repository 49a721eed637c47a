// Grains and calendars: how a dataset is cut in time. The only place with date arithmetic on partitions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/time/span.hpp"
#include "graph/time/time.hpp"

namespace backreach {

// A grain is a number of units; kNone is "known to have none". `6 hours`, `15 minutes`, `day`, ...
struct Grain {
  enum class Unit { kNone, kMinutes, kHour, kHours, kDay, kWeek, kMonth, kQuarter, kYear };
  Unit unit = Unit::kNone;
  int count = 1;  // for kMinutes and kHours
  bool none() const { return unit == Unit::kNone; }
  // Cells of days and longer bear dates; shorter ones bear times.
  bool bears_dates() const { return unit >= Unit::kDay; }
  friend bool operator==(const Grain&, const Grain&) = default;
};

// `hour`, `day`, `6 hours`, `15 minutes`, `none`, ...; on failure `why` says what to declare instead.
std::optional<Grain> ParseGrain(std::string_view text, std::string* why = nullptr);
std::string FormatGrain(const Grain& grain);
// "1 day", "31 days", "3 cells of 6 hours", "1 table".
std::string CountOf(std::int64_t n, const Grain& grain);

struct ElapsedTable;

// How one grain cuts the time of one zone. Cells are numbered; a cell that the clocks leave out (a date that
// does not exist) has a number and no length, and is never returned or counted.
class Calendar {
 public:
  Calendar() : Calendar(Grain{Grain::Unit::kDay, 1}, Zone::Utc()) {}
  // `starts_at`: seconds into the day (0..86399); `week_start`: 0 is Monday.
  Calendar(Grain grain, const Zone* zone, std::int64_t starts_at = 0, int week_start = 0);

  const Grain& grain() const { return grain_; }
  const Zone& zone() const { return *zone_; }
  std::int64_t starts_at() const { return starts_at_; }
  int week_start() const { return week_start_; }

  // The number of the cell that holds `t`, and the first instant of cell `k`.
  std::int64_t Index(Instant t) const;
  Instant Start(std::int64_t k) const;
  // The start of the cell that holds `t`; the first boundary at or after `t`; the first one after `t`.
  Instant Floor(Instant t) const;
  Instant Ceil(Instant t) const;
  Instant Next(Instant t) const;
  // How many cells overlap [start, end), which is finite; in closed form.
  std::int64_t Count(Span span) const;
  // The wall-clock time that cell `k` is named after, without `starts_at` for days and longer.
  Civil Nominal(std::int64_t k) const;
  // The wall-clock time at which cell `k` begins by its calendar, whether the clocks show it or not; and the
  // number of the cell that holds a wall-clock time. For grains that follow the wall clock (not minutes,
  // hour).
  Civil CivilStart(std::int64_t k) const;
  std::int64_t CivilIndex(Civil c) const;
  bool follows_wall_clock() const { return table_ == nullptr; }
  // The key of the cell that holds `t`: `2026-03-01T05`, `2026-03-01`, `2026-Q1`, ...
  std::string Key(Instant t) const;

  friend bool operator==(const Calendar& a, const Calendar& b) {
    return a.grain_ == b.grain_ && a.zone_ == b.zone_ && a.starts_at_ == b.starts_at_ &&
           a.week_start_ == b.week_start_;
  }

 private:
  bool elapsed() const { return table_ != nullptr; }

  Grain grain_;
  const Zone* zone_;
  std::int64_t starts_at_;
  int week_start_;
  const ElapsedTable* table_ = nullptr;  // for minutes and hours, which elapse
};

// A dataset's calendar over all of its history: usually one block, several where its grain changed.
struct Block {
  Calendar calendar;
  Instant from = kMinInstant;   // this block's cells begin here
  Instant until = kMaxInstant;  // and the last one is cut here
  friend bool operator==(const Block&, const Block&) = default;
};

class Layout {
 public:
  explicit Layout(Calendar calendar) : blocks_{Block{std::move(calendar), kMinInstant, kMaxInstant}} {}
  explicit Layout(std::vector<Block> blocks) : blocks_(std::move(blocks)) {}

  const std::vector<Block>& blocks() const { return blocks_; }
  bool single() const { return blocks_.size() == 1; }
  const Block& BlockAt(Instant t) const;
  const Zone& zone() const { return blocks_.back().calendar.zone(); }

  Instant Floor(Instant t) const;
  Instant Ceil(Instant t) const;
  Instant Next(Instant t) const;
  Span CellAt(Instant t) const { return {Floor(t), Next(t)}; }
  // The cells that overlap the set, as spans.
  SpanSet AlignOut(const SpanSet& set) const;
  std::int64_t Count(const SpanSet& set) const;
  std::string Key(Instant t) const { return BlockAt(t).calendar.Key(t); }

  friend bool operator==(const Layout&, const Layout&) = default;

 private:
  std::vector<Block> blocks_;
};

// What a person wrote as a date, read on a calendar: what it names, which is several stretches where the
// clocks show it twice, and from the first to the last of them.
struct DateResult {
  std::optional<Span> span;
  SpanSet spans;
  std::string error;  // why not, in our words
};
DateResult ParseDate(std::string_view text, const Calendar& calendar);

// `2026-03-01` for an instant that is a midnight of the zone, else `2026-03-01T05:00`.
std::string FormatCivilInstant(Instant t, const Zone& zone);

}  // namespace backreach
