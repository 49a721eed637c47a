// The grain and zone of a dataset are those of the first fact that tells a grain; what that one leaves open
// is taken from whoever states it.

#include "graph/join/calendars.hpp"

#include <fmt/format.h>

#include <string>

#include "graph/base/error.hpp"

namespace backreach {

namespace {

int WeekStart(const std::string& text) {
  static constexpr const char* kDays[] = {"monday", "tuesday",  "wednesday", "thursday",
                                          "friday", "saturday", "sunday"};
  for (int i = 0; i < 7; ++i)
    if (text == kDays[i]) return i;
  return 0;
}

std::int64_t TimeOfDay(const std::string& text) {
  return text.size() < 5 ? 0 : std::stoi(text.substr(0, 2)) * kHour + std::stoi(text.substr(3, 2)) * kMinute;
}

}  // namespace

CalendarMaker::Stated CalendarMaker::Lay(const std::vector<const DatasetFact*>& facts, Dataset& d) {
  // The blocks of the first fact that tells a grain; single fields of a single block from whoever states
  // them.
  std::vector<PartitionFact> blocks;
  Stated stated;
  // A grain that was only seen in runs is no more than a guess where another source knows how the dataset is
  // written: a table that each run writes whole has runs of a day, too.
  bool written = false;
  for (const DatasetFact* fact : facts) written = written || fact->write.mode;
  for (const bool inferred : {false, true}) {
    for (const DatasetFact* fact : facts) {
      if (stated.grain || fact->grain_inferred != inferred || (inferred && written)) continue;
      if (fact->partitions.empty() || !fact->partitions.back().grain) continue;
      blocks = fact->partitions;
      stated.grain = stated.first = fact;
      d.grain_inferred = inferred;
    }
  }
  if (blocks.empty()) blocks.emplace_back();
  if (blocks.size() == 1) {
    for (const DatasetFact* fact : facts) {
      if (fact->partitions.size() != 1 || (fact->grain_inferred && fact != stated.grain)) continue;
      const PartitionFact& f = fact->partitions[0];
      if (!blocks[0].first && f.first) stated.first = fact;
      for (Text PartitionFact::*field :
           {&PartitionFact::timezone, &PartitionFact::starts_at, &PartitionFact::column,
            &PartitionFact::week_start, &PartitionFact::first, &PartitionFact::last,
            &PartitionFact::key_format})
        if (!(blocks[0].*field)) blocks[0].*field = f.*field;
    }
  }
  std::vector<Block> laid;
  d.zone_assumed = true;
  for (const PartitionFact& b : blocks) {
    const Zone* zone = b.timezone ? Zone::Find(*b.timezone) : nullptr;
    // Where the facts were taken the name was known: to go on in UTC would be another plan.
    if (b.timezone && !zone)
      throw Error(fmt::format("{}: error: its zone: {}\n  nothing was planned or changed", d.name,
                              Zone::WhyUnknown(*b.timezone)),
                  Status::kStore);
    if (zone) d.zone_assumed = false;
    Grain grain;
    if (b.grain) grain = ParseGrain(*b.grain).value_or(Grain{});
    d.calendar =
        Calendar(grain.none() ? Grain{Grain::Unit::kDay, 1} : grain, zone ? zone : Zone::Utc(),
                 b.starts_at ? TimeOfDay(*b.starts_at) : 0, b.week_start ? WeekStart(*b.week_start) : 0);
    if (b.grain) d.grain = grain;
    if (b.column) d.column = *b.column;
    if (b.key_format) d.key_format = *b.key_format;
    if (b.grain && !grain.none()) laid.push_back({d.calendar, kMinInstant, kMaxInstant});
    const auto date = [&](const Text& text) {
      return text ? ParseDate(*text, d.calendar).span : std::nullopt;
    };
    if (const auto from = date(b.from); from && !laid.empty()) laid.back().from = from->start;
    if (const auto until = date(b.until); until && !laid.empty()) laid.back().until = until->start;
    if (const auto first = date(b.first)) {
      if (d.first_text.empty()) d.first_text = *b.first;
      if (d.first == kMinInstant) d.first = laid.empty() ? first->start : d.calendar.Floor(first->start);
    }
    if (const auto last = date(b.last)) {
      d.last_text = *b.last;
      d.last_end = laid.empty() ? last->end : d.calendar.Next(last->end - 1);
    }
  }
  // Blocks without a seam of their own take the neighbour's; the first one reaches back, the last one
  // ahead.
  for (std::size_t i = 0; i + 1 < laid.size(); ++i) {
    if (laid[i].until == kMaxInstant) laid[i].until = laid[i + 1].from;
    if (laid[i + 1].from == kMinInstant) laid[i + 1].from = laid[i].until;
  }
  if (laid.empty()) return stated;
  if (laid.front().from != kMinInstant) {
    if (laid.size() > 1 && d.first == kMinInstant) d.first = laid.front().from;
    laid.front().from = kMinInstant;
  }
  if (laid.back().until != kMaxInstant) {
    if (d.last_end == kMaxInstant) d.last_end = laid.back().until;
    laid.back().until = kMaxInstant;
  }
  const Layout layout = laid.size() == 1 ? Layout(laid[0].calendar) : Layout(std::move(laid));
  for (const auto& known : layouts_)
    if (*known == layout) d.layout = known;
  if (!d.layout) layouts_.push_back(d.layout = std::make_shared<const Layout>(layout));
  return stated;
}

}  // namespace backreach
