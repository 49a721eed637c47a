// An event is walked once, on demand: most of its bytes are facets that nobody asks for (schemas, plans,
// source code), and are stepped over. The few facets that say something of lineage are parsed by themselves;
// those that come again byte for byte are known by their hash.

#include "ingest/openlineage/events.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <unordered_set>

#include "graph/base/digest.hpp"
#include "graph/base/words.hpp"
#include "graph/time/time.hpp"

namespace backreach::openlineage {

namespace od = simdjson::ondemand;
namespace dom = simdjson::dom;

struct EventReader::State {
  Ledger& ledger;
  od::parser parser;
  dom::parser facets;
  Event event;
  std::unordered_set<std::uint64_t> known_columns;  // facets of columns that were taken before
  std::string space, name;                          // of the dataset that is being read
  std::size_t left_out = 0, without_time = 0;
  std::string time_text;

  explicit State(Ledger& l) : ledger(l) {}

  // ---- Small readers ----

  static std::string_view Str(const dom::element& e, std::string_view key) {
    dom::element child;
    std::string_view s;
    if (!e.is_object() || e[key].get(child) || child.get(s)) return {};
    return s;
  }
  static bool Child(const dom::element& e, std::string_view key, dom::element& out) {
    return e.is_object() && !e[key].get(out) && !out.is_null();
  }
  template <typename F>
  static void Each(const dom::element& e, std::string_view key, F f) {
    dom::element child;
    dom::array list;
    if (!Child(e, key, child) || child.get(list)) return;
    for (const dom::element item : list) f(item);
  }
  bool Facet(od::value& value, dom::element& out) { return !facets.parse(Raw(value)).get(out); }
  static std::string_view Raw(od::value& value) { return simdjson::to_json_string(value).value(); }
  static bool IsObject(od::value& value) { return value.type().value() == od::json_type::object; }
  static void Text(od::value& value, std::string& out) {
    if (value.type().value() == od::json_type::string) out = value.get_string().value();
  }
  Number DatasetOf(const dom::element& e) {
    const std::string_view d = Str(e, "name");
    return d.empty() ? kNobody : ledger.Dataset(Str(e, "namespace"), d);
  }
  static Named NamedOf(const dom::element& e) {
    return {std::string(Str(e, "namespace")), std::string(Str(e, "name"))};
  }

  // ---- Facets of datasets ----

  static std::string Owners(const dom::element& facet) {
    std::vector<std::string> names;
    Each(facet, "owners", [&](const dom::element& owner) {
      const std::string_view n = Str(owner, "name");
      if (!n.empty()) names.emplace_back(n);
    });
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return Join(names, ", ");
  }

  // What stands before a dataset's own name in its JSON cannot be used yet: facets are kept until it is
  // known.
  struct Kept {
    enum class Kind { kOwnership, kSymlinks, kLifecycle, kColumns, kLineage, kSubset } kind;
    std::string_view raw;
  };
  std::vector<Kept> kept;

  void KeepFacets(od::object facets_of_it) {
    for (auto field : facets_of_it) {
      const auto key = field.key().value();
      od::value value = field.value();
      // By the first letter: a schema, which is most of what there is, costs one look.
      switch (key.raw()[0]) {
        case 'o':
          if (key.unsafe_is_equal("ownership")) kept.push_back({Kept::Kind::kOwnership, Raw(value)});
          break;
        case 's':
          if (key.unsafe_is_equal("symlinks"))
            kept.push_back({Kept::Kind::kSymlinks, Raw(value)});
          else if (key.unsafe_is_equal("subset"))
            kept.push_back({Kept::Kind::kSubset, Raw(value)});
          break;
        case 'l':
          if (key.unsafe_is_equal("lifecycleStateChange"))
            kept.push_back({Kept::Kind::kLifecycle, Raw(value)});
          else if (key.unsafe_is_equal("lineage"))
            kept.push_back({Kept::Kind::kLineage, Raw(value)});
          break;
        case 'c':
          if (key.unsafe_is_equal("columnLineage")) kept.push_back({Kept::Kind::kColumns, Raw(value)});
          break;
        default: break;
      }
    }
  }

