// Image and pre-image of every mapping.

#include <doctest/doctest.h>

#include <random>

#include "graph/reads.hpp"
#include "graph/reads_json.hpp"

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
