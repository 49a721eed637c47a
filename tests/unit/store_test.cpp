// The store: what is written is read, older layouts, damage, locks.

#include <doctest/doctest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "graph/base/error.hpp"
#include "graph/join/builder.hpp"
#include "graph/selection/packed_nodes.hpp"
#include "graph/store/blocks.hpp"
#include "graph/store/sqlite/new_file.hpp"
#include "graph/store/database/schema.hpp"
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

std::int64_t Number(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  sqlite3_stmt* q = nullptr;
  REQUIRE(sqlite3_prepare_v2(db, sql.c_str(), -1, &q, nullptr) == SQLITE_OK);
  REQUIRE(sqlite3_step(q) == SQLITE_ROW);
  const std::int64_t out = sqlite3_column_int64(q, 0);
  sqlite3_finalize(q);
  sqlite3_close(db);
  return out;
}

std::string BytesOf(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

SourceFacts At(SourceFacts facts, const std::string& moment, const std::string& sha256 = "") {
  facts.source.ingested_at = moment;
  if (!sha256.empty()) facts.source.sha256 = sha256;
  return facts;
}

Instant Moment(const char* text) { return *ParseInstant(text, true); }

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

TEST_CASE("facts that somebody changed by hand are noticed") {
  const Place2 place;
  Store::OpenForWriting(place.path()).Replace({Sample("dbt", "shop", 2)});
  Sql(place.path(),
      "update block set bytes = cast(substr(bytes, 1, length(bytes) - 1) || x'01' as blob) where id = "
      "(select block from content where part = 'dataset')");
  CHECK_THROWS_WITH(Store::OpenForReading(place.path()).Load(), doctest::Contains("dbt:shop"));
  CHECK_FALSE(Store::OpenForReading(place.path()).Check().empty());
  // The remedy must not need what is broken.
  Store store = Store::OpenForWriting(place.path());
  CHECK(store.LoadReadable("dbt").size() == 1);
  CHECK(store.LoadReadable("dbt")[0].facts.datasets.empty());
  CHECK(store.LoadReadable("registry").empty());
  CHECK(store.Replace({Sample("dbt", "shop", 2)}) == 1);  // the same source, but not what is there
  CHECK(store.Load()[0].facts.datasets.size() == 2);
  CHECK(store.Replace({Sample("dbt", "shop", 2)}) == 0);
}

TEST_CASE("a store of layouts 1 to 3 keeps its sources, and says which to ingest again") {
  for (const int layout : {1, 2, 3}) {
    const Place2 place;
    std::filesystem::create_directories(place.folder / "sub");
    Sql(place.path(),
        "create table source (id integer primary key, kind text, name text, key text, sha256 text, "
        "ingested_at text, rows_hash text);"
        "create table dataset (source integer references source (id) on delete cascade, n integer, name "
        "text);"
        "insert into source values (1, 'dbt', 'shop', 'shop', 'sha-shop1', '2026-01-01', 'f00'), "
        "(7, 'registry', 'r.yml', '/r.yml', 'x', '2026-01-01', 'f00');"
        "insert into dataset values (1, 0, 'a'), (7, 0, 'b');"
        "pragma application_id = " +
            std::to_string(kApplicationId) + "; pragma user_version = " + std::to_string(layout));
    CHECK_THROWS_WITH(Store::OpenForReading(place.path()), doctest::Contains("older backreach"));
    Store store = Store::OpenForWriting(place.path());
    CHECK(store.layout() == kLayout);
    CHECK_THROWS_WITH(store.Load(), doctest::Contains("what dbt:shop and registry:r.yml said"));
    CHECK(Number(place.path(), "select count(*) from older_dataset") == 2);  // nothing is dropped
    CHECK(store.Replace({Sample("dbt", "shop", 1)}) == 1);
    CHECK_THROWS_WITH(store.Load(), doctest::Contains("what registry:r.yml said"));
    CHECK_THROWS_WITH(store.Load(), doctest::Contains("ingest it again: backreach ingest registry /r.yml"));
    CHECK(store.LoadReadable("registry").size() ==
          1);  // who ingests a registry looks for names in the others
    CHECK(store.LoadReadable("registry")[0].facts.datasets.empty());
    CHECK(store.Replace({Sample("registry", "/r.yml", 1)}) == 1);
    CHECK(store.Load().size() == 2);
    CHECK(store.Check().empty());
    CHECK(Number(place.path(), "select count(*) from sqlite_master where name glob 'older_*'") == 0);
  }
}

TEST_CASE("many facts fill many blocks, and a block that is gone is noticed") {
  const Place2 place;
  SourceFacts big = Sample("dbt", "shop", 3000);
  for (int i = 0; i < 3000; ++i)
    big.facts.checks.push_back({"c" + std::to_string(i),
                                "shop0",
                                "unique",
                                {"id"},
                                i % 2 == 0,
                                i % 3 == 0,
                                i % 5 == 0,
                                i % 7 == 0 ? Text("pass") : Text(),
                                {"m.json", "/nodes"}});
  Store::OpenForWriting(place.path()).Replace({big});
  const auto loaded = Store::OpenForReading(place.path()).Load();
  REQUIRE(loaded[0].facts.datasets.size() == 3000);
  REQUIRE(loaded[0].facts.checks.size() == 3000);
  bool same = true;
  for (std::size_t i = 0; i < 3000; ++i) {
    const CheckFact &got = loaded[0].facts.checks[i], &want = big.facts.checks[i];
    same = same && got.id == want.id && got.dataset == want.dataset && got.at == want.at &&
           got.covers_all_rows == want.covers_all_rows && got.fails_run == want.fails_run &&
           got.enabled == want.enabled && got.last_status == want.last_status &&
           loaded[0].facts.datasets[i].name == big.facts.datasets[i].name &&
           loaded[0].facts.datasets[i].proven_unique == big.facts.datasets[i].proven_unique;
  }
  CHECK(same);
  Sql(place.path(),
      "delete from content where part = 'check' and n = (select max(n) from content where part = 'check')");
  CHECK_THROWS_WITH(Store::OpenForReading(place.path()).Load(),
                    doctest::Contains("ingest this source again"));
}

TEST_CASE("two first ingests at once both end up in the store, and nothing is left beside it") {
  const Place2 place;
  Store a = Store::OpenForWriting(place.path()), b = Store::OpenForWriting(place.path());
  CHECK(a.Load().empty());
  CHECK(a.Sources().empty());
  CHECK_FALSE(std::filesystem::exists(place.path()));
  const std::string left = place.path() + ".new-0123456789abcdef", unrelated = place.path() + ".new-mine";
  for (const std::string& name : {left, left + "-wal", unrelated})
    std::ofstream(name) << "left over by a process that was killed";
  CHECK(a.Replace({Sample("dbt", "shop", 3)}) == 1);
  CHECK(b.Replace({Sample("registry", "r.yml", 1)}) == 1);  // found a's store in its place
  CHECK(a.Replace({Sample("dbt", "shop", 2)}) == 1);
  CHECK(a.Replace({Sample("dbt", "shop", 2)}) == 0);
  const auto loaded = Store::OpenForReading(place.path()).Load(true);
  REQUIRE(loaded.size() == 2);
  CHECK(loaded[0].facts.datasets.size() == 2);
  CHECK(Store::OpenForReading(place.path()).Check().empty());
  REQUIRE(Store::OpenForReading(place.path()).Notes().size() == 1);
  CHECK(Store::OpenForReading(place.path()).Notes()[0].find("left behind by an ingest that was killed") !=
        std::string::npos);
  {
    const NewFile alive(place.path());  // of an ingest that still runs
    CHECK(FindLeftovers(place.path()).alive == std::vector<std::string>{alive.name()});
    Store::OpenForWriting(place.path());
    CHECK(FindLeftovers(place.path()).alive.size() == 1);
    CHECK(FindLeftovers(place.path()).dead.empty());
  }
  std::size_t files = 0;
  std::string names;
  for (const auto& entry : std::filesystem::directory_iterator(place.folder / "sub"))
    if (const std::string name = entry.path().filename().string(); name.find(".new") != std::string::npos) {
      ++files;
      names += name + " ";
    }
  CHECK_MESSAGE(files == 1, names);  // what is not ours
}

TEST_CASE("blocks give back every field, and a damaged one is refused or read, and nothing worse") {
  std::vector<JobFact> jobs(2);
  jobs[0].name = "nightly", jobs[0].orchestrator = "airflow";
  ScheduleFact& schedule = jobs[0].schedule.emplace();
  schedule.type = "cron", schedule.cron = "0 6 * * *", schedule.timezone = "Europe/Berlin";
  schedule.covers = "1 day", schedule.on = {"a", "b"}, schedule.max_runs = 4, schedule.covers_declared = true;
  jobs[0].reads = {"a", ""}, jobs[0].slots = -3, jobs[0].seconds_per_cell = 0.25, jobs[0].separable = false;
  jobs[0].findings = {{"side-effects", "mails", {{"who", "x"}, {"y", ""}}, {"dag.json", "/dag/1"}}};
  jobs[0].methods = {{"airflow", "dag.task"}}, jobs[0].at = {"dag.json", "/dag"};
  jobs[1].name = "nightly", jobs[1].orchestrator = "", jobs[1].slots = std::int64_t{1} << 62;
  jobs[1].sequential = true, jobs[1].at = {"dag.json", "/dag"};
  std::string packed;
  PackList(jobs, [&](std::size_t facts, std::string_view bytes) {
    CHECK(facts == 2);
    packed = bytes;
  });
  std::vector<JobFact> back;
  UnpackBlock(packed, "damaged", back);
  REQUIRE(back.size() == 2);
  CHECK(back[0].schedule->covers == "1 day");
  CHECK(back[0].schedule->timezone == "Europe/Berlin");
  CHECK_FALSE(back[0].schedule->rewrites);
  CHECK(back[0].schedule->max_runs == 4);
  CHECK(back[0].schedule->covers_declared);
  CHECK(back[0].schedule->on == jobs[0].schedule->on);
  CHECK(back[0].reads == jobs[0].reads);
  CHECK(back[0].slots == -3);
  CHECK(back[0].seconds_per_cell == 0.25);
  CHECK(back[0].separable == false);
  CHECK(back[0].findings[0].data == jobs[0].findings[0].data);
  CHECK(back[0].findings[0].at == jobs[0].findings[0].at);
  CHECK(back[0].methods == jobs[0].methods);
  CHECK(back[1].name == "nightly");
  CHECK(back[1].orchestrator == "");
  CHECK_FALSE(back[1].schedule);
  CHECK_FALSE(back[1].separable);
  CHECK(back[1].slots == std::int64_t{1} << 62);
  CHECK(back[1].sequential);
  CHECK(back[1].at == jobs[0].at);
  std::size_t refused = 0;
  const auto attempt = [&](const std::string& bytes) {
    std::vector<JobFact> read;
    try {
      UnpackBlock(bytes, "damaged", read);
    } catch (const Error& e) {
      CHECK(e.status() == Status::kStore);
      ++refused;
    }
  };
  for (std::size_t n = 1; n < packed.size(); ++n) attempt(packed.substr(0, n));
  CHECK(refused >= packed.size() - 2);  // but for the end of the first fact every cut is one too early
  for (std::size_t i = 0; i < packed.size(); ++i)
    for (const int bit : {0, 3, 7}) {
      std::string changed = packed;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      attempt(changed);
    }
}

TEST_CASE("packed nodes give back what was packed, and damaged ones are refused") {
  NodePacker packer;
  for (int i = 0; i < 3000; ++i) {
    const std::string name = "m" + std::to_string(i);
    packer.Begin("model.shop." + name, "model");
    packer.Put(NodePacker::Field::kName, name);
    packer.Put(NodePacker::Field::kFqn, "shop");
    packer.Put(NodePacker::Field::kFqn, name);
    packer.PutMore("body", std::string(16, static_cast<char>(i)));
    packer.BeginConfig();
    packer.PutConfig("materialized", i % 2 == 0 ? "table" : "view");
    packer.PutConfigName("tags");
    packer.PutConfig("meta.owner", "team " + std::to_string(i % 7));
    packer.EndConfig();
  }
  const PackedNodes packed = packer.Take();
  CHECK(packed.nodes.size() > 1);
  const std::vector<NodeFact> back = Unpack(packed);
  REQUIRE(back.size() == 3000);
  bool same = true;
  for (int i = 0; i < 3000; ++i) {
    const NodeFact& n = back[static_cast<std::size_t>(i)];
    const std::string name = "m" + std::to_string(i);
    same = same && n.id == "model.shop." + name && n.type == "model" && n.name == name &&
           n.fqn == std::vector<std::string>{"shop", name} &&
           n.more.at("body") == std::string(16, static_cast<char>(i)) &&
           n.config.at("materialized") == std::vector<std::string>{i % 2 == 0 ? "table" : "view"} &&
           n.config.at("tags").empty() && n.config.at("meta.owner")[0] == "team " + std::to_string(i % 7);
  }
  CHECK(same);
  PackedNodes cut;
  std::size_t refused = 0;
  for (std::size_t n = 1; n < 200; ++n) {
    cut.nodes = {packed.nodes[0].substr(0, n)};
    try {
      const std::size_t nodes = Unpack(cut).size();
      CHECK(nodes <= n);
    } catch (const Error& e) {
      CHECK(e.status() == Status::kStore);
      ++refused;
    }
  }
  CHECK(refused > 190);
}

TEST_CASE("each ingest is a version, and what the store held can be asked for") {
  const Place2 place;
  Store store = Store::OpenForWriting(place.path());
  store.Replace({At(Sample("dbt", "shop", 2), "2026-01-01T10:00:00Z", "a")});
  store.Replace({At(Sample("registry", "r.yml", 1), "2026-01-02T10:00:00Z")});
  store.Replace({At(Sample("dbt", "shop", 3), "2026-01-03T10:00:00Z", "b")});
  store.Replace({At(Sample("dbt", "shop", 2), "2026-01-04T10:00:00Z", "a")});  // as it was before
  const auto datasets = [&](const char* moment) {
    std::vector<std::size_t> out;
    for (const SourceFacts& s : store.Load(false, Moment(moment))) out.push_back(s.facts.datasets.size());
    return out;
  };
  using Counts = std::vector<std::size_t>;
  CHECK(datasets("2026-01-01T10:00:00Z") == Counts{2});
  CHECK(datasets("2026-01-02T10:00:00Z") == Counts{2, 1});
  CHECK(datasets("2026-01-03T10:00:00Z") == Counts{3, 1});
  CHECK(datasets("2027-01-01T00:00:00Z") == Counts{2, 1});
  CHECK_THROWS_WITH(store.Load(false, Moment("2026-01-01T09:59:59Z")),
                    doctest::Contains("first source was ingested at 2026-01-01T10:00:00Z"));
  REQUIRE(store.History().size() == 2);
  CHECK(store.History()[0].versions.size() == 3);
  CHECK(store.History()[0].versions[2].number == 3);

  // What was replaced before the moment goes, what was the newest then stays.
  CHECK(store.ForgetBefore(Moment("2026-01-03T09:00:00Z")) == 0);
  CHECK(store.ForgetBefore(Moment("2026-01-03T11:00:00Z")) == 1);
  CHECK(store.ForgetBefore(Moment("2026-01-03T11:00:00Z")) == 0);
  CHECK(datasets("2026-01-03T10:00:00Z") == Counts{3, 1});
  CHECK_THROWS_WITH(store.Load(false, Moment("2026-01-02T10:00:00Z")), doctest::Contains("was forgotten"));
  CHECK(store.ForgetBefore(Moment("2030-01-01T00:00:00Z")) == 1);
  CHECK(store.Load().size() == 2);
  CHECK(store.Check().empty());
  CHECK(Number(place.path(), "select count(*) from block where id not in (select block from content)") == 0);
  CHECK_THROWS_WITH(store.ForgetSource("nobody"), doctest::Contains("dbt:shop"));
  CHECK(store.ForgetSource("registry:r.yml").name == "r.yml");
  CHECK(store.Load().size() == 1);
  CHECK(store.Check().empty());
}

TEST_CASE("one fact more changes the block that it stands in, and versions share the others") {
  const Place2 place;
  SourceFacts facts = Sample("dbt", "shop", 4000);
  Store store = Store::OpenForWriting(place.path());
  store.Replace({facts});
  const auto blocks = [&] { return Number(place.path(), "select count(*) from block"); };
  const std::int64_t before = blocks();
  CHECK(before > 10);
  DatasetFact d = facts.facts.datasets[1234];
  d.name = "one more";
  facts.facts.datasets.insert(facts.facts.datasets.begin() + 1234, d);
  facts.facts.edges.erase(facts.facts.edges.begin() + 777);
  facts.source.sha256 = "other";
  CHECK(store.Replace({facts}) == 1);
  CHECK(blocks() - before <= 3);
  const auto loaded = store.Load();
  REQUIRE(loaded[0].facts.datasets.size() == 4001);
  CHECK(loaded[0].facts.datasets[1234].name == "one more");
  CHECK(loaded[0].facts.edges.size() == 3999);
  // Another file that says the same has no block of its own.
  facts.source.sha256 = "a third";
  const std::int64_t now = blocks();
  CHECK(store.Replace({facts}) == 1);
  CHECK(blocks() == now);
}

TEST_CASE("the same file again writes nothing at all") {
  const Place2 place;
  Store::OpenForWriting(place.path()).Replace({Sample("dbt", "shop", 500)});
  const std::string before = BytesOf(place.path());
  CHECK(
      Store::OpenForWriting(place.path()).Replace({At(Sample("dbt", "shop", 500), "2026-05-05T00:00:00Z")}) ==
      0);
  CHECK(BytesOf(place.path()) == before);
  CHECK_FALSE(std::filesystem::exists(place.path() + "-wal"));
}

TEST_CASE("a source that adds up is all that it ever said, in whatever order") {
  const Place2 place;
  Store store = Store::OpenForWriting(place.path());
  SourceFacts one = Sample("openlineage", "x", 2), two = Sample("openlineage", "x", 5);
  two.facts.datasets.pop_front();
  CHECK(store.Replace({one}, {true, {}}) == 1);
  CHECK(store.Replace({two}, {true, {}}) == 1);
  CHECK(store.Replace({one}, {true, {}}) == 0);  // nothing new
  const auto loaded = store.Load();
  CHECK(loaded[0].facts.datasets.size() == 5);
  CHECK(loaded[0].facts.edges.size() == 5);
  CHECK(loaded[0].facts.copies.size() == 1);
  CHECK(store.History()[0].adds_up);
  const Place2 other;
  Store turned = Store::OpenForWriting(other.path());
  turned.Replace({two}, {true, {}}), turned.Replace({one}, {true, {}});
  CHECK(turned.Load()[0].source.sha256 == loaded[0].source.sha256);
}

TEST_CASE("facts of a newer backreach are stepped over, and said to be there") {
  std::vector<PoolFact> pools = {{"a", 1, 2, {"f", "3"}}, {"b", 3, 4, {"f", "4"}}};
  std::string packed;
  PackList(pools, [&](std::size_t, std::string_view bytes) { packed = bytes; });
  // The same with a number, a text, a list and eight bytes behind the first fact's fields.
  ByteWriter more;
  ByteReader in(packed, "damaged");
  more.Number(0), more.Clear();
  const std::size_t begin = more.Open();
  const std::string_view first = in.Text();
  more.Raw(first.data(), first.size());
  more.Number(50 << 3 | 0), more.Number(123456);
  more.Number(51 << 3 | 2), more.Text("who knows");
  more.Number(300 << 3 | 1), more.Raw("12345678", 8);
  more.Number(301 << 3 | 3);
  more.Close(begin);
  const std::string_view second = in.Text();
  more.Text(second);
  std::vector<PoolFact> back;
  std::size_t skipped = 0;
  UnpackBlock(more.bytes(), "damaged", back, &skipped);
  REQUIRE(back.size() == 2);
  CHECK(skipped == 4);
  CHECK(back[0].usual_load == 2);
  CHECK(back[1].at == pools[1].at);
}

TEST_CASE("what decides is hashed: a lost or changed row, layout or state is noticed") {
  const auto after = [](const std::string& sql) -> std::string {
    const Place2 place;
    {
      Store store = Store::OpenForWriting(place.path());
      store.Replace({Sample("dbt", "shop", 2)});
      store.Replace({At(Sample("dbt", "shop", 3), "2026-02-01T00:00:00Z")});
      store.Replace({Sample("registry", "r.yml", 1)});
    }
    Sql(place.path(), "pragma foreign_keys = off; pragma ignore_check_constraints = on; " + sql);
    std::string said;
    for (const bool write : {false, true}) {
      try {
        if (write)
          Store::OpenForWriting(place.path()).Replace({Sample("dbt", "shop", 7)});
        else
          Store::OpenForReading(place.path()).Load();
        return "read";
      } catch (const Error& e) {
        CHECK(e.status() == Status::kStore);
        said = e.what();
      }
    }
    return said;
  };
  for (const char* sql :
       {"delete from source where kind = 'registry'", "delete from version where number = 2",
        "delete from version where number = 1", "update source set kind = 'registrx' where kind = 'registry'",
        "update version set ingested_at = '2025-01-01T00:00:00Z' where number = 2",
        "update version set source = 2 where number = 2", "delete from state",
        "update source set adds_up = 1", "update state set hash = 'x'", "delete from source",
        "insert into version select 99, 77, 1, ingested_at, sha256, '', facts_hash, nodes_hash from version "
        "where id = 1",
        "pragma user_version = 0", "pragma user_version = 1", "pragma user_version = 4",
        "pragma user_version = -2147483643"})
    CHECK_MESSAGE(after(sql).find("damaged") != std::string::npos, sql);
  CHECK(after("pragma user_version = 7").find("newer") != std::string::npos);
  CHECK(after("pragma application_id = 7").find("another program") != std::string::npos);
}

TEST_CASE("a file of a few bytes is no empty store") {
  for (const std::size_t size : {1u, 2u, 16u, 511u}) {
    const Place2 place;
    std::filesystem::create_directories(place.folder / "sub");
    std::ofstream(place.path()) << std::string(size, 'S');
    CHECK_THROWS_WITH(Store::OpenForReading(place.path()), doctest::Contains("no SQLite database"));
    CHECK_THROWS_WITH(Store::OpenForWriting(place.path()), doctest::Contains("no SQLite database"));
    CHECK(BytesOf(place.path()) == std::string(size, 'S'));
  }
}

TEST_CASE("one source twice in one ingest is refused") {
  const Place2 place;
  Store store = Store::OpenForWriting(place.path());
  CHECK_THROWS_WITH(store.Replace({Sample("dbt", "shop", 1), Sample("dbt", "shop", 2)}),
                    doctest::Contains("dbt:shop is given twice"));
  CHECK_FALSE(std::filesystem::exists(place.path()));
}

namespace {

// What someone without rights sees of a store, in a process of its own: how many datasets, or 100 and the
// status of the refusal.
int ReadWithoutRights(const Place2& place) {
  const std::string path = place.path();
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::filesystem::permissions(folder, std::filesystem::perms(0555));
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) _exit(99);
    try {
      std::size_t datasets = 0;
      for (const SourceFacts& s : Store::OpenForReading(path).Load()) datasets += s.facts.datasets.size();
      _exit(static_cast<int>(datasets));
    } catch (const Error& e) {
      _exit(100 + static_cast<int>(e.status()));
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::filesystem::permissions(folder, std::filesystem::perms(0755));
  return WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("who may not write the folder sees what was committed, or is refused") {
  const Place2 place;
  Store::OpenForWriting(place.path()).Replace({Sample("dbt", "shop", 2)});
  CHECK(ReadWithoutRights(place) == 2);
  // A reader elsewhere keeps the newest facts in the log.
  {
    sqlite3* reader = nullptr;
    REQUIRE(sqlite3_open(place.path().c_str(), &reader) == SQLITE_OK);
    REQUIRE(sqlite3_exec(reader, "begin; select * from source", nullptr, nullptr, nullptr) == SQLITE_OK);
    Store::OpenForWriting(place.path()).Replace({At(Sample("dbt", "shop", 3), "2026-02-01T00:00:00Z")});
    const int seen = ReadWithoutRights(place);
    CHECK((seen == 3 || seen == 103));
    sqlite3_close(reader);
  }
  Store::OpenForWriting(place.path()).Replace({At(Sample("dbt", "shop", 3), "2026-02-01T00:00:00Z")});
  CHECK(ReadWithoutRights(place) == 3);
  // An ingest that was killed after it committed leaves a log; its index may be gone too.
  for (const bool index : {true, false}) {
    const int datasets = index ? 4 : 5;
    const pid_t child = fork();
    if (child == 0) {
      sqlite3* reader = nullptr;  // so that the log is not taken in
      sqlite3_open(place.path().c_str(), &reader);
      sqlite3_exec(reader, "begin; select * from source", nullptr, nullptr, nullptr);
      Store::OpenForWriting(place.path())
          .Replace({At(Sample("dbt", "shop", datasets), "2026-03-01T00:00:00Z")});
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    CHECK(std::filesystem::file_size(place.path() + "-wal") > 0);
    if (!index) std::filesystem::remove(place.path() + "-shm");
    const int seen = ReadWithoutRights(place);
    CHECK((seen == datasets || seen == 103));
    // The same again takes the log in.
    Store::OpenForWriting(place.path())
        .Replace({At(Sample("dbt", "shop", datasets), "2026-04-01T00:00:00Z")});
    CHECK(ReadWithoutRights(place) == datasets);
  }
}

namespace {

// A store as layout 4 was, of the example.
void MakeLayout4(const Place2& place, const std::string& sql = "") {
  const auto text = std::filesystem::path(__FILE__).parent_path().parent_path() / "golden" / "layout4.sql";
  std::filesystem::create_directories(place.folder / "sub");
  Sql(place.path(), BytesOf(text.string()) + sql);
}

}  // namespace

TEST_CASE("a store of layout 4 is read as it is, and loses nothing when it is migrated") {
  const Place2 place;
  MakeLayout4(place);
  const std::string before = BytesOf(place.path());
  const auto facts = [&] {
    std::string out;
    for (SourceFacts& s : Store::OpenForReading(place.path()).Load(true)) {
      out += s.source.kind + s.source.name + s.source.key + s.source.sha256 + s.source.ingested_at + "\n";
      Lists(s.facts, [&](std::string_view part, auto& list) {
        PackList(list, [&](std::size_t n, std::string_view bytes) {
          out += std::string(part) + std::to_string(n) + std::string(bytes) + "\n";
        });
      });
      for (const std::string& block : s.facts.nodes.nodes) out += block;
    }
    return out;
  };
  const std::string was = facts();
  CHECK(was.size() > 10'000);
  CHECK(Store::OpenForReading(place.path()).Check().empty());
  CHECK_THROWS_WITH(Store::OpenForReading(place.path()).Load(false, Moment("2026-02-28T00:00:00Z")),
                    doctest::Contains("held nothing"));
  CHECK(Store::OpenForReading(place.path()).Load(false, Moment("2026-03-02T00:00:00Z")).size() == 2);
  CHECK(BytesOf(place.path()) == before);
  CHECK(Store::OpenForWriting(place.path()).layout() == kLayout);
  CHECK(facts() == was);
  CHECK(Store::OpenForReading(place.path()).Check().empty());
  CHECK(Number(place.path(), "select count(*) from sqlite_master where name glob 'older_*'") == 0);
}

TEST_CASE("damaged facts of layout 4 are said to be, and their rows stay until they are ingested again") {
  const Place2 place;
  MakeLayout4(place, "update block set bytes = x'00' where source = 2 and part = 'job'");
  CHECK_THROWS_WITH(Store::OpenForReading(place.path()).Load(), doctest::Contains("airflow:shop"));
  Store store = Store::OpenForWriting(place.path());
  CHECK_THROWS_WITH(store.Load(), doctest::Contains("ingest it again"));
  CHECK(Number(place.path(), "select count(*) from older_block") > 3);
  SourceFacts again = Sample("airflow", "shop", 1);
  CHECK(store.Replace({again}) == 1);
  CHECK(store.Load().size() == 3);
  CHECK(Number(place.path(), "select count(*) from sqlite_master where name glob 'older_*'") == 0);
}

TEST_CASE("the joined graph is kept as relations, made again where what it comes from differs") {
  const Place2 place;
  SourceFacts dbt = Sample("dbt", "shop", 3), registry = Sample("registry", "r.yml", 0);
  dbt.facts.datasets[0].name = std::string("nul\0 and 'quotes'", 17);
  dbt.facts.datasets[1].short_names = {"", "short", "short"};
  dbt.facts.datasets[2].name = "";
  const auto edge = [](const char* from, const char* to, Text reads, Text known, Place at) {
    EdgeFact e;
    e.from = from, e.to = to, e.reads = std::move(reads), e.known = std::move(known), e.at = std::move(at);
    return e;
  };
  dbt.facts.edges = {edge("shop1", "", "\"same\"", {}, {"m.json", "/a"}),
                     edge("", "shop1", {}, "assumed", {"m.json", "/b"})};
  registry.facts.copies.clear();
  registry.facts.edges = {edge("shop1", "", "\"all\"", {}, {"r.yml", "7"})};
  std::size_t joined = 0;
  const KeepOptions join{false, [&](std::vector<SourceFacts> facts) -> const LineageGraph& {
                           ++joined;
                           return BuildGraphForGood(std::move(facts)).graph;
                         }};
  Store store = Store::OpenForWriting(place.path());
  CHECK(store.Replace({dbt, registry}, join) == 2);
  const auto n = [&](const std::string& sql) { return Number(place.path(), sql); };
  CHECK(n("select count(*) from dataset") == 3);
  CHECK(n("select count(*) from name where name = 'short'") == 1);
  CHECK(n("select count(*) from edge where (select cycle from dataset where id = parent) is not null") == 2);
  CHECK(n("select count(*) from edge_said where reads = '\"all\"'") == 1);
  CHECK(n("select count(*) from edge_said where reads = '\"same\"'") == 1);
  CHECK(n("select count(*) from said where what = 'dataset' and source = 'dbt:shop'") >= 3);
  CHECK(store.Replace({dbt, registry}, join) == 0);
  CHECK(joined == 1);  // nothing was new
  CHECK(store.Replace({At(registry, "2026-02-02T00:00:00Z", "other")}) == 1);
  CHECK(n("select count(*) from sqlite_master where name in ('dataset', 'edge', 'graph')") == 0);
  CHECK(store.Replace({dbt}, join) == 0);
  CHECK(n("select count(*) from edge") == 2);
  CHECK(joined == 2);
  store.ForgetSource("registry:r.yml", join.join);
  CHECK(n("select count(*) from edge_said") == 0);
  CHECK(store.Check().empty());
}