  void TakeFacet(const Kept& k, Number number, bool written) {
    if (k.kind == Kept::Kind::kColumns && !known_columns.insert(Hash64(k.raw, number + 1)).second) return;
    dom::element facet;
    if (facets.parse(k.raw).get(facet) || !facet.is_object()) return;
    using What = Event::What;
    switch (k.kind) {
      case Kept::Kind::kOwnership:
        if (const std::string owners = Owners(facet); !owners.empty())
          event.words.push_back({What::kOwner, number, {"", owners}});
        break;
      case Kept::Kind::kSymlinks:
        Each(facet, "identifiers", [&](const dom::element& id) {
          if (Named n = NamedOf(id); !n.name.empty())
            event.words.push_back({What::kSymlink, number, std::move(n)});
        });
        break;
      case Kept::Kind::kLifecycle: {
        dom::element before;
        if (Str(facet, "lifecycleStateChange") == "RENAME" && Child(facet, "previousIdentifier", before))
          if (Named n = NamedOf(before); !n.name.empty())
            event.words.push_back({What::kRenamed, number, std::move(n)});
        break;
      }
      case Kept::Kind::kColumns: Columns(facet, number); break;
      case Kept::Kind::kLineage: Lineage(facet, number); break;
      case Kept::Kind::kSubset: {
        dom::element condition;
        if (Child(facet, written ? "outputCondition" : "inputCondition", condition))
          Subset(condition, number, written);
        break;
      }
    }
  }

  static bool Indirect(const dom::element& input) {
    bool indirect = false, direct = false;
    Each(input, "transformations",
         [&](const dom::element& t) { (Str(t, "type") == "INDIRECT" ? indirect : direct) = true; });
    return indirect && !direct;
  }

  void Columns(const dom::element& facet, Number to) {
    dom::element fields;
    dom::object object;
    if (Child(facet, "fields", fields) && !fields.get(object)) {
      for (const auto& field : object)
        Each(field.value, "inputFields", [&](const dom::element& input) {
          const Number from = DatasetOf(input);
          if (from != kNobody)
            ledger.Columns(from, to, Str(input, "field"), Indirect(input) ? std::string_view() : field.key);
        });
    }
    Each(facet, "dataset", [&](const dom::element& input) {
      const Number from = DatasetOf(input);
      if (from != kNobody) ledger.Columns(from, to, Str(input, "field"), "");
    });
  }

  // The facet that says which inputs an output comes from, in the place of all.
  void Lineage(const dom::element& facet, Number to) {
    Each(facet, "inputs", [&](const dom::element& input) {
      const Number from = DatasetOf(input);
      if (from == kNobody) return;
      event.pairs.emplace_back(from, to);
      const std::string_view field = Str(input, "field");
      if (!field.empty()) ledger.Columns(from, to, field, "");
    });
    dom::element fields;
    dom::object object;
    if (!Child(facet, "fields", fields) || fields.get(object)) return;
    for (const auto& field : object)
      Each(field.value, "inputs", [&](const dom::element& input) {
        const Number from = DatasetOf(input);
        if (from == kNobody) return;
        event.pairs.emplace_back(from, to);
        const std::string_view column = Str(input, "field");
        if (!column.empty()) ledger.Columns(from, to, column, Indirect(input) ? "" : field.key);
      });
  }

  // ---- Which part of a dataset ----

