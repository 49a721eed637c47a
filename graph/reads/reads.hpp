// What a partition of a child reads of a parent: the mapping on an edge, and its two directions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "graph/time/calendar.hpp"
#include "graph/time/span.hpp"

namespace backreach {

namespace reads {
struct Unknown {
  friend bool operator==(const Unknown&, const Unknown&) = default;
};
struct Same {
  friend bool operator==(const Same&, const Same&) = default;
};
struct Key {
  friend bool operator==(const Key&, const Key&) = default;
};
struct Previous {
  friend bool operator==(const Previous&, const Previous&) = default;
};
// Everything from the cell's start on.
struct Following {
  friend bool operator==(const Following&, const Following&) = default;
};
struct All {
  friend bool operator==(const All&, const All&) = default;
};
struct Latest {
  friend bool operator==(const Latest&, const Latest&) = default;
};
struct LatestThen {
  friend bool operator==(const LatestThen&, const LatestThen&) = default;
};
// [a + start units, b + end units) of a cell [a, b), and at least what its last second shifts to; the unit is
// the child's grain where it is not given.
struct Window {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::optional<Grain> unit;
  bool by_key = false;  // by dates of the parent's own calendar, not by instants
  friend bool operator==(const Window&, const Window&) = default;
};
// From the start of the calendar period that holds the cell's start up to the cell's end.
struct ToDate {
  Grain::Unit period = Grain::Unit::kMonth;  // kWeek, kMonth, kQuarter or kYear
  friend bool operator==(const ToDate&, const ToDate&) = default;
};
// The calendar periods that the cell lies in, whole, moved by so many of them.
struct Period {
  Grain::Unit unit = Grain::Unit::kMonth;  // kWeek, kMonth, kQuarter or kYear
  std::int64_t offset = 0;
  friend bool operator==(const Period&, const Period&) = default;
};
// Certain days of the parent, whatever the cell: days since 1970, both included.
struct Fixed {
  std::int64_t from = 0, to = 0;
  friend bool operator==(const Fixed&, const Fixed&) = default;
};
}  // namespace reads

using Reads =
    std::variant<reads::Unknown, reads::Same, reads::Window, reads::ToDate, reads::Previous, reads::Key,
                 reads::All, reads::Latest, reads::LatestThen, reads::Following, reads::Period, reads::Fixed>;

// "same", "window [-6, 0] day", "to_date year", ...
std::string FormatReads(const Reads& reads);
// A day since 1970 as `2026-03-01`, and back.
std::string FormatDay(std::int64_t day);
std::optional<std::int64_t> ParseDay(std::string_view text);

// One end of an edge, as far as time is concerned.
struct TimeSide {
  const Layout* layout = nullptr;      // null: no grain (then the calendar below serves for units and dates)
  const Calendar* calendar = nullptr;  // zone, starts_at, week start; never null
  bool whole = false;                  // a stored table without grain: one cell, which has no dates
  bool rows = false;                   // judged instant by instant: cells of a second (row_time)
};

// A mapping between two given ends, for every `reads` but `latest` and `latest_then` (see latest.hpp). A cell
// [a, b) reads [f(a), g(b)) of the parent. f and g do not decrease, but where a shift by months meets cells
// shorter than a day, or a shift by days a repeated hour: there they are taken piece by piece.
class Mapping {
 public:
  // `now`: what a window into a table without grain counts back from.
  Mapping(const Reads& reads, TimeSide child, TimeSide parent, Instant now);

  // What the cells in `cells` read of the parent.
  SpanSet Image(const SpanSet& cells) const;
  // Where a cell of the child must lie to read something of `dirty`: every cell that overlaps the answer
  // does, and no other.
  SpanSet Preimage(const SpanSet& dirty) const;

 private:
  struct Shift {
    enum class Kind { kElapsed, kCivil, kMonths } kind = Kind::kElapsed;
    std::int64_t n = 0;
  };
  enum class Form { kSame, kShift, kToDate, kPrevious, kFollowing, kPeriod, kAll, kFixed };
  // What a block of the child is made of: any stretch (views); cells of a calendar that follows the wall
  // clock, mapped by their numbers; or cells over which the shift goes back in places.
  enum class Cells { kStretches, kNumbered, kPieces };

  struct Part {  // one block of the child, or all of it
    Cells cells = Cells::kStretches;
    const Calendar* calendar = nullptr;  // null: stretches, or cells of a second
    Shift low, high;
    Instant from = kMinInstant, until = kMaxInstant;
    std::int64_t day_start = 0;  // months are added to days that begin this far into the calendar's
    bool Numbered() const { return calendar && calendar->follows_wall_clock(); }
  };
  void AddPart(const TimeSide& child, const Block* block, Shift low, Shift high);
  Shift ShiftOf(const Grain& unit, std::int64_t n) const;
  Civil Shifted(const Part& part, Civil c, const Shift& shift) const;
  Instant ToParent(Civil c) const { return to_->FirstReach(IsFinite(c) ? c + to_add_ : c); }
  Instant F(const Part& part, Instant u) const;
  Instant G(const Part& part, Instant w) const;
  Span Inverse(const Part& part, Span dirty) const;
  Instant FirstBeyond(const Part& part, Instant end) const;
  Instant LastBefore(const Part& part, Instant start) const;
  std::int64_t LeastNumber(const Part& part, const Shift& shift, std::int64_t back, Civil bound) const;

  std::int64_t NumberAt(const Part& part, Instant t) const;
  Instant StartOf(const Part& part, std::int64_t k) const;
  Span ReadOf(const Part& part, std::int64_t k) const;
  std::int64_t PieceEnd(const Part& part, std::int64_t k) const;
  template <typename Do>
  Span NearEnds(const Part& part, Span span, Do piece) const;
  void InvertPieces(const Part& part, Span dirty, std::vector<Span>& out) const;
  void InvertPiece(const Part& part, std::int64_t first, std::int64_t end, Span dirty,
                   std::vector<Span>& out) const;
  void ReadPieces(const Part& part, Span cells, std::vector<Span>& out) const;

  Form form_ = Form::kSame;
  const Zone* from_ = nullptr;  // whose clock the shift is made on
  const Zone* to_ = nullptr;    // whose clock the result is read on
  std::int64_t to_add_ = 0;
  bool last_second_ = false;  // the end is at least what the last second shifts to
  std::vector<Part> parts_;
  std::optional<Calendar> period_;
  std::int64_t periods_ = 0;  // that a period is moved by
  Span fixed_;
};

}  // namespace backreach
