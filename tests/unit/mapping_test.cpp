// Image and pre-image of every mapping.

#include <doctest/doctest.h>

#include <random>

#include "graph/reads/reads.hpp"
#include "graph/reads/reads_json.hpp"

using namespace backreach;

static Instant At(const char* text) { return *ParseInstant(text, true); }

TEST_CASE("image and pre-image agree on every cell, for every mapping between grains and zones") {
  const char* grains[] = {"15 minutes", "hour", "6 hours", "day", "week", "month"};
  const char* zones[] = {"UTC", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"};
  const Reads mappings[] = {reads::Same{},
                            reads::Window{-1, 0, {}, false},
                            reads::Window{-7, -7, {}, false},
                            reads::Window{1, 1, Grain{Grain::Unit::kHour, 1}, false},
                            reads::Window{-2, 1, Grain{Grain::Unit::kDay, 1}, false},
                            reads::Previous{},
                            reads::ToDate{Grain::Unit::kMonth},
                            reads::ToDate{Grain::Unit::kWeek},
                            reads::All{},
                            reads::Following{},
                            reads::Period{Grain::Unit::kMonth, 0},
                            reads::Period{Grain::Unit::kWeek, -2},
                            reads::Fixed{*ParseDay("2026-03-05"), *ParseDay("2026-03-06")},
                            reads::Key{}};
  std::mt19937 random(7);
  std::size_t checked = 0;
  for (const char* cg : grains)
    for (const char* cz : zones)
      for (const char* pz : zones)
        for (const Reads& mapping : mappings) {
          const Layout child(Calendar(*ParseGrain(cg), Zone::Find(cz)));
          const Calendar parent(*ParseGrain("day"), Zone::Find(pz));
          const Layout parent_layout{parent};
          if (std::holds_alternative<reads::Key>(mapping) &&
              !child.blocks()[0].calendar.grain().bears_dates())
            continue;
          const Mapping m(mapping, TimeSide{&child, &child.blocks()[0].calendar, false},
                          TimeSide{&parent_layout, &parent, false}, At("2026-04-20T00:00Z"));
          for (int k = 0; k < 12; ++k) {
            const Instant x = At("2026-03-01T00:00Z") + static_cast<Instant>(random() % (20 * 96)) * 900;
            const SpanSet dirty(Span{x, x + 900 + static_cast<Instant>(random() % 40) * 900});
            const SpanSet region = m.Preimage(dirty);
            Instant at = child.Floor(x - 3 * kDay);
            for (int i = 0; i < 30; ++i) {
              const SpanSet cell(child.CellAt(at));
              CHECK_MESSAGE(m.Image(cell).Intersects(dirty) == region.Intersects(cell),
                            cg << " " << cz << " reads day " << pz << " " << FormatReads(mapping) << " cell "
                               << FormatInstant(at));
              at = child.Next(at);
              ++checked;
            }
          }
        }
  CHECK(checked > 100'000);
}

namespace {

// The meaning of a window, second by second: `t` plus n units on the clock of `zone`, in days that begin
// `starts_at` into the calendar's.
Instant Moved(const Calendar& cells, Civil c, const Grain& unit, std::int64_t n) {
  const bool months = unit.unit >= Grain::Unit::kMonth;
  if (!months) return cells.zone().FirstReach(c + n * (unit.unit == Grain::Unit::kWeek ? 7 : 1) * kDay);
  c -= cells.starts_at();
  const CivilDate d = CivilFromDays(FloorDiv(c, kDay));
  const std::int64_t all = d.year * 12LL + d.month - 1 + n * (unit.unit == Grain::Unit::kYear ? 12 : 1);
  const std::int64_t year = FloorDiv(all, 12);
  const int month = static_cast<int>(FloorMod(all, 12)) + 1;
  return cells.zone().FirstReach(DaysFromCivil(year, month, std::min(d.day, DaysInMonth(year, month))) *
                                     kDay +
                                 FloorMod(c, kDay) + cells.starts_at());
}

Span ReadOf(const Calendar& cells, Span cell, const Grain& unit, std::int64_t s, std::int64_t e) {
  Civil a = cells.zone().ToCivil(cell.start), b = cells.zone().ToCivil(cell.end),
        last = cells.zone().ToCivil(cell.end - 1);
  if (cells.follows_wall_clock()) {
    const std::int64_t k = cells.Index(cell.start);
    a = cells.CivilStart(k), b = cells.CivilStart(cells.Index(cell.end - 1) + 1), last = b - 1;
  }
  return {Moved(cells, a, unit, s), std::max(Moved(cells, b, unit, e), Moved(cells, last, unit, e) + 1)};
}

}  // namespace

TEST_CASE("a window in a unit that is coarser than the cell reads what every cell shifts to") {
  struct Place {
    const char* zone;
    const char* around;
  };
  const Place places[] = {{"UTC", "2024-02-25T00:00Z"},
                          {"UTC", "2026-02-25T00:00Z"},
                          {"America/New_York", "2026-03-05T00:00Z"},
                          {"America/New_York", "2026-10-29T00:00Z"},
                          {"Australia/Lord_Howe", "2026-04-01T00:00Z"},
                          {"America/Sao_Paulo", "2018-11-01T00:00Z"},
                          {"Pacific/Apia", "2011-12-27T00:00Z"}};
  const char* units[] = {"day", "week", "month", "year"};
  const std::int64_t shifts[][2] = {{-1, -1}, {0, 0}, {1, 1}, {-1, 0}, {-2, -1}};
  std::mt19937 random(11);
  std::size_t read = 0, empty = 0;
  for (const Place& place : places)
    for (const char* grain : {"15 minutes", "hour", "6 hours", "day", "week", "month"})
      for (const std::int64_t starts_at : {0, 6})
        for (const char* unit_name : units)
          for (const auto& [s, e] : shifts) {
            const Calendar cells(*ParseGrain(grain), Zone::Find(place.zone), starts_at * kHour);
            const Layout child{cells};
            const Grain unit = *ParseGrain(unit_name);
            const Mapping m(reads::Window{s, e, unit, false}, TimeSide{&child, &cells, false},
                            TimeSide{nullptr, &cells, false}, At("2026-12-01T00:00Z"));
            const Instant near = At(place.around) + static_cast<Instant>(random() % 8) * kDay;
            // What some cell reads there, a part of it, or much more.
            const Span own = ReadOf(cells, child.CellAt(near), unit, s, e);
            const Instant x = own.start + static_cast<Instant>(random() % 40) * 900 - 5 * kHour;
            const Span dirties[] = {
                {x, x + 900}, {x, x + 3 * kHour}, {own.end - 900, own.end}, {x, x + 30 * kDay}};
            for (const Span& d : dirties) {
              const SpanSet dirty(d), region = m.Preimage(dirty);
              Instant at = child.Floor(near - (grain[0] == 'm' ? 90 : 12) * kDay);
              for (int i = 0; i < 2400 && at < near + 50 * kDay; ++i) {
                const Span cell = child.CellAt(at), reads = ReadOf(cells, cell, unit, s, e);
                const bool overlaps = reads.start < d.end && reads.end > d.start;
                const SpanSet image = m.Image(SpanSet(cell));
                const bool right = region.Intersects(cell) == overlaps && image == SpanSet(reads);
                if (!right)
                  CHECK_MESSAGE(right, place.zone << " " << grain << " +" << starts_at << " [" << s << ", "
                                                  << e << "] " << unit_name << " cell " << FormatInstant(at)
                                                  << " reads " << FormatInstant(reads.start) << " .. "
                                                  << FormatInstant(reads.end));
                empty += reads.empty();
                read += overlaps;
                at = cell.end;
              }
            }
          }
  CHECK(read > 1'000);
  CHECK(empty == 0);
}

TEST_CASE("what many cells read is what each of them reads") {
  const Calendar cells(*ParseGrain("6 hours"), Zone::Find("America/New_York"));
  const Layout child{cells};
  const Grain month = *ParseGrain("month");
  const Mapping m(reads::Window{-1, -1, month, false}, TimeSide{&child, &cells, false},
                  TimeSide{nullptr, &cells, false}, At("2026-12-01T00:00Z"));
  for (const int length : {1, 3, 5, 9, 40, 200}) {
    const Instant start = child.Floor(At("2026-03-28T15:00Z"));
    SpanSet all;
    Instant at = start;
    for (int i = 0; i < length; ++i, at = child.Next(at))
      all.Add(SpanSet(ReadOf(cells, child.CellAt(at), month, -1, -1)));
    CHECK(m.Image(SpanSet(Span{start, at})) == all);
  }
}

TEST_CASE("a window into a table without grain counts back from the last complete unit before now") {
  const Calendar utc;
  const Mapping m(reads::Window{-6, 0, Grain{Grain::Unit::kDay, 1}, false}, TimeSide{nullptr, &utc, true},
                  TimeSide{nullptr, &utc, false}, At("2026-04-20T09:00Z"));
  CHECK(m.Image(SpanSet::All()) == SpanSet(Span{At("2026-04-13T00:00Z"), At("2026-04-20T00:00Z")}));
  CHECK(m.Preimage(SpanSet(Span{At("2026-04-12T00:00Z"), At("2026-04-13T00:00Z")})).empty());
  CHECK(m.Preimage(SpanSet(Span{At("2026-04-13T00:00Z"), At("2026-04-14T00:00Z")})).IsAll());
}

TEST_CASE("reads go to JSON and back") {
  const Reads all[] = {reads::Same{},
                       reads::Previous{},
                       reads::Key{},
                       reads::All{},
                       reads::Latest{},
                       reads::LatestThen{},
                       reads::ToDate{Grain::Unit::kQuarter},
                       reads::Window{-6, 0, {}, false},
                       reads::Window{1, 1, Grain{Grain::Unit::kHour, 1}, false},
                       reads::Window{-1, 0, Grain{Grain::Unit::kDay, 1}, true},
                       reads::Following{},
                       reads::Period{Grain::Unit::kMonth, -1},
                       reads::Fixed{*ParseDay("2026-01-01"), *ParseDay("2026-01-31")}};
  for (const Reads& r : all) CHECK(ReadsFromJson(*ReadsToJson(r)) == r);
  CHECK_FALSE(ReadsToJson(reads::Unknown{}));
  for (const char* bad : {"{}", "\"sometimes\"", "{\"window\": [1]}", "[", "3"})
    CHECK_FALSE(ReadsFromJson(bad));
  const auto list = ReadsListFromJson(R"(["same", {"period": "month", "offset": -1}, "same"])");
  CHECK(list == std::vector<Reads>{reads::Same{}, reads::Period{Grain::Unit::kMonth, -1}});
  CHECK(ReadsListToJson(list) == R"(["same",{"period":"month","offset":-1}])");
  CHECK_FALSE(ReadsFromJson(R"({"fixed": {"from": "2026-02-30", "to": "2026-03-01"}})"));
}