  void Subset(const dom::element& condition, Number number, bool written) {
    const std::string_view type = Str(condition, "type");
    std::vector<Period> periods;
    bool unknown = false;
    if (type == "partition") {
      Each(condition, "partitions", [&](const dom::element& partition) {
        KeyValues keys;
        std::deque<std::string> made;
        dom::element dimensions;
        dom::object object;
        if (Child(partition, "dimensions", dimensions) && !dimensions.get(object))
          for (const auto& d : object) {
            std::string_view text;
            if (d.value.get(text)) text = made.emplace_back(simdjson::minify(d.value));
            keys.emplace_back(d.key, text);
          }
        const auto period = PeriodOf(keys);
        unknown = unknown || !period;
        if (period) periods.push_back(*period);
      });
    } else if (type == "location") {
      Each(condition, "locations", [&](const dom::element& location) {
        std::string_view path;
        if (location.get(path)) return;
        const auto cut = CutPath(path);
        unknown = unknown || !cut || !cut->period;
        if (cut && cut->period) periods.push_back(*cut->period);
      });
    } else if (type == "binary" || type == "compare") {
      if (const auto period = Bounds(condition)) event.parts.push_back({number, written, false, *period});
      return;
    }
    const auto all = Together(std::move(periods));
    if (all && !unknown) event.parts.push_back({number, written, true, *all});
  }

  // The stretch between two bounds of one field, of conditions that all have to hold.
  static std::optional<Period> Bounds(const dom::element& condition) {
    constexpr std::size_t kMost = 64;  // conditions; what is longer is nothing that anybody wrote
    struct Found {
      std::string field;
      std::optional<Civil> from, to;
      Cut cut = Cut::kNone;
    };
    std::vector<Found> fields;
    std::vector<dom::element> todo = {condition};
    for (std::size_t n = 0; !todo.empty(); ++n) {
      const dom::element e = todo.back();
      todo.pop_back();
      if (n > kMost) return std::nullopt;
      dom::element left, right;
      if (!Child(e, "left", left) || !Child(e, "right", right)) return std::nullopt;
      if (Str(e, "type") == "binary") {
        if (Upper(Str(e, "operator")) != "AND") return std::nullopt;
        todo.push_back(left), todo.push_back(right);
        continue;
      }
      std::string comparison = Upper(Str(e, "comparison"));
      if (Str(left, "type") == "literal") {
        std::swap(left, right);
        if (StartsWith(comparison, "GREATER"))
          comparison = "LESS" + comparison.substr(7);
        else if (StartsWith(comparison, "LESS"))
          comparison = "GREATER" + comparison.substr(4);
      }
      const auto bound = ParsePeriod(Str(right, "value"));
      const std::string_view name = Str(left, "field");
      if (name.empty() || !bound) continue;  // another column's condition only takes rows away
      auto it = std::find_if(fields.begin(), fields.end(), [&](const Found& f) { return f.field == name; });
      if (it == fields.end()) it = fields.insert(it, Found{std::string(name), {}, {}, Cut::kNone});
      const bool equal = comparison == "EQUAL" || comparison == "EQUALS";
      if (it->cut == Cut::kNone || bound->cut < it->cut) it->cut = bound->cut;
      // A bound that is left out is taken as in: more was read, never less.
      if (equal || StartsWith(comparison, "GREATER")) it->from = bound->from;
      if (equal || StartsWith(comparison, "LESS"))
        it->to = equal || comparison.find("EQUAL") != std::string::npos ? bound->to : bound->from;
    }
    std::optional<Period> out;
    for (const Found& f : fields) {
      if (!f.from || !f.to || *f.from >= *f.to) continue;
      if (out) return std::nullopt;  // two columns of time: nobody knows which one cuts it
      out = Period{f.cut, *f.from, *f.to, false};
    }
    return out;
  }

  // ---- Datasets of an event ----

  void TakeDataset(od::object object, bool written, bool listed) {
    space.clear(), name.clear(), kept.clear();
    for (auto field : object) {
      const auto key = field.key().value();
      od::value value = field.value();
      if (key.unsafe_is_equal("namespace"))
        Text(value, space);
      else if (key.unsafe_is_equal("name"))
        Text(value, name);
      else if ((key.unsafe_is_equal("facets") || key.unsafe_is_equal("inputFacets") ||
                key.unsafe_is_equal("outputFacets")) &&
               IsObject(value))
        KeepFacets(value.get_object().value());
    }
    if (name.empty()) return;
    std::optional<Period> part;
    const Number number = ledger.Dataset(space, name, &part);
    if (listed) (written ? event.out : event.in).push_back(number);
    bool subset = false;
    for (const Kept& k : kept) {
      subset = subset || k.kind == Kept::Kind::kSubset;
      TakeFacet(k, number, written);
    }
    if (part && !subset && listed) event.parts.push_back({number, written, true, *part});
  }

