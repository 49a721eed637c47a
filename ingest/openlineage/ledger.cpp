// Everything in a ledger is a set, a first and last time, or a newest value: what is put in twice, or in
// another order, comes out the same.

#include "ingest/openlineage/ledger.hpp"

#include <algorithm>

#include "graph/base/bytes.hpp"
#include "graph/base/digest.hpp"
#include "graph/base/words.hpp"
#include "graph/names/address.hpp"

namespace backreach::openlineage {

namespace {

constexpr std::uint64_t kSeed = 0x6f6c;

std::uint64_t KeyOfName(std::string_view space, std::string_view name) {
  return Hash64(name, Hash64(space, kSeed));
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto blank = [&](char c) { return kBlanks.find(c) != std::string_view::npos; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

template <typename T>
void Merge(std::vector<T>& list, const std::vector<T>& more) {
  for (const T& item : more) {
    const auto at = std::lower_bound(list.begin(), list.end(), item);
    if (at == list.end() || *at != item) list.insert(at, item);
  }
}

}  // namespace

Number Ledger::DatasetByKey(std::uint64_t key, std::string_view space, std::string_view name) {
  if (const auto known = dataset_of_.find(key); known != dataset_of_.end()) return known->second;
  const auto number = static_cast<Number>(datasets_.size());
  dataset_of_.emplace(key, number);
  datasets_.emplace_back();
  datasets_.back().id = {std::string(space), std::string(name)};
  datasets_.back().key = key;
  return number;
}

Number Ledger::Dataset(std::string_view space, std::string_view name, std::optional<Period>* part) {
  const std::uint64_t literal = KeyOfName(space, name);
  Said& said = said_[literal % said_.size()];
  if (said.number != kNobody && said.literal == literal) {
    if (part) *part = said.part;
    return said.number;
  }
  const std::string_view plain_space = Trimmed(space), plain = Trimmed(name);
  if (plain.size() != name.size() || plain_space.size() != space.size()) {
    ++trimmed_;
    std::string example = std::string(space) + "/" + std::string(name);
    if (trimmed_example_.empty() || example < trimmed_example_) trimmed_example_ = std::move(example);
  }
  // Most names have no partition in them, and are looked up once.
  const auto address = ParseAddress(plain_space, plain);
  std::string pattern;
  std::optional<Period> period;
  if (address && !address->is_table()) {
    if (auto cut = CutPath(plain)) pattern = std::move(cut->pattern), period = cut->period;
  } else if (address) {
    if (auto cut = CutTable(plain)) {
      pattern = cut->sure ? cut->table : cut->table + "_" + kOpen;
      period = cut->period;
    }
  }
  const std::string_view id = pattern.empty() ? plain : std::string_view(pattern);
  const Number number = DatasetByKey(KeyOfName(plain_space, id), plain_space, id);
  if (id.find(kOpen) != std::string_view::npos) {
    SeenDataset& d = datasets_[number];
    if (d.least.empty() || plain < d.least) d.least = plain;
    if (plain > d.greatest) d.greatest = plain;
  }
  said = {literal, number, period};
  if (part) *part = period;
  return number;
}

Number Ledger::Job(std::string_view space, std::string_view name) {
  space = Trimmed(space), name = Trimmed(name);
  const std::uint64_t key = KeyOfName(space, name);
  if (const auto known = job_of_.find(key); known != job_of_.end()) return known->second;
  const auto number = static_cast<Number>(jobs_.size());
  job_of_.emplace(key, number);
  jobs_.emplace_back();
  jobs_.back().id = {std::string(space), std::string(name)};
  jobs_.back().key = key;
  return number;
}

void Ledger::Columns(Number from, Number to, std::string_view column, std::string_view target) {
  columns_[{from, to}].emplace(column, target);
}

// By keys, not numbers: the same in every ledger.
std::uint64_t Ledger::KeyOf(const Shape& shape) const {
  ByteWriter bytes;
  const auto key = [&](std::uint64_t k) { bytes.Raw(&k, sizeof k); };
  key(jobs_[shape.job].key);
  const auto list = [&](const std::vector<Number>& datasets) {
    std::vector<std::uint64_t> keys;
    for (const Number d : datasets) keys.push_back(datasets_[d].key);
    std::sort(keys.begin(), keys.end());
    bytes.Number(keys.size());
    for (const std::uint64_t k : keys) key(k);
  };
  list(shape.in), list(shape.out);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;
  for (const auto& [a, b] : shape.pairs) pairs.emplace_back(datasets_[a].key, datasets_[b].key);
  std::sort(pairs.begin(), pairs.end());
  for (const auto& [a, b] : pairs) key(a), key(b);
  return Hash64(bytes.bytes(), kSeed);
}

std::uint32_t Ledger::ShapeNumber(Shape shape) {
  // Looked up by the numbers of this ledger, which costs less than by keys.
  std::uint64_t hash = Hash64({reinterpret_cast<const char*>(&shape.job), sizeof shape.job}, kSeed);
  const auto add = [&](const auto& list) {
    hash = Hash64({reinterpret_cast<const char*>(list.data()), list.size() * sizeof list[0]}, hash + 1);
  };
  add(shape.in), add(shape.out), add(shape.pairs);
  if (const auto known = shape_of_.find(hash); known != shape_of_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(shapes_.size());
  shape_of_.emplace(hash, number);
  shapes_.push_back(std::move(shape));
  return number;
}

SeenRun& Ledger::Run(const std::uint64_t (&id)[2], bool& fresh) {
  if ((runs_.size() + 1) * 2 > run_at_.size()) {
    std::vector<std::uint32_t> table(std::max<std::size_t>(1024, run_at_.size() * 2), 0);
    for (std::uint32_t i = 0; i < runs_.size(); ++i) {
      std::size_t at = runs_[i].id[0] & (table.size() - 1);
      while (table[at] != 0) at = (at + 1) & (table.size() - 1);
      table[at] = i + 1;
    }
    run_at_ = std::move(table);
  }
  std::size_t at = id[0] & (run_at_.size() - 1);
  for (; run_at_[at] != 0; at = (at + 1) & (run_at_.size() - 1)) {
    SeenRun& run = runs_[run_at_[at] - 1];
    if (run.id[0] == id[0] && run.id[1] == id[1]) {
      fresh = false;
      return run;
    }
  }
  SeenRun& run = runs_.emplace_back();
  run.id[0] = id[0], run.id[1] = id[1];
  run_at_[at] = static_cast<std::uint32_t>(runs_.size());
  fresh = true;
  return run;
}

void Ledger::Unite(SeenRun& run, const Shape& more) {
  if (more.in.empty() && more.out.empty() && more.pairs.empty()) return;
  Shape shape = shapes_[run.shape];
  Merge(shape.in, more.in), Merge(shape.out, more.out), Merge(shape.pairs, more.pairs);
  const Shape& before = shapes_[run.shape];
  if (shape.in.size() == before.in.size() && shape.out.size() == before.out.size() &&
      shape.pairs.size() == before.pairs.size())
    return;
  run.shape = ShapeNumber(std::move(shape));
}

void Ledger::AddParts(SeenRun& run, const std::vector<SeenPart>& parts) {
  if (parts.empty()) return;
  if (run.parts == 0) {
    parts_.emplace_back();
    run.parts = static_cast<std::uint32_t>(parts_.size());
  }
  std::vector<SeenPart>& own = parts_[run.parts - 1];
  for (const SeenPart& p : parts) {
    const auto same = [&](const SeenPart& o) { return o.dataset == p.dataset && o.written == p.written; };
    const auto it = std::find_if(own.begin(), own.end(), same);
    if (it == own.end()) {
      own.push_back(p);
      continue;
    }
    Period& period = it->period;
    if (period == p.period) continue;
    if (period.cut != p.period.cut) period.cut = Cut::kNone;
    period.gaps = period.gaps || p.period.gaps || p.period.from > period.to || period.from > p.period.to;
    period.from = std::min(period.from, p.period.from), period.to = std::max(period.to, p.period.to);
    it->stated = it->stated && p.stated;
  }
}

void Ledger::Take(const Event& event) {
  const bool has_job = !event.job.name.empty();
  const Number job = has_job ? Job(event.job.space, event.job.name) : kNobody;
  for (const Event::Word& w : event.words) {
    switch (w.what) {
      case Event::What::kOwner: datasets_[w.dataset].owner.Take(event.at, w.value.name); break;
      case Event::What::kSymlink: datasets_[w.dataset].symlinks.insert(w.value); break;
      case Event::What::kRenamed: datasets_[w.dataset].renamed_from.insert(w.value); break;
      default: break;
    }
    if (!has_job) continue;
    switch (w.what) {
      case Event::What::kJobOwner: jobs_[job].owner.Take(event.at, w.value.name); break;
      case Event::What::kIntegration: jobs_[job].integration.Take(event.at, w.value.name); break;
      case Event::What::kType: jobs_[job].type.Take(event.at, w.value.name); break;
      case Event::What::kParent: jobs_[job].parents.insert(w.value); break;
      case Event::What::kAfter: jobs_[job].after.insert(w.value); break;
      default: break;
    }
  }
  if (!has_job) return;
  const std::uint64_t key = jobs_[job].key;
  const std::uint64_t id[2] = {Hash64(event.run, key), Hash64(event.run, ~key)};
  bool fresh = false;
  SeenRun& run = Run(id, fresh);
  Shape more;
  more.job = job, more.in = event.in, more.out = event.out, more.pairs = event.pairs;
  const auto once = [](auto& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  };
  once(more.in), once(more.out), once(more.pairs);
  if (fresh) {
    run.first = run.last = event.at;
    run.shape = ShapeNumber(std::move(more));
  } else {
    run.first = std::min(run.first, event.at), run.last = std::max(run.last, event.at);
    Unite(run, more);
  }
  if ((event.flags & kNominal) &&
      (!(run.flags & kNominal) || std::tie(event.from, event.to) < std::tie(run.from, run.to)))
    run.from = event.from, run.to = event.to;
  run.flags |= event.flags;
  AddParts(run, event.parts);
}

// ---- As bytes ----

namespace {

// What a block begins with: the kind of things in it. Kinds come in this order, since later ones speak of
// earlier ones.
enum class Section : unsigned char { kDatasets = 1, kJobs, kColumns, kShapes, kRuns };
constexpr const char* kDamaged =
    "backreach: error: what the store keeps of OpenLineage's runs cannot be read\n"
    "  forget that source, and ingest its events again";

class BlockMaker {
 public:
  BlockMaker(Section section, std::deque<std::string>& out) : section_(section), out_(out) {}
  ~BlockMaker() { Cut(); }
  ByteWriter& bytes() {
    if (bytes_.size() == 0) bytes_.Byte(static_cast<unsigned char>(section_));
    return bytes_;
  }
  // One thing is complete; blocks end by what things are, so that one more moves no other block's end.
  void End(std::uint64_t identity) {
    constexpr std::size_t kLeast = 16u << 10, kMost = 256u << 10;
    if (bytes_.size() >= kMost || (bytes_.size() >= kLeast && identity % 256 == 0)) Cut();
  }

 private:
  void Cut() {
    if (bytes_.size() > 0) out_.emplace_back(bytes_.bytes());
    bytes_.Clear();
  }
  Section section_;
  std::deque<std::string>& out_;
  ByteWriter bytes_;
};

void Signed(ByteWriter& out, std::int64_t n) {
  out.Number(static_cast<std::uint64_t>(n) << 1 ^ static_cast<std::uint64_t>(n >> 63));
}
std::int64_t Signed(ByteReader& in) {
  const std::uint64_t u = in.Number();
  return static_cast<std::int64_t>(u >> 1 ^ (~(u & 1) + 1));
}
void Key(ByteWriter& out, std::uint64_t key) { out.Raw(&key, sizeof key); }
std::uint64_t Key(ByteReader& in) {
  std::uint64_t key = 0;
  in.Raw(&key, sizeof key);
  return key;
}
void Put(ByteWriter& out, const Newest& n) {
  out.Text(n.value);
  if (!n.value.empty()) Signed(out, n.at);
}
void Get(ByteReader& in, Newest& n) {
  const std::string_view value = in.Text();
  if (!value.empty()) n.Take(Signed(in), value);
}
void Put(ByteWriter& out, const std::set<Named>& names) {
  out.Number(names.size());
  for (const Named& n : names) out.Text(n.space), out.Text(n.name);
}
void Get(ByteReader& in, std::set<Named>& names) {
  for (std::size_t n = in.Count(); n > 0; --n) {
    std::string space(in.Text());
    names.insert({std::move(space), std::string(in.Text())});
  }
}

template <typename T, typename Less>
std::vector<std::uint32_t> Sorted(const std::vector<T>& list, Less less) {
  std::vector<std::uint32_t> order(list.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return less(list[a], list[b]); });
  return order;
}

}  // namespace

std::deque<std::string> Ledger::Pack() const {
  std::deque<std::string> out;
  const auto by_name = [](const auto& a, const auto& b) { return a.id < b.id; };
  {
    BlockMaker block(Section::kDatasets, out);
    for (const std::uint32_t i : Sorted(datasets_, by_name)) {
      const SeenDataset& d = datasets_[i];
      ByteWriter& b = block.bytes();
      b.Text(d.id.space), b.Text(d.id.name), b.Text(d.least), b.Text(d.greatest);
      Put(b, d.owner), Put(b, d.symlinks), Put(b, d.renamed_from);
      block.End(d.key);
    }
  }
  {
    BlockMaker block(Section::kJobs, out);
    for (const std::uint32_t i : Sorted(jobs_, by_name)) {
      const SeenJob& j = jobs_[i];
      ByteWriter& b = block.bytes();
      b.Text(j.id.space), b.Text(j.id.name);
      Put(b, j.owner), Put(b, j.integration), Put(b, j.type), Put(b, j.parents), Put(b, j.after);
      block.End(j.key);
    }
  }
  {
    std::map<std::pair<std::uint64_t, std::uint64_t>, const ColumnPairs*> by_key;
    for (const auto& [ends, pairs] : columns_)
      by_key[{datasets_[ends.first].key, datasets_[ends.second].key}] = &pairs;
    BlockMaker block(Section::kColumns, out);
    for (const auto& [keys, pairs] : by_key) {
      ByteWriter& b = block.bytes();
      Key(b, keys.first), Key(b, keys.second);
      b.Number(pairs->size());
      for (const auto& [from, to] : *pairs) b.Text(from), b.Text(to);
      block.End(keys.first ^ keys.second);
    }
  }
  std::vector<std::uint64_t> shape_keys;
  for (const Shape& s : shapes_) shape_keys.push_back(KeyOf(s));
  std::vector<bool> used(shapes_.size(), false);
  for (const SeenRun& r : runs_) used[r.shape] = true;
  {
    BlockMaker block(Section::kShapes, out);
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < shapes_.size(); ++i)
      if (used[i]) order.push_back(i);
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return shape_keys[a] < shape_keys[b]; });
    for (const std::uint32_t i : order) {
      const Shape& s = shapes_[i];
      ByteWriter& b = block.bytes();
      Key(b, shape_keys[i]), Key(b, jobs_[s.job].key);
      const auto list = [&](const std::vector<Number>& datasets) {
        std::set<std::uint64_t> keys;
        for (const Number d : datasets) keys.insert(datasets_[d].key);
        b.Number(keys.size());
        for (const std::uint64_t k : keys) Key(b, k);
      };
      list(s.in), list(s.out);
      std::set<std::pair<std::uint64_t, std::uint64_t>> pairs;
      for (const auto& [from, to] : s.pairs) pairs.emplace(datasets_[from].key, datasets_[to].key);
      b.Number(pairs.size());
      for (const auto& [from, to] : pairs) Key(b, from), Key(b, to);
      block.End(shape_keys[i]);
    }
  }
  // Runs by their beginning, so that those of a new day are blocks of their own.
  BlockMaker block(Section::kRuns, out);
  const auto earlier = [](const SeenRun& a, const SeenRun& b) {
    return std::tie(a.first, a.id[0], a.id[1]) < std::tie(b.first, b.id[0], b.id[1]);
  };
  for (const std::uint32_t i : Sorted(runs_, earlier)) {
    const SeenRun& r = runs_[i];
    ByteWriter& b = block.bytes();
    Key(b, r.id[0]), Key(b, r.id[1]), Key(b, shape_keys[r.shape]);
    Signed(b, r.first), b.Number(static_cast<std::uint64_t>(r.last - r.first)), b.Byte(r.flags);
    if (r.flags & kNominal) Signed(b, r.from - r.first), Signed(b, r.to - r.from);
    std::vector<SeenPart> parts = r.parts == 0 ? std::vector<SeenPart>() : parts_[r.parts - 1];
    std::sort(parts.begin(), parts.end(), [&](const SeenPart& x, const SeenPart& y) {
      return std::tie(datasets_[x.dataset].key, x.written) < std::tie(datasets_[y.dataset].key, y.written);
    });
    b.Number(parts.size());
    for (const SeenPart& p : parts) {
      Key(b, datasets_[p.dataset].key);
      b.Byte(static_cast<unsigned char>(p.written | p.stated << 1 | p.period.gaps << 2));
      b.Byte(static_cast<unsigned char>(p.period.cut));
      Signed(b, p.period.from), Signed(b, p.period.to - p.period.from);
    }
    block.End(r.id[0]);
  }
  return out;
}

