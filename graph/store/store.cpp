// What a source said is packed into blocks (blocks.hpp), shared by its versions (versions.hpp): the database
// is there for all or nothing, for readers beside a writer and for finding a version's blocks.

#include "graph/store/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "graph/base/error.hpp"
#include "graph/base/words.hpp"
#include "graph/store/database/database.hpp"
#include "graph/store/database/schema.hpp"
#include "graph/store/migrations.hpp"
#include "graph/store/postgres/connection.hpp"
#include "graph/store/relations.hpp"
#include "graph/store/run_log.hpp"
#include "graph/store/sqlite/connection.hpp"
#include "graph/store/sqlite/new_file.hpp"
#include "graph/store/versions.hpp"

namespace backreach {

namespace {

// An address of a server, and no path of a file.
bool IsServer(const std::string& path) {
  return StartsWith(path, "postgresql://") || StartsWith(path, "postgres://");
}

}  // namespace

struct Store::Impl {
  std::string address;  // as given
  std::string path;     // the same for messages: a server's without its password
  std::unique_ptr<Database> open;
  bool absent = false;  // nothing is there, and nothing was written yet

  // The connection; opened for writing where there is none.
  Database& Db() {
    if (!open) {
      open = IsServer(address) ? postgres::ForWriting(address) : sqlite::ForWriting(address);
      BringUpToDate(*open);
      absent = false;
    }
    return *open;
  }