  void TakeDatasets(od::value& value, bool written) {
    if (value.type().value() != od::json_type::array) return;
    od::array list = value.get_array().value();  // a range of a temporary would be gone when it is walked
    for (auto item : list) {
      od::value dataset = item.value();
      if (IsObject(dataset)) TakeDataset(dataset.get_object().value(), written, true);
    }
  }

  // ---- The run and its job ----

  void TakeNominal(const dom::element& facet) {
    const std::string_view from = Str(facet, "nominalStartTime"), to = Str(facet, "nominalEndTime");
    const auto a = ParseInstant(from, true), b = ParseInstant(to, true);
    if (!a || !b || *a >= *b) return;  // without an end, or empty: it tells no period
    event.from = *a, event.to = *b;
    event.flags |= kNominal;
  }

  // Assets that Airflow could not translate stand as Python's text: [{'uri': 's3://lake/orders', ...}].
  void TakeAssets(std::string_view text, bool written) {
    constexpr std::string_view kUri = "'uri': '";
    for (std::size_t at = text.find(kUri); at != std::string_view::npos; at = text.find(kUri, at)) {
      at += kUri.size();
      const std::size_t end = text.find('\'', at);
      if (end == std::string_view::npos) return;
      const std::string_view uri = text.substr(at, end - at);
      const std::size_t scheme = uri.find("://");
      if (scheme == std::string_view::npos) continue;
      const std::size_t slash = uri.find('/', scheme + 3);
      if (slash == std::string_view::npos) continue;
      std::optional<Period> part;
      const Number number = ledger.Dataset(uri.substr(0, slash), uri.substr(slash + 1), &part);
      (written ? event.out : event.in).push_back(number);
      if (part) event.parts.push_back({number, written, true, *part});
    }
  }

  void TakeRunFacets(od::object object) {
    for (auto field : object) {
      const auto key = field.key().value();
      od::value value = field.value();
      dom::element facet, more;
      if (key.unsafe_is_equal("nominalTime")) {
        if (Facet(value, facet)) TakeNominal(facet);
      } else if (key.unsafe_is_equal("parent")) {
        if (Facet(value, facet) && Child(facet, "job", more))
          if (Named n = NamedOf(more); !n.name.empty())
            event.words.push_back({Event::What::kParent, kNobody, std::move(n)});
      } else if (key.unsafe_is_equal("jobDependencies")) {
        if (!Facet(value, facet)) continue;
        Each(facet, "upstream", [&](const dom::element& upstream) {
          dom::element job;
          if (!Child(upstream, "job", job)) return;
          if (Named n = NamedOf(job); !n.name.empty())
            event.words.push_back({Event::What::kAfter, kNobody, std::move(n)});
        });
      } else if (key.unsafe_is_equal("airflow") && IsObject(value)) {
        od::object parts = value.get_object().value();
        for (auto part : parts) {
          const auto name_of_part = part.key().value();
          od::value task = part.value();
          if (!name_of_part.unsafe_is_equal("task") || !Facet(task, facet)) continue;
          TakeAssets(Str(facet, "inlets"), false);
          TakeAssets(Str(facet, "outlets"), true);
        }
      }
    }
  }

  void TakeRun(od::object object) {
    for (auto field : object) {
      const auto key = field.key().value();
      od::value value = field.value();
      if (key.unsafe_is_equal("runId"))
        Text(value, event.run);
      else if (key.unsafe_is_equal("facets") && IsObject(value))
        TakeRunFacets(value.get_object().value());
    }
    event.of_run = true;
  }