void Ledger::Unpack(const std::deque<std::string>& blocks) {
  std::unordered_map<std::uint64_t, std::uint32_t> shape_by_key;
  for (const std::string& bytes : blocks) {
    ByteReader in(bytes, kDamaged);
    const auto dataset = [&](std::uint64_t key) {
      const auto it = dataset_of_.find(key);
      if (it == dataset_of_.end()) in.Fail();
      return it->second;
    };
    const auto section = static_cast<Section>(in.Byte());
    while (!in.done()) {
      switch (section) {
        case Section::kDatasets: {
          const std::string_view space = in.Text(), name = in.Text();
          SeenDataset& d = datasets_[DatasetByKey(KeyOfName(space, name), space, name)];
          const std::string_view least = in.Text(), greatest = in.Text();
          if (!least.empty() && (d.least.empty() || least < d.least)) d.least = least;
          if (greatest > d.greatest) d.greatest = greatest;
          Get(in, d.owner), Get(in, d.symlinks), Get(in, d.renamed_from);
          break;
        }
        case Section::kJobs: {
          const std::string_view space = in.Text();
          SeenJob& j = jobs_[Job(space, in.Text())];
          Get(in, j.owner), Get(in, j.integration), Get(in, j.type), Get(in, j.parents), Get(in, j.after);
          break;
        }
        case Section::kColumns: {
          const Number from = dataset(Key(in)), to = dataset(Key(in));
          ColumnPairs& pairs = columns_[{from, to}];
          for (std::size_t n = in.Count(); n > 0; --n) {
            std::string column(in.Text());
            pairs.emplace(std::move(column), std::string(in.Text()));
          }
          break;
        }
        case Section::kShapes: {
          const std::uint64_t key = Key(in);
          Shape s;
          const auto job = job_of_.find(Key(in));
          if (job == job_of_.end()) in.Fail();
          s.job = job->second;
          for (std::size_t n = in.Count(); n > 0; --n) s.in.push_back(dataset(Key(in)));
          for (std::size_t n = in.Count(); n > 0; --n) s.out.push_back(dataset(Key(in)));
          for (std::size_t n = in.Count(); n > 0; --n) {
            const Number from = dataset(Key(in));
            s.pairs.emplace_back(from, dataset(Key(in)));
          }
          std::sort(s.in.begin(), s.in.end()), std::sort(s.out.begin(), s.out.end());
          std::sort(s.pairs.begin(), s.pairs.end());
          shape_by_key[key] = ShapeNumber(std::move(s));
          break;
        }
        case Section::kRuns: {
          std::uint64_t id[2] = {Key(in), 0};
          id[1] = Key(in);
          const auto shape = shape_by_key.find(Key(in));
          if (shape == shape_by_key.end()) in.Fail();
          bool fresh = false;
          SeenRun& r = Run(id, fresh);
          const std::int64_t first = Signed(in), last = first + static_cast<std::int64_t>(in.Number());
          if (fresh) {
            r.shape = shape->second, r.first = first, r.last = last;
          } else {
            Unite(r, shapes_[shape->second]);
            r.first = std::min(r.first, first), r.last = std::max(r.last, last);
          }
          const unsigned char flags = in.Byte();
          if (flags & kNominal) {
            const std::int64_t from = first + Signed(in), to = from + Signed(in);
            if (!(r.flags & kNominal) || std::tie(from, to) < std::tie(r.from, r.to))
              r.from = from, r.to = to;
          }
          r.flags |= flags;
          std::vector<SeenPart> parts(in.Count());
          for (SeenPart& p : parts) {
            p.dataset = dataset(Key(in));
            const unsigned char bits = in.Byte();
            p.written = bits & 1, p.stated = bits & 2, p.period.gaps = bits & 4;
            const unsigned char cut = in.Byte();
            if (cut > static_cast<unsigned char>(Cut::kYear)) in.Fail();
            p.period.cut = static_cast<Cut>(cut);
            p.period.from = Signed(in), p.period.to = p.period.from + Signed(in);
          }
          AddParts(r, parts);
          break;
        }
        default: in.Fail();
      }
    }
  }
}

}  // namespace backreach::openlineage
