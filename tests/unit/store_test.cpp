// The store: what is written is read, older layouts, damage, locks.

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "graph/error.hpp"
#include "graph/store/schema.hpp"
#include "graph/store/store.hpp"

using namespace backreach;

namespace {

struct Place2 {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("backreach-store-" + std::to_string(std::rand()) +
                                                std::to_string(reinterpret_cast<std::uintptr_t>(this)));
  Place2() { std::filesystem::create_directories(folder); }
  ~Place2() { std::filesystem::remove_all(folder); }
  std::string path() const { return (folder / "sub" / "g.db").string(); }
};

SourceFacts Sample(const std::string& kind, const std::string& key, int datasets) {
  SourceFacts s{{kind, key, key, "sha-" + key + std::to_string(datasets), "2026-01-01T00:00:00Z"}, {}};
  for (int i = 0; i < datasets; ++i) {
    DatasetFact d;
    d.name = key + std::to_string(i);
    d.aliases = {"a\"b", "c"};
    d.write.key = {"id"};
    d.write.key_given = true;
    d.proven_unique = i % 2 == 0 ? std::optional<bool>(false) : std::nullopt;
    d.dimensions["region"] = {"eu", "us"};
    d.partitions.push_back({"day", "UTC", {}, {}, {}, "2026-01-01", {}, {}, {}, {}});
    d.findings.push_back({"side-effects", "sends", {{"x", "y"}}, {"f", "/p"}});
    s.facts.datasets.push_back(d);
    EdgeFact e;
    e.from = d.name, e.to = "z", e.reads = "\"same\"";
    s.facts.edges.push_back(e);
  }
  CopyFact c;
  c.id = key + "-copy", c.of = {"z"}, c.holds = HoldsFact{false, "2026-01-01", "2026-01-31", {}};
  c.refresh = RefreshFact{"0 6 * * *", {}, "append", HoldsFact{false, {}, {}, "1d"}};
  s.facts.copies.push_back(c);
  return s;
}

void Sql(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  REQUIRE(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(db);
}

}  // namespace

TEST_CASE("what goes into the store comes out again, source by source") {
  const Place2 place;
  {
    Store store = Store::OpenForWriting(place.path());
    CHECK(store.Replace({Sample("dbt", "shop", 3), Sample("registry", "r.yml", 1)}) == 2);
    CHECK(store.Replace({Sample("dbt", "shop", 3)}) == 0);  // the same content writes no row
    CHECK(store.Replace({Sample("dbt", "shop", 2)}) == 1);  // and another replaces this source alone
  }
  const Store store = Store::OpenForReading(place.path());
  const auto loaded = store.Load();
  REQUIRE(loaded.size() == 2);
  CHECK(loaded[0].source.kind == "dbt");
  CHECK(loaded[0].facts.datasets.size() == 2);
  CHECK(loaded[1].facts.datasets.size() == 1);
  const DatasetFact &got = loaded[0].facts.datasets[1], want = Sample("dbt", "shop", 2).facts.datasets[1];
  CHECK(got.name == want.name);
  CHECK(got.aliases == want.aliases);
  CHECK(got.partitions == want.partitions);
  CHECK(got.dimensions == want.dimensions);
  CHECK(got.proven_unique == want.proven_unique);
  CHECK(got.findings[0].data == want.findings[0].data);
  CHECK(loaded[0].facts.copies[0].refresh->holds->last == "1d");
  CHECK(store.Check().empty());
}

TEST_CASE(
    "a store that is not there, damaged, somebody else's, empty or too new is refused, and left as it is") {
  const Place2 place;
  const auto status = [&](const std::string& path) {
    try {
      Store::OpenForReading(path).Load();
    } catch (const Error& e) {
      return static_cast<int>(e.status());
    }
    return 0;
  };
  CHECK(status(place.path()) == 3);
  CHECK_FALSE(std::filesystem::exists(place.path()));
  std::filesystem::create_directories(place.folder / "sub");
  std::ofstream(place.path()) << "this is no database, but a text long enough to be taken for one by nobody";
  CHECK(status(place.path()) == 3);
  std::filesystem::remove(place.path());
  Sql(place.path(), "create table mine (x)");
  CHECK(status(place.path()) == 3);
  CHECK_THROWS_AS(Store::OpenForWriting(place.path()), Error);
  std::filesystem::remove(place.path());
  Store::OpenForWriting(place.path()).Replace({Sample("dbt", "shop", 1)});
  Sql(place.path(), "pragma user_version = 99");
  CHECK(status(place.path()) == 3);
}

TEST_CASE("rows that somebody changed by hand are noticed") {
  const Place2 place;
  Store::OpenForWriting(place.path()).Replace({Sample("dbt", "shop", 2)});
  Sql(place.path(), "update dataset set owner = 'me' where name = 'shop0'");
  CHECK_THROWS_WITH(Store::OpenForReading(place.path()).Load(), doctest::Contains("dbt:shop"));
  CHECK_FALSE(Store::OpenForReading(place.path()).Check().empty());
}

TEST_CASE("every older layout is brought up to date with what it holds") {
  for (std::size_t layout = 0; layout <= LayoutScripts().size(); ++layout) {
    const Place2 place;
    std::filesystem::create_directories(place.folder / "sub");
    for (std::size_t i = 0; i < layout; ++i) Sql(place.path(), LayoutScripts()[i]);
    if (layout > 0)
      Sql(place.path(), "pragma application_id = " + std::to_string(kApplicationId) +
                            "; pragma user_version = " + std::to_string(layout));
    Store store = Store::OpenForWriting(place.path());
    CHECK(store.layout() == NewestLayout());
    CHECK(store.Replace({Sample("dbt", "shop", 1)}) == 1);
    CHECK(store.Load().size() == 1);
  }
}