  void TakeJob(od::object object) {
    for (auto field : object) {
      const auto key = field.key().value();
      od::value value = field.value();
      if (key.unsafe_is_equal("namespace"))
        Text(value, event.job.space);
      else if (key.unsafe_is_equal("name"))
        Text(value, event.job.name);
      else if (key.unsafe_is_equal("facets") && IsObject(value))
        TakeJobFacets(value.get_object().value());
    }
  }

  void TakeJobFacets(od::object object) {
    for (auto field : object) {
      const auto key = field.key().value();
      od::value value = field.value();
      dom::element facet;
      if (key.unsafe_is_equal("ownership")) {
        if (!Facet(value, facet)) continue;
        if (const std::string owners = Owners(facet); !owners.empty())
          event.words.push_back({Event::What::kJobOwner, kNobody, {"", owners}});
      } else if (key.unsafe_is_equal("jobType")) {
        if (!Facet(value, facet)) continue;
        event.words.push_back({Event::What::kIntegration, kNobody, {"", Lower(Str(facet, "integration"))}});
        event.words.push_back({Event::What::kType, kNobody, {"", Lower(Str(facet, "jobType"))}});
      } else if (key.unsafe_is_equal("lineage")) {
        if (Facet(value, facet)) TakeEntries(facet);
      }
    }
  }

  // Of a job: outputs by name, each with its inputs.
  void TakeEntries(const dom::element& facet) {
    Each(facet, "entries", [&](const dom::element& entry) {
      const Number to = DatasetOf(entry);
      if (to != kNobody) Lineage(entry, to);
    });
  }

  void TakeType(od::value& value) {
    Text(value, time_text);
    const std::string type = Upper(time_text);
    if (type == "COMPLETE") event.flags |= kCompleted;
    if (type == "FAIL" || type == "ABORT") event.flags |= kFailed;
  }

  bool has_time = false, has_dataset = false;

  void Walk(od::object object) {
    for (auto field : object) {
      const auto key = field.key().value();
      od::value value = field.value();
      if (key.unsafe_is_equal("eventTime")) {
        Text(value, time_text);
        if (const auto at = ParseInstant(time_text, true)) event.at = *at, has_time = true;
      } else if (key.unsafe_is_equal("eventType")) {
        TakeType(value);
      } else if (key.unsafe_is_equal("run")) {
        if (IsObject(value)) TakeRun(value.get_object().value());
      } else if (key.unsafe_is_equal("job")) {
        if (IsObject(value)) TakeJob(value.get_object().value());
      } else if (key.unsafe_is_equal("inputs")) {
        TakeDatasets(value, false);
      } else if (key.unsafe_is_equal("outputs")) {
        TakeDatasets(value, true);
      } else if (key.unsafe_is_equal("dataset") && IsObject(value)) {
        TakeDataset(value.get_object().value(), false, false);
        has_dataset = true;
      }
    }
  }

  std::string Read(std::string_view document) {
    event.Clear();
    has_time = has_dataset = false;
    try {
      od::document doc = parser.iterate(document.data(), document.size(), document.size() + 64);
      if (doc.type().value() != od::json_type::object) return "is no JSON object";
      Walk(doc.get_object().value());
      if (doc.current_location().error() != simdjson::OUT_OF_BOUNDS) return "something stands behind its end";
    } catch (const simdjson::simdjson_error& e) {
      return std::string("is no JSON: ") + e.what();
    }
    if (event.job.name.empty() && !has_dataset) {
      ++left_out;
      return "";
    }
    if (!has_time) ++without_time;
    if (!event.of_run) event.flags |= kDeclared;
    ledger.Take(event);
    return "";
  }
};

EventReader::EventReader(Ledger& ledger) : state_(std::make_unique<State>(ledger)) {}
EventReader::~EventReader() = default;
std::string EventReader::Read(std::string_view document) { return state_->Read(document); }
std::size_t EventReader::left_out() const { return state_->left_out; }
std::size_t EventReader::without_time() const { return state_->without_time; }

}  // namespace backreach::openlineage
