// Compiled code is read as it is; raw code is written out first, in each of its variants, and what they tell
// is put together. A parent that stands in no variant is one that the code never names.

#include "ingest/dbt/mappings.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "graph/base/words.hpp"
#include "ingest/sql/jinja_text.hpp"
#include "ingest/sql/query.hpp"
#include "ingest/sql/reach.hpp"

namespace backreach {

namespace {

class CodeReader {
 public:
  CodeReader(const DbtCode& code, const std::vector<DbtParent>& parents, const std::vector<std::string>& own,
             const std::vector<std::string>& columns, const MacroBodies& macros, const std::string& adapter)
      : code_(code), parents_(parents), own_(own), columns_(columns), macros_(macros), adapter_(adapter) {
    out_.of.resize(parents.size());
    out_.told.assign(parents.size(), false);
    out_.parents_days.resize(parents.size());
    named_.assign(parents.size(), false);
    by_column_.resize(parents.size());
    for (CodeReads& r : out_.of) r.place = code.path;
  }

  DbtCodeReads Read() {
    if (code_.python) {
      Unread("it is a Python model", 0);
      return std::move(out_);
    }
    if (!code_.compiled.empty()) {
      for (std::size_t i = 0; i < parents_.size(); ++i) by_name_ = true;
      One(code_.compiled, {});
    } else {
      const JinjaTexts texts = WriteOutJinja(code_.raw, macros_, adapter_);
      Refer(texts);
      for (const JinjaText& text : texts.variants) One(text.sql, text.lost);
    }
    Gather();
    return std::move(out_);
  }

 private:
  // Which references of the raw code are parents.
  void Refer(const JinjaTexts& texts) {
    for (const JinjaReference& r : texts.references) {
      references_.push_back(Meant(r));
    }
  }
  int Meant(const JinjaReference& r) const {
    for (std::size_t i = 0; i < parents_.size(); ++i) {
      const DbtParent& p = parents_[i];
      if (p.source != r.source || r.words.empty()) continue;
      if (r.source) {
        if (r.words.size() >= 2 && EndsWith(p.id, "." + r.words[0] + "." + r.words[1]))
          return static_cast<int>(i);
        continue;
      }
      std::vector<std::string> words = r.words;
      std::string version;
      if (words.size() > 1 && words.back().size() > 1 && words.back()[0] == 'v' &&
          std::isdigit(static_cast<unsigned char>(words.back()[1])))
        version = "." + words.back(), words.pop_back();
      const std::string tail = "." + words.back();
      if (EndsWith(p.id, tail + version) || (version.empty() && p.id.find(tail + ".v") != std::string::npos))
        return static_cast<int>(i);
    }
    return -1;
  }

  SqlNamed Table(const std::vector<std::string>& parts) const {
    for (const std::string& part : parts) {
      if (part == kSqlThis) return {SqlNamed::Kind::kThis, 0};
      if (StartsWith(part, std::string(kSqlParent))) {
        const std::size_t n = static_cast<std::size_t>(std::atoll(part.c_str() + kSqlParent.size()));
        const int p = n < references_.size() ? references_[n] : -1;
        if (p >= 0) return {SqlNamed::Kind::kParent, p};
        return {};
      }
    }
    const std::string last = Lower(parts.back());
    if (StartsWith(last, "__dbt__cte__")) {
      for (std::size_t i = 0; i < parents_.size(); ++i)
        for (const std::string& name : parents_[i].names)
          if (Lower(name) == last.substr(12)) return {SqlNamed::Kind::kParent, static_cast<int>(i)};
      return {};
    }
    const auto same = [&](const std::vector<std::string>& relation) {
      if (relation.empty() || parts.size() > relation.size()) return false;
      for (std::size_t k = 0; k < parts.size(); ++k)
        if (Lower(relation[relation.size() - 1 - k]) != Lower(parts[parts.size() - 1 - k])) return false;
      return true;
    };
    if (parts.size() > 1 || by_name_)
      for (std::size_t i = 0; i < parents_.size(); ++i)
        if (same(parents_[i].relation)) return {SqlNamed::Kind::kParent, static_cast<int>(i)};
    if (parts.size() > 1 && same(own_)) return {SqlNamed::Kind::kThis, 0};
    return {};
  }