  // What Load and LoadReadable share: facts that are lost, or not those that were ingested, come with what
  // there is to say about them.
  struct Loaded {
    SourceFacts facts;
    bool lost = false;
    std::string complaint;
  };
  // `kind`: only sources of this one.
  std::vector<Loaded> LoadAll(bool with_nodes, const std::optional<std::string>& as_of,
                              const std::optional<std::string>& kind = {});
};

namespace {

[[noreturn]] void SayOutdated(const std::string& path, const std::vector<Source>& outdated) {
  std::vector<std::string> names, lines;
  for (const Source& s : outdated) {
    names.push_back(s.kind + ":" + s.name);
    lines.push_back(s.kind == "registry" ? "backreach ingest registry " + ShellWord(s.key)
                                         : fmt::format("backreach ingest {} ...   ({})", s.kind, s.name));
  }
  throw Error(fmt::format("{}: error: what {} said was kept in the form of an older backreach\n"
                          "  ingest {} again: {}",
                          path, ListOf(names), names.size() == 1 ? "it" : "them",
                          Join(lines, "\n                      ")),
              Status::kStore);
}

// What was forgotten, or lies before everything, must not look like a store that knew less.
void CheckMoment(const std::vector<SourceRow>& sources, const std::string& as_of) {
  std::string first;
  for (const SourceRow& s : sources) {
    const VersionRow& oldest = s.versions.front();
    if (first.empty() || oldest.ingested_at < first) first = oldest.ingested_at;
    if (oldest.number > 1 && oldest.ingested_at > as_of)
      throw Error(
          fmt::format("backreach: error: what {}:{} said at {} was forgotten\n"
                      "  the oldest that is kept was ingested at {}",
                      s.kind, s.name, as_of, oldest.ingested_at));
  }
  if (!sources.empty() && as_of < first)
    throw Error(
        fmt::format("backreach: error: the store held nothing at {}\n"
                    "  its first source was ingested at {}",
                    as_of, first));
}

// What a job's call of dbt or an entry of a registry selects only the nodes tell.
bool AsksNodes(const Facts& facts) {
  return std::any_of(facts.jobs.begin(), facts.jobs.end(),
                     [](const JobFact& j) { return !j.dbt_runs.empty(); }) ||
         std::any_of(facts.datasets.begin(), facts.datasets.end(),
                     [](const DatasetFact& d) { return d.select.has_value(); });
}

// Joins the newest facts of all sources and writes what comes out, unless that is there already. `in_hand`:
// facts that need not be read again.
void KeepRelations(Database& db, const Joiner& join, std::vector<SourceFacts> in_hand) {
  const std::vector<SourceRow> sources = ReadSources(db);
  const std::string made_from = NameOfNewest(sources);
  if (HasRelations(db, made_from)) return;
  DropRelations(db);
  if (!join || sources.empty()) return;
  std::vector<SourceFacts> all;
  std::vector<std::pair<std::size_t, const SourceRow*>> read;
  try {
    for (const SourceRow& s : sources) {
      const auto given = std::find_if(in_hand.begin(), in_hand.end(), [&](const SourceFacts& f) {
        return f.source.kind == s.kind && f.source.key == s.key;
      });
      if (given != in_hand.end()) {
        all.push_back(std::move(*given));
        continue;
      }
      const VersionRow& newest = s.versions.back();
      if (newest.facts_hash.empty()) return;  // has to be ingested again first
      all.push_back({s.AsSource(newest), {}});
      ReadVersion(db, s, newest, false, all.back().facts);
      read.emplace_back(all.size() - 1, &s);
    }
    if (std::any_of(all.begin(), all.end(), [](const SourceFacts& s) { return AsksNodes(s.facts); }))
      for (const auto& [i, s] : read) ReadNodes(db, *s, s->versions.back(), all[i].facts.nodes);
  } catch (const Error&) {
    return;  // somebody else's facts are damaged: whoever reads them is told, and this ingest is none of
             // theirs
  }
  WriteRelations(db, join(std::move(all)), made_from);
}

// `sources` are empty afterwards where they were joined.
std::size_t ReplaceIn(Database& db, std::vector<SourceFacts>& sources, const KeepOptions& options) {
  Transaction transaction(db, true);
  const std::vector<SourceRow> held = ReadSources(db);
  std::size_t written = 0;
  for (SourceFacts& given : sources)
    written += WriteVersion(db, held, {options.adds_up, options.merge}, given);
  if (written > 0) {
    WriteState(db);
    DropOlderRows(db);
  }
  KeepRelations(db, options.join, std::move(sources));
  transaction.commit();
  return written;
}

// What a new store holds that could not be put in its place.
std::vector<SourceFacts> TakeBack(Database& db) {
  std::vector<SourceFacts> out;
  for (const SourceRow& s : ReadSources(db)) {
    out.push_back({s.AsSource(s.versions.back()), {}});
    ReadVersion(db, s, s.versions.back(), true, out.back().facts);
    ReadObserved(db, s, s.versions.back(), out.back().facts.observed);
  }
  return out;
}

// Writes a store that is not there yet beside its place, without journal, and links it there when it is
// whole. False if somebody else put one there meanwhile, or the file system cannot link.
bool WriteNew(const std::string& path, std::vector<SourceFacts>& sources, const KeepOptions& options) {
  NewFile file(path);
  if (file.name().empty()) return false;
  {
    const std::unique_ptr<Database> db = sqlite::ForNewFile(path, file.name());
    db->Exec(kSchema);
    db->Exec(kRunTables);
    db->SayLayout();
    WriteState(*db);
    ReplaceIn(*db, sources, options);
    sqlite::UseLog(*db);
  }
  if (file.LinkTo(path)) return true;
  sources = TakeBack(*sqlite::ForReading(file.name()));
  return false;
}

}  // namespace

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

const std::string& Store::path() const { return impl_->path; }
int Store::layout() const { return impl_->Db().CheckedLayout(); }

namespace {

std::unique_ptr<Database> OpenFile(const std::string& path) {
  std::error_code ec;
  const bool there = std::filesystem::exists(path, ec);
  if (const std::string why = ec ? WhyUnusable(path, false) : ""; !why.empty())
    throw Error(path + ": error: " + why, Status::kStore);
  if (!there)
    throw Error(path +
                    ": error: there is no store here\n"
                    "  make one with: backreach ingest dbt target/   (or name another with --store)",
                Status::kStore);
  return sqlite::ForReading(path);
}

}  // namespace

Store Store::OpenForReading(const std::string& address) {
  std::unique_ptr<Database> connection =
      IsServer(address) ? postgres::ForReading(address) : OpenFile(address);
  const std::string path = connection->path();
  const int layout = connection->CheckedLayout();
  if (layout < 4 && layout > 0)
    RefuseStore(path, fmt::format("written by an older backreach (layout {}, this one reads {}): ingest its "
                                  "sources again",
                                  layout, kLayout));
  if (layout == 0)
    throw Error(path +
                ": error: the store is empty: no source was ingested\n"
                "  begin with: backreach ingest dbt target/");
  return Store(std::make_unique<Impl>(Impl{address, path, std::move(connection), false}));
}

Store Store::OpenForWriting(const std::string& address) {
  if (IsServer(address)) {
    auto impl = std::make_unique<Impl>(Impl{address, address, nullptr, false});
    impl->path = impl->Db().path();
    return Store(std::move(impl));
  }
  const std::filesystem::path folder = std::filesystem::path(address).parent_path();
  std::error_code ec;
  if (!folder.empty()) std::filesystem::create_directories(folder, ec);
  if (ec)
    throw Error(fmt::format("{}: error: the folder cannot be made: {}", folder.string(), ec.message()),
                Status::kStore);
  RemoveLeftovers(address);
  auto impl = std::make_unique<Impl>(Impl{address, address, nullptr, false});
  impl->absent = std::filesystem::symlink_status(address, ec).type() == std::filesystem::file_type::not_found;
  if (!impl->absent) impl->Db();
  return Store(std::move(impl));
}

std::vector<Source> Store::Sources() const {
  std::vector<Source> out;
  for (const StoredSource& s : History())
    out.push_back({s.kind, s.name, s.key, s.versions.back().sha256, s.versions.back().ingested_at});
  return out;
}

std::vector<StoredSource> Store::History() const {
  std::vector<StoredSource> out;
  if (impl_->absent) return out;
  Database& db = impl_->Db();
  Transaction snapshot(db);  // one state for all tables
  if (db.CheckedLayout() == 4) {
    for (const OlderSource& s : ReadLayout4(db, false)) {
      const Source& o = s.facts.source;
      out.push_back({o.kind, o.name, o.key, false, {{1, o.ingested_at, o.sha256, s.lost}}});
    }
  } else {
    for (const SourceRow& s : ReadSources(db)) {
      out.push_back({s.kind, s.name, s.key, s.adds_up, {}});
      for (const VersionRow& v : s.versions)
        out.back().versions.push_back({v.number, v.ingested_at, v.sha256, v.facts_hash.empty()});
    }
  }
  db.CheckUnchanged();
  return out;
}

std::vector<Store::Impl::Loaded> Store::Impl::LoadAll(bool with_nodes,
                                                      const std::optional<std::string>& as_of,
                                                      const std::optional<std::string>& kind) {
  std::vector<Loaded> out;
  if (absent) return out;
  Database& db = Db();
  Transaction snapshot(db);
  if (db.CheckedLayout() == 4) {
    std::vector<SourceRow> rows;
    for (OlderSource& s : ReadLayout4(db, with_nodes)) {
      const Source& o = s.facts.source;
      rows.push_back({0, o.kind, o.name, o.key, false, {{0, 0, 1, o.ingested_at, {}, {}, {}, {}}}});
      if (rows.back().At(as_of) && (!kind || o.kind == *kind))
        out.push_back({std::move(s.facts), s.lost, std::move(s.complaint)});
    }
    if (as_of) CheckMoment(rows, *as_of);
  } else {
    const std::vector<SourceRow> sources = ReadSources(db);
    if (as_of) CheckMoment(sources, *as_of);
    std::vector<std::pair<std::size_t, const SourceRow*>> whole;
    for (const SourceRow& s : sources) {
      const VersionRow* version = s.At(as_of);
      if (!version || (kind && s.kind != *kind)) continue;
      Loaded& read = out.emplace_back();
      read.facts.source = s.AsSource(*version);
      read.lost = version->facts_hash.empty();
      if (read.lost) continue;
      try {
        ReadVersion(db, s, *version, with_nodes, read.facts.facts);
        whole.emplace_back(out.size() - 1, &s);
      } catch (const Error& e) {
        read.facts.facts = {};
        read.complaint = e.what();
      }
    }
    if (!with_nodes && !kind &&
        std::any_of(out.begin(), out.end(), [](const Loaded& l) { return AsksNodes(l.facts.facts); }))
      for (const auto& [i, s] : whole) ReadNodes(db, *s, *s->At(as_of), out[i].facts.facts.nodes);
  }
  db.CheckUnchanged();
  return out;
}

std::vector<SourceFacts> Store::Load(bool with_nodes, std::optional<Instant> as_of) const {
  std::vector<Source> outdated;
  std::vector<SourceFacts> out;
  const std::optional<std::string> moment = as_of ? std::optional(FormatInstant(*as_of)) : std::nullopt;
  for (Impl::Loaded& s : impl_->LoadAll(with_nodes, moment)) {
    if (!s.complaint.empty()) throw Error(s.complaint, Status::kStore);
    if (s.lost) outdated.push_back(s.facts.source);
    out.push_back(std::move(s.facts));
  }
  if (!outdated.empty()) SayOutdated(impl_->path, outdated);
  return out;
}

std::vector<SourceFacts> Store::LoadReadable(const std::string& kind) const {
  std::vector<SourceFacts> out;
  for (Impl::Loaded& s : impl_->LoadAll(false, std::nullopt, kind)) out.push_back(std::move(s.facts));
  return out;
}

std::size_t Store::Replace(std::vector<SourceFacts> sources, const KeepOptions& options) {
  std::set<std::pair<std::string, std::string>> keys;
  for (const SourceFacts& s : sources)
    if (!keys.emplace(s.source.kind, s.source.key).second)
      throw Error(
          fmt::format("backreach: error: {}:{} is given twice: each would replace the other\n"
                      "  nothing was written",
                      s.source.kind, s.source.name));
  const std::size_t given = sources.size();
  if (impl_->absent && WriteNew(impl_->path, sources, options)) {
    impl_->absent = false;
    return given;
  }
  Database& db = impl_->Db();
  const std::size_t written = ReplaceIn(db, sources, options);
  db.Checkpoint();
  return written;
}

std::size_t Store::ForgetBefore(Instant instant) {
  Database& db = impl_->Db();
  const std::string moment = FormatInstant(instant);
  std::size_t forgotten = 0;
  {
    Transaction transaction(db, true);
    Statement erase(db, "DELETE FROM version WHERE id = ?");
    for (const SourceRow& s : ReadSources(db)) {
      for (std::size_t i = 0; i + 1 < s.versions.size(); ++i) {
        if (s.versions[i + 1].ingested_at > moment) break;  // it was still the newest then
        erase.bind(1, s.versions[i].id);
        erase.exec();
        erase.reset();
        ++forgotten;
      }
    }
    if (forgotten > 0) {
      RemoveUnusedBlocks(db);
      WriteState(db);
    }
    transaction.commit();
  }
  if (forgotten > 0) db.Compact();
  db.Checkpoint();
  return forgotten;
}

Source Store::ForgetSource(const std::string& key, const Joiner& join) {
  Database& db = impl_->Db();
  Source out;
  {
    Transaction transaction(db, true);
    const std::vector<SourceRow> sources = ReadSources(db);
    std::vector<const SourceRow*> found;
    std::vector<std::string> names;
    for (const SourceRow& s : sources) {
      if (s.key == key || s.name == key || s.kind + ":" + s.name == key || s.kind + ":" + s.key == key)
        found.push_back(&s);
      names.push_back(s.kind + ":" + (s.name == s.key ? s.name : s.key));
    }
    if (found.size() != 1) {
      std::vector<std::string> candidates;
      for (const SourceRow* s : found) candidates.push_back(s->kind + ":" + s->key);
      throw Error(found.empty() ? fmt::format("backreach: error: no source is called '{}'\n  there is {}",
                                              key, ListOf(names))
                                : fmt::format("backreach: error: '{}' means several sources\n  say which: {}",
                                              key, ListOf(candidates)));
    }
    out = found[0]->AsSource(found[0]->versions.back());
    Statement erase(db, "DELETE FROM source WHERE id = ?");
    erase.bind(1, found[0]->id);
    erase.exec();
    RemoveUnusedBlocks(db);
    WriteState(db);
    DropOlderRows(db);
    KeepRelations(db, join, {});
    transaction.commit();
  }
  db.Compact();
  db.Checkpoint();
  return out;
}

std::vector<LoggedRun> Store::RunLog() const {
  if (impl_->absent) return {};
  Database& db = impl_->Db();
  Transaction snapshot(db);
  std::vector<LoggedRun> out = ReadRunLog(db);
  db.CheckUnchanged();
  return out;
}

void Store::ChangeRunLog(const std::function<void(std::vector<LoggedRun>&)>& change) {
  Database& db = impl_->Db();
  {
    Transaction transaction(db, true);
    const std::vector<LoggedRun> before = ReadRunLog(db);
    std::vector<LoggedRun> log = before;
    change(log);
    for (std::size_t i = 0; i < log.size(); ++i)
      if (i >= before.size() || !(log[i] == before[i])) WriteRun(db, log[i]);
    transaction.commit();
  }
  db.Checkpoint();
}

std::vector<std::string> Store::Check() const {
  std::vector<std::string> found;
  try {
    Database& db = impl_->Db();
    found = db.Complaints();
    Load(true);
    if (layout() < 5) return found;
    Transaction snapshot(db);
    for (const SourceRow& s : ReadSources(db)) {
      for (const VersionRow& v : s.versions) {
        if (!v.facts_hash.empty() && !IsWhole(db, v))
          found.push_back(
              fmt::format("version {} of {}:{} is not what was ingested", v.number, s.kind, s.name));
      }
    }
  } catch (const Error& e) {
    found.push_back(e.what());
  }
  return found;
}

std::vector<std::string> Store::Notes() const {
  std::vector<std::string> out;
  const Leftovers left = IsServer(impl_->address) ? Leftovers() : FindLeftovers(impl_->path);
  for (const std::string& name : left.dead)
    out.push_back(name + " was left behind by an ingest that was killed: the next one takes it away");
  for (const std::string& name : left.alive) out.push_back(name + " is being written by an ingest now");
  if (layout() < 5) {
    out.push_back(
        fmt::format("the store is of layout {}: the next ingest brings it to {}", layout(), kLayout));
    return out;
  }
  Database& db = impl_->Db();
  Transaction snapshot(db);
  for (const SourceRow& s : ReadSources(db)) {
    Facts facts;
    std::size_t skipped = 0;
    if (s.versions.back().facts_hash.empty()) continue;
    ReadVersion(db, s, s.versions.back(), false, facts, &skipped);
    if (skipped > 0)
      out.push_back(fmt::format("{} of what {}:{} said is not understood here: a newer backreach wrote it",
                                Plural(static_cast<std::int64_t>(skipped), "field"), s.kind, s.name));
  }
  return out;
}

}  // namespace backreach
