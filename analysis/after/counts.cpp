// A count that is none must not become a number on its way in: digits alone are one.

#include "analysis/after/counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

struct Record {
  std::vector<std::string> fields;
  std::size_t line = 0;
};

// RFC 4180: quotes around a field, doubled inside; line breaks in them count as lines.
class Reader {
 public:
  Reader(const std::string& text, const std::string& path, Diagnostics& diagnostics)
      : text_(text), path_(path), diagnostics_(diagnostics) {
    if (StartsWith(text_, "\xEF\xBB\xBF")) at_ = 3;
  }

  std::optional<Record> Next() {
    while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) Newline();
    if (at_ >= text_.size()) return std::nullopt;
    Record out;
    out.line = line_;
    for (;;) {
      out.fields.push_back(Field());
      if (at_ < text_.size() && text_[at_] == ',') {
        ++at_;
        continue;
      }
      if (at_ < text_.size()) Newline();
      return out;
    }
  }

 private:
  void Newline() {
    if (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++at_;
    ++at_, ++line_;
  }

  std::string Field() {
    std::string out;
    if (at_ < text_.size() && text_[at_] == '"') {
      const std::size_t begun = line_;
      for (++at_; at_ < text_.size(); ++at_) {
        if (text_[at_] == '\n') ++line_;
        if (text_[at_] != '"') {
          out += text_[at_];
        } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
          out += text_[at_++];
        } else {
          ++at_;
          return out;
        }
      }
      diagnostics_.Error(fmt::format("{}:{}", path_, begun), "a quoted field does not end");
      return out;
    }
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n' && text_[at_] != '\r')
      out += text_[at_++];
    const std::size_t first = out.find_first_not_of(" \t"), last = out.find_last_not_of(" \t");
    return first == std::string::npos ? "" : out.substr(first, last - first + 1);
  }

  const std::string& text_;
  const std::string& path_;
  Diagnostics& diagnostics_;
  std::size_t at_ = 0, line_ = 1;
};

std::optional<std::int64_t> WholeNumber(const std::string& text) {
  if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return std::stoll(text);
}

const std::vector<std::string>& Columns() {
  static const std::vector<std::string> names = {"dataset", "partition", "rows", "distinct_keys",
                                                 "counted_at"};
  return names;
}

// Where each known column stands; false where the header is none.
bool ReadHeader(const Record& header, const std::string& path, Diagnostics& diagnostics,
                std::map<std::string, std::size_t>& at) {
  const std::string where = fmt::format("{}:{}", path, header.line);
  const std::string form = "a counts file begins with: dataset,partition,rows[,distinct_keys][,counted_at]";
  for (std::size_t i = 0; i < header.fields.size(); ++i) {
    const std::string name = Lower(header.fields[i]);
    if (std::find(Columns().begin(), Columns().end(), name) == Columns().end()) {
      const auto near = Nearest(name, Columns(), 1);
      diagnostics.Error(where, fmt::format("unknown column '{}'", header.fields[i]),
                        {near.empty() ? form : "did you mean '" + near[0] + "'?"});
      return false;
    }
    if (!at.emplace(name, i).second) {
      diagnostics.Error(where, fmt::format("the column '{}' stands twice", name), {form});
      return false;
    }
  }
  for (std::size_t i = 0; i < 3; ++i)
    if (!at.count(Columns()[i])) {
      diagnostics.Error(where, fmt::format("the column '{}' is missing", Columns()[i]), {form});
      return false;
    }
  return true;
}

class Taker {
 public:
  Taker(const std::string& path, const std::map<std::string, std::size_t>& at, Diagnostics& diagnostics)
      : path_(path), at_(at), diagnostics_(diagnostics) {}

  void Take(const Record& r, Counts& out) {
    const std::string where = fmt::format("{}:{}", path_, r.line);
    if (r.fields.size() != at_.size()) {
      diagnostics_.Error(where, fmt::format("has {} fields, and the header {}", r.fields.size(), at_.size()));
      return;
    }
    Count c;
    c.line = r.line;
    c.dataset = Of(r, "dataset"), c.partition = Of(r, "partition");
    if (c.dataset.empty()) diagnostics_.Error(where, "names no dataset");
    const auto rows = WholeNumber(Of(r, "rows"));
    if (!rows)
      diagnostics_.Error(where, fmt::format("rows '{}' is no count", Of(r, "rows")),
                         {"a count is a whole number of digits; leave a cell out that was not counted"});
    c.rows = rows.value_or(0);
    if (const std::string text = Of(r, "distinct_keys"); !text.empty()) {
      c.distinct = WholeNumber(text);
      if (!c.distinct) diagnostics_.Error(where, fmt::format("distinct_keys '{}' is no count", text));
      if (c.distinct && rows && *c.distinct > *rows)
        diagnostics_.Error(where,
                           fmt::format("has more distinct keys ({}) than rows ({})", *c.distinct, *rows));
    }
    if (const std::string text = Of(r, "counted_at"); !text.empty()) {
      c.at = ParseInstant(text, true);
      if (!c.at)
        diagnostics_.Error(where, fmt::format("counted_at '{}' is no instant", text),
                           {"write 2026-04-20T09:00:00Z"});
    }
    const auto [it, fresh] = seen_.emplace(std::pair(c.dataset, c.partition), r.line);
    if (!fresh)
      diagnostics_.Error(
          where,
          fmt::format("{} {} stands twice", c.dataset, c.partition.empty() ? "(no partition)" : c.partition),
          {fmt::format("the other one: {}:{}", path_, it->second)});
    out.rows.push_back(std::move(c));
  }

 private:
  std::string Of(const Record& r, const char* column) const {
    const auto it = at_.find(column);
    return it == at_.end() ? "" : r.fields[it->second];
  }
  const std::string& path_;
  const std::map<std::string, std::size_t>& at_;
  Diagnostics& diagnostics_;
  std::map<std::pair<std::string, std::string>, std::size_t> seen_;
};

}  // namespace

Counts ReadCounts(const std::string& text, const std::string& path, Diagnostics& diagnostics) {
  Counts out;
  out.path = path;
  Reader reader(text, path, diagnostics);
  const auto header = reader.Next();
  std::map<std::string, std::size_t> at;
  if (!header) {
    diagnostics.Error(path + ":1", "is empty",
                      {"a counts file begins with: dataset,partition,rows[,distinct_keys][,counted_at]"});
    return out;
  }
  if (!ReadHeader(*header, path, diagnostics, at)) return out;
  Taker taker(path, at, diagnostics);
  while (const auto record = reader.Next()) taker.Take(*record, out);
  return out;
}

}  // namespace backreach