  void One(const std::string& sql, const std::vector<std::string>& lost) {
    const auto tree = ReadQuery(sql, adapter_);
    if (!tree->query) {
      // Names that it holds all the same: only those parents can be meant.
      Unread(tree->trouble.empty() ? "its code could not be followed" : tree->trouble,
             Line(sql, tree->trouble_at));
      return;
    }
    SqlReachOptions o;
    o.adapter = adapter_;
    o.table = [&](const std::vector<std::string>& parts) { return Table(parts); };
    o.holds_days = [&](int p, const std::string& column) {
      const auto* days = parents_[static_cast<std::size_t>(p)].days;
      return days && days->count(column) > 0;
    };
    o.cut_to = [&](int p, const std::string& column) {
      const auto* cuts = parents_[static_cast<std::size_t>(p)].cuts;
      const auto it = cuts ? cuts->find(column) : std::map<std::string, Grain::Unit>::const_iterator();
      return cuts && it != cuts->end() ? it->second : Grain::Unit::kNone;
    };
    const SqlReach reach = ReachOf(*tree, sql, o, columns_);
    for (const auto& [p, column] : reach.parents_days)
      out_.parents_days[static_cast<std::size_t>(p)].insert(column);
    const bool any = !reach.named.empty();
    for (const int p : reach.named) named_[static_cast<std::size_t>(p)] = true;
    names_something_ = names_something_ || any;
    if (!lost.empty() && any) Unread(lost[0] + " could not be followed", 0);
    for (const auto& [p, sign] : reach.signs) {
      CodeReads& r = out_.of[static_cast<std::size_t>(p)];
      if (!r.plain) continue;
      r.plain = false;
      r.sign = sign.first;
      r.line = RawLine(sql, sign.second);
    }
    if (first_)
      out_.cuts = reach.cuts;
    else
      std::erase_if(out_.cuts, [&](const auto& c) {
        const auto it = reach.cuts.find(c.first);
        return it == reach.cuts.end() || it->second != c.second;
      });
    if (first_)
      out_.days = reach.days;
    else
      for (auto it = out_.days.begin(); it != out_.days.end();)
        it = reach.days.count(*it) ? std::next(it) : out_.days.erase(it);
    first_ = false;
    for (const auto& [column, uses] : reach.uses) {
      for (auto& of_parent : by_column_) of_parent[column];
      for (const SqlColumnUse& u : uses) {
        CodeUse use = u.use;
        use.line = RawLine(sql, use.line);
        for (CodeUse::Way& w : use.ways)
          if (w.column == column) w.column = "=";
        std::vector<CodeUse>& known = by_column_[static_cast<std::size_t>(u.parent)][column];
        if (std::find(known.begin(), known.end(), use) == known.end()) known.push_back(std::move(use));
      }
    }
  }
  static std::size_t Line(std::string_view sql, std::size_t at) {
    return 1 + static_cast<std::size_t>(std::count(
                   sql.begin(), sql.begin() + static_cast<std::ptrdiff_t>(std::min(at, sql.size())), '\n'));
  }
  // A line of compiled code by the same line of the file, where it stands there once.
  std::size_t RawLine(std::string_view sql, std::size_t line) const {
    if (code_.compiled.empty() || code_.raw.empty() || line == 0) return line;
    const std::string wanted = LineOf(sql, line);
    if (wanted.size() < 4) return 0;
    std::size_t found = 0, n = 1;
    for (std::size_t from = 0; from <= code_.raw.size(); ++n) {
      const std::size_t end = std::min(code_.raw.find('\n', from), code_.raw.size());
      if (std::string_view(code_.raw).substr(from, end - from) == wanted) {
        if (found) return found;
        found = n;
      }
      from = end + 1;
    }
    return found;
  }
  static std::string LineOf(std::string_view sql, std::size_t line) {
    std::size_t from = 0;
    for (std::size_t n = 1; n < line; ++n) {
      const std::size_t end = sql.find('\n', from);
      if (end == std::string_view::npos) return "";
      from = end + 1;
    }
    return std::string(sql.substr(from, std::min(sql.find('\n', from), sql.size()) - from));
  }

  void Unread(const std::string& why, std::size_t line) {
    for (std::size_t i = 0; i < parents_.size(); ++i) {
      CodeReads& r = out_.of[i];
      if (!r.unread.empty()) continue;
      r.unread = why;
      r.line = line;
      r.plain = false;
    }
    unread_ = true;
  }

  // Columns with the same uses stand together.
  void Gather() {
    for (std::size_t i = 0; i < parents_.size(); ++i) {
      CodeReads& r = out_.of[i];
      out_.told[i] = names_something_ || unread_;
      if (!named_[i] && r.unread.empty() && names_something_) {
        r.unread = "its code never names it";
        r.plain = false;
      }
      for (auto& [column, uses] : by_column_[i]) {
        CodeTrace* like = nullptr;
        for (CodeTrace& t : r.traces)
          if (t.uses == uses) like = &t;
        if (like)
          like->columns.push_back(column);
        else
          r.traces.push_back({{column}, std::move(uses)});
      }
    }
  }

  const DbtCode& code_;
  const std::vector<DbtParent>& parents_;
  const std::vector<std::string>&own_, &columns_;
  const MacroBodies& macros_;
  const std::string& adapter_;
  DbtCodeReads out_;
  std::vector<int> references_;
  std::vector<bool> named_;
  std::vector<std::map<std::string, std::vector<CodeUse>>> by_column_;
  bool names_something_ = false, unread_ = false, by_name_ = false, first_ = true;
};

}  // namespace

DbtCodeReads ReadDbtCode(const DbtCode& code, const std::vector<DbtParent>& parents,
                         const std::vector<std::string>& own_relation,
                         const std::vector<std::string>& columns, const MacroBodies& macros,
                         const std::string& adapter) {
  return CodeReader(code, parents, own_relation, columns, macros, adapter).Read();
}

}  // namespace backreach
