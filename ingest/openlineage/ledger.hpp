// What events have told, run by run: it only ever grows, in whatever order and however often the events come,
// so it may be put together from the ledgers of several files and days. Kept in the store as bytes; the facts
// are made of it (facts.cpp).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingest/openlineage/period.hpp"

namespace backreach::openlineage {

using Number = std::uint32_t;  // of a dataset or job in one ledger
inline constexpr Number kNobody = 0xFFFFFFFFu;

// What several events say differently: the newest counts, of one moment the greatest.
struct Newest {
  std::int64_t at = 0;
  std::string value;
  void Take(std::int64_t when, std::string_view what) {
    if (value.empty() || when > at || (when == at && what > value)) at = when, value = what;
  }
};

// A namespace and a name, as producers write them.
struct Named {
  std::string space, name;
  friend auto operator<=>(const Named&, const Named&) = default;
};

struct SeenDataset {
  Named id;               // of the name, what names a partition is left open (kOpen)
  std::uint64_t key = 0;  // by which other parts of the ledger know it
  // Names that the open one stood for, the least and the greatest: where they are the same it has no sibling.
  std::string least, greatest;
  Newest owner;
  std::set<Named> symlinks, renamed_from;
};

struct SeenJob {
  Named id;
  std::uint64_t key = 0;
  Newest owner, integration, type;
  std::set<Named> parents, after;
};

// Which part of a dataset a run read or wrote.
struct SeenPart {
  Number dataset = 0;
  bool written = false;
  bool stated = false;  // by a partition's key; a condition's bounds are none
  Period period;
};

// Who read and wrote what, shared by the runs that did the same.
struct Shape {
  Number job = 0;
  std::vector<Number> in, out;                   // sorted
  std::vector<std::pair<Number, Number>> pairs;  // where a producer says which output comes from which input
};

enum RunFlag : unsigned char { kCompleted = 1, kFailed = 2, kNominal = 4, kDeclared = 8 };

struct SeenRun {
  std::uint64_t id[2] = {0, 0};
  std::uint32_t shape = 0;
  std::uint32_t parts = 0;  // one more than the place of its parts; 0: none
  unsigned char flags = 0;
  std::int64_t first = 0, last = 0;  // seconds of UTC: its earliest and latest event
  std::int64_t from = 0, to = 0;     // its nominal time
  bool failed() const { return (flags & kFailed) && !(flags & kCompleted); }
};

// What one event tells. Kept by whoever reads, so that its lists need no memory of their own each time.
struct Event {
  std::int64_t at = 0;
  unsigned char flags = 0;
  bool of_run = false;
  Named job;
  std::string run;
  std::int64_t from = 0, to = 0;
  std::vector<Number> in, out;
  std::vector<std::pair<Number, Number>> pairs;
  std::vector<SeenPart> parts;
  enum class What { kOwner, kSymlink, kRenamed, kJobOwner, kIntegration, kType, kParent, kAfter };
  struct Word {
    What what;
    Number dataset = kNobody;
    Named value;  // a text stands in its name
  };
  std::vector<Word> words;
  void Clear() {
    at = from = to = 0, flags = 0, of_run = false;
    job.space.clear(), job.name.clear(), run.clear();
    in.clear(), out.clear(), pairs.clear(), parts.clear(), words.clear();
  }
};

class Ledger {
 public:
  // The number of a dataset by the name that a producer gives it; blanks at its ends are no part of it.
  // `part`: the period that the name itself tells.
  Number Dataset(std::string_view space, std::string_view name, std::optional<Period>* part = nullptr);
  void Columns(Number from, Number to, std::string_view column, std::string_view target);
  void Take(const Event& event);

  // As bytes, in blocks that change only where something in them does; and back into a ledger that may
  // already hold other things. Throws Error(kStore) for bytes that are none.
  std::deque<std::string> Pack() const;
  void Unpack(const std::deque<std::string>& blocks);

  const std::vector<SeenDataset>& datasets() const { return datasets_; }
  const std::vector<SeenJob>& jobs() const { return jobs_; }
  const std::vector<Shape>& shapes() const { return shapes_; }
  const std::vector<SeenRun>& runs() const { return runs_; }
  const std::vector<SeenPart>* PartsOf(const SeenRun& run) const {
    return run.parts == 0 ? nullptr : &parts_[run.parts - 1];
  }
  using ColumnPairs = std::set<std::pair<std::string, std::string>>;
  const std::map<std::pair<Number, Number>, ColumnPairs>& columns() const { return columns_; }
  std::size_t trimmed() const { return trimmed_; }
  const std::string& trimmed_example() const { return trimmed_example_; }

 private:
  Number DatasetByKey(std::uint64_t key, std::string_view space, std::string_view name);
  Number Job(std::string_view space, std::string_view name);
  std::uint32_t ShapeNumber(Shape shape);
  SeenRun& Run(const std::uint64_t (&id)[2], bool& fresh);
  void Unite(SeenRun& run, const Shape& more);
  void AddParts(SeenRun& run, const std::vector<SeenPart>& parts);
  std::uint64_t KeyOf(const Shape& shape) const;

  std::vector<SeenDataset> datasets_;
  std::vector<SeenJob> jobs_;
  std::vector<Shape> shapes_;
  std::vector<SeenRun> runs_;
  std::vector<std::vector<SeenPart>> parts_;
  std::map<std::pair<Number, Number>, ColumnPairs> columns_;
  std::unordered_map<std::uint64_t, Number> dataset_of_, job_of_;
  // Literal names that were taken apart before, each in the one place that its hash gives it: what comes
  // again and again is found at once, and what does not come again is forgotten.
  struct Said {
    std::uint64_t literal = 0;
    Number number = kNobody;
    std::optional<Period> part;
  };
  std::vector<Said> said_ = std::vector<Said>(1u << 14);
  std::unordered_map<std::uint64_t, std::uint32_t> shape_of_;
  std::vector<std::uint32_t> run_at_;  // open addressing over runs_: one more than a run's place
  std::size_t trimmed_ = 0;
  std::string trimmed_example_;
};

}  // namespace backreach::openlineage
