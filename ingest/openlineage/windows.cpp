#include "ingest/openlineage/windows.hpp"

#include <fmt/format.h>

namespace backreach::openlineage {

namespace {

std::int64_t MonthOf(Civil t) {
  const CivilDate d = CivilFromDays(FloorDiv(t, kDay));
  return static_cast<std::int64_t>(d.year) * 12 + d.month - 1;
}
bool BeginsMonth(Civil t) { return FloorMod(t, kDay) == 0 && CivilFromDays(FloorDiv(t, kDay)).day == 1; }

std::int64_t SecondsOf(Cut unit) {
  return unit == Cut::kHour ? kHour : unit == Cut::kDay ? kDay : unit == Cut::kWeek ? 7 * kDay : 0;
}
std::int64_t MonthsOf(Cut unit) {
  return unit == Cut::kMonth ? 1 : unit == Cut::kQuarter ? 3 : unit == Cut::kYear ? 12 : 0;
}

// The difference in whole units, or nothing.
std::optional<std::int64_t> Units(Civil at, Civil base, Cut unit) {
  if (const std::int64_t months = MonthsOf(unit)) {
    if (!BeginsMonth(at) || !BeginsMonth(base)) return std::nullopt;
    const std::int64_t n = MonthOf(at) - MonthOf(base);
    return n % months == 0 ? std::optional(n / months) : std::nullopt;
  }
  const std::int64_t seconds = SecondsOf(unit);
  return seconds > 0 && (at - base) % seconds == 0 ? std::optional((at - base) / seconds) : std::nullopt;
}

}  // namespace

std::optional<Offset> OffsetOf(const Period& read, const Period& written) {
  if (read.from >= read.to || written.from >= written.to || written.gaps) return std::nullopt;
  const auto in = [&](Cut unit) -> std::optional<Offset> {
    const auto from = Units(read.from, written.from, unit), to = Units(read.to, written.to, unit);
    if (!from || !to) return std::nullopt;
    return Offset{*from, *to, unit};
  };
  if (const auto whole = in(written.cut)) return whole;
  if (read.gaps) {
    // Some cells of a stretch, as of a table that is cut more finely: the stretch in whole units of the
    // child.
    const std::int64_t seconds = SecondsOf(written.cut);
    if (seconds == 0) return std::nullopt;
    return Offset{FloorDiv(read.from - written.from, seconds), -FloorDiv(written.to - read.to, seconds),
                  written.cut};
  }
  for (const Cut unit : {Cut::kDay, Cut::kHour})
    if (const auto finer = in(unit)) return finer;
  return std::nullopt;
}

void Window::Add(const std::optional<Period>& read, const std::optional<Period>& written) {
  ++runs_;
  if (unlike_) return;
  const auto offset = read && written ? OffsetOf(*read, *written) : std::nullopt;
  if (!offset || (offset_ && *offset_ != *offset) || (written_ != Cut::kNone && written_ != written->cut)) {
    unlike_ = true;
    return;
  }
  offset_ = offset;
  written_ = written->cut;
  if (!first_)
    first_ = written->from;
  else if (*first_ != written->from)
    other_ = written->from;
}

std::string Window::Reads() const {
  if (unlike_ || !offset_ || !other_) return "";
  if (offset_->from == 0 && offset_->to == 0 && offset_->unit == written_) return "\"same\"";
  return fmt::format("{{\"window\":[{},{}],\"unit\":\"{}\"}}", offset_->from, offset_->to,
                     GrainOf(offset_->unit));
}

}  // namespace backreach::openlineage
