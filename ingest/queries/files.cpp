// The splitters. CSV: a field in quotes ends at a quote that is not doubled, and only such fields may hold
// separators and line breaks; `memchr` finds the ends. JSON: one value after the other, whatever stands
// between; values that are no text are handed on as JSON.

#include "ingest/queries/files.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "graph/base/words.hpp"
#include "ingest/read/json_split.hpp"

namespace backreach::queries {

namespace {

constexpr std::size_t kForget = 16u << 20;  // pages are given back in steps of this

// The fields of one CSV row after the other.
class CsvRows {
 public:
  CsvRows(std::string_view text, char separator) : text_(text), separator_(separator) {}

  // False at the end. Rows without anything in them are passed over.
  bool Next() {
    while (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r')) line_ += text_[at_++] == '\n';
    if (at_ >= text_.size()) return false;
    begin_ = line_;
    fields_.clear(), used_ = 0, open_ = false;
    for (;;) {
      if (at_ < text_.size() && text_[at_] == '"')
        Quoted();
      else
        Bare();
      if (at_ >= text_.size()) return true;
      const char c = text_[at_++];
      if (c == separator_) {
        if (at_ == text_.size()) fields_.emplace_back();
        continue;
      }
      if (c == '\r' && at_ < text_.size() && text_[at_] == '\n') ++at_;
      ++line_;
      return true;
    }
  }
  const std::vector<std::string_view>& fields() const { return fields_; }
  std::size_t line() const { return begin_; }
  std::size_t at() const { return at_; }
  bool open() const { return open_; }  // the file ended inside of a quoted field

 private:
  void Bare() {
    const char* from = text_.data() + at_;
    const char* const end = text_.data() + text_.size();
    const char* p = from;
    while (p < end && *p != separator_ && *p != '\n' && *p != '\r') ++p;
    fields_.emplace_back(from, static_cast<std::size_t>(p - from));
    at_ = static_cast<std::size_t>(p - text_.data());
  }
  void Quoted() {
    const std::size_t from = ++at_;
    std::string* copy = nullptr;  // where a quote is doubled
    std::size_t kept = from;
    for (;;) {
      const void* found =
          at_ < text_.size() ? std::memchr(text_.data() + at_, '"', text_.size() - at_) : nullptr;
      if (!found) {
        open_ = true;
        at_ = text_.size();
        break;
      }
      at_ = static_cast<std::size_t>(static_cast<const char*>(found) - text_.data());
      if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"') break;
      if (!copy) copy = &Scratch();
      copy->append(text_.substr(kept, at_ + 1 - kept));
      kept = at_ += 2;
    }
    std::string_view field = text_.substr(kept, at_ - kept);
    line_ += static_cast<std::size_t>(std::count(text_.data() + from, text_.data() + at_, '\n'));
    if (copy) {
      copy->append(field);
      field = *copy;
    }
    fields_.push_back(field);
    if (at_ < text_.size()) ++at_;  // the closing quote
    // What stands behind it up to the separator belongs to no field.
    while (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
  }
  std::string& Scratch() {
    if (used_ == scratch_.size()) scratch_.push_back(std::make_unique<std::string>());
    scratch_[used_]->clear();
    return *scratch_[used_++];
  }
  std::string_view text_;
  char separator_;
  std::size_t at_ = 0, line_ = 1, begin_ = 1, used_ = 0;
  bool open_ = false;
  std::vector<std::string_view> fields_;
  std::vector<std::unique_ptr<std::string>> scratch_;
};

char SeparatorOf(std::string_view header) {
  char best = ',';
  std::ptrdiff_t most = 0;
  for (const char c : {',', '\t', ';', '|'}) {
    const auto n = std::count(header.begin(), header.end(), c);
    if (n > most) most = n, best = c;
  }
  return best;
}

std::string_view FirstLine(std::string_view text) { return text.substr(0, text.find_first_of("\r\n")); }

// csvlog has no header: its columns by place.
constexpr Column kCsvLog[] = {
    Column::kStart,   Column::kUser,       Column::kDatabase, Column::kCount,   Column::kCount,
    Column::kSession, Column::kLineNumber, Column::kType,     Column::kCount,   Column::kCount,
    Column::kCount,   Column::kSeverity,   Column::kSqlState, Column::kMessage, Column::kCount,
    Column::kCount,   Column::kCount,      Column::kCount,    Column::kCount,   Column::kFailedQuery,
    Column::kCount,   Column::kCount,      Column::kClient,   Column::kCount,   Column::kCount};

bool LooksLikeTime(std::string_view field) { return field.size() >= 19 && TimeOf(field).has_value(); }

void EachCsv(const LogFile& log, MappedFile& file, Broken& broken, const TakeRecord& take) {
  const std::string_view bytes = WithoutMark(file.bytes());
  CsvRows rows(bytes, log.form == LogFile::Form::kCsvLog ? ',' : SeparatorOf(FirstLine(bytes)));
  std::vector<Column> columns(std::begin(kCsvLog), std::end(kCsvLog));
  std::size_t width = 0, forgotten = 0;
  if (log.form == LogFile::Form::kCsv) {
    if (!rows.Next()) return;
    columns.clear();
    bool text = false;  // STL_QUERY calls its text `querytxt`, and its number `query`
    for (const std::string_view name : rows.fields()) text = text || Lower(name) == "querytxt";
    for (const std::string_view name : rows.fields())
      columns.push_back(text && Lower(name) == "query" ? Column::kId
                                                       : ColumnOf(name).value_or(Column::kCount));
    width = columns.size();
  }
  const auto broke = [&](const char* why) {
    if (broken.rows++ == 0) broken.first_line = rows.line(), broken.why = why;
  };
  Record record;
  record.file = log.name;
  while (rows.Next()) {
    const auto& fields = rows.fields();
    if (rows.open()) {
      broke("the file ends inside of a quoted field");
      break;
    }
    const bool short_row = width > 0 ? fields.size() != width : fields.size() < 14;
    if (short_row) {
      broke("a row has another number of fields than the header");
      continue;
    }
    record.values.fill({});
    // The first of several columns that mean one thing counts, unless it is empty.
    for (std::size_t i = 0; i < fields.size() && i < columns.size(); ++i)
      if (columns[i] != Column::kCount && record[columns[i]].empty()) record.at(columns[i]) = fields[i];
    record.line = rows.line();
    take(record);
    if (rows.at() - forgotten > 2 * kForget) file.Forget(forgotten = rows.at() - kForget);
  }
}

// JSON values one behind the other, in an array or not.
class JsonValues {
 public:
  explicit JsonValues(std::string_view text) : text_(text) {}
  bool Next(std::string_view& value) {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      line_ += c == '\n';
      if (c == '{') break;
    }
    if (at_ >= text_.size()) return false;
    begin_ = line_;
    // Most stand on a line of their own.
    const void* found = std::memchr(text_.data() + at_, '\n', text_.size() - at_);
    std::size_t end =
        found ? static_cast<std::size_t>(static_cast<const char*>(found) - text_.data()) : text_.size();
    std::size_t last = end;
    while (last > at_ && (text_[last - 1] == '\r' || text_[last - 1] == ' ' || text_[last - 1] == ','))
      --last;
    const bool own_line = last > at_ && text_[last - 1] == '}' && (last - at_ > 1) && !NextIsNested(end);
    if (own_line) {
      value = text_.substr(at_, last - at_);
      at_ = end;
      return true;
    }
    const std::size_t stop = SkipJsonValue(text_, at_);
    if (stop == std::string_view::npos) {
      value = text_.substr(at_);
      at_ = text_.size();
      return true;
    }
    value = text_.substr(at_, stop - at_);
    line_ += static_cast<std::size_t>(std::count(value.begin(), value.end(), '\n'));
    at_ = stop;
    return true;
  }
  std::size_t line() const { return begin_; }
  std::size_t at() const { return at_; }

 private:
  // A value that goes on in the next line (written with indentation).
  bool NextIsNested(std::size_t end) const {
    const std::size_t next = text_.find_first_not_of(" \t\r\n,", end);
    return next != std::string_view::npos && text_[next] != '{' && text_[next] != ']';
  }
  std::string_view text_;
  std::size_t at_ = 0, line_ = 1, begin_ = 1;
};

void EachJson(const LogFile& log, MappedFile& file, Broken& broken, const TakeRecord& take) {
  const std::string_view text = WithoutMark(file.bytes());
  JsonValues values(text);
  simdjson::dom::parser parser;
  Record record;
  record.file = log.name;
  std::vector<std::string> made;
  std::string_view value;
  std::size_t forgotten = 0;
  while (values.Next(value)) {
    simdjson::dom::element e;
    simdjson::dom::object object;
    if (parser.parse(value.data(), value.size()).get(e) || e.get(object)) {
      if (broken.rows++ == 0) broken.first_line = values.line(), broken.why = "a value is no JSON object";
      continue;
    }
    record.values.fill({});
    made.clear();
    made.reserve(object.size());
    for (const auto& field : object) {
      const auto column = field.key == "query" && record[Column::kMessage].data()
                              ? Column::kFailedQuery
                              : ColumnOf(field.key).value_or(Column::kCount);
      if (column == Column::kCount || !record[column].empty() || field.value.is_null()) continue;
      if (field.key == "pid") continue;  // of PostgreSQL's server, which names sessions better
      std::string_view s;
      if (!field.value.get(s))
        record.at(column) = s;
      else
        record.at(column) = made.emplace_back(simdjson::minify(field.value));
    }
    record.line = values.line();
    take(record);
    if (values.at() - forgotten > 2 * kForget) file.Forget(forgotten = values.at() - kForget);
  }
}

}  // namespace

std::optional<LogFile> LookAt(const std::string& path, Diagnostics& diagnostics) {
  auto file = MappedFile::Open(path, diagnostics);
  if (!file) return std::nullopt;
  LogFile log;
  log.path = path, log.name = BaseName(path);
  const std::string_view text = WithoutMark(file->bytes());
  if (const auto fault = EncodingFault(text.substr(0, std::min<std::size_t>(text.size(), 4096)));
      fault && text.substr(0, 2) != "{\"" && fault->find("UTF-16") != std::string::npos) {
    diagnostics.Error(path, *fault);
    return std::nullopt;
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) {
    diagnostics.Error(path, "the file is empty: no statement is in it");
    return std::nullopt;
  }
  if (text[first] == '{' || (text[first] == '[' && text.find('{', first) != std::string_view::npos &&
                             text.find_first_not_of(" \t\r\n", first + 1) == text.find('{', first))) {
    log.form = LogFile::Form::kJson;
    JsonValues values(text);
    simdjson::dom::parser parser;
    std::string_view value;
    for (int n = 0; n < 50 && values.Next(value); ++n) {
      simdjson::dom::element e;
      simdjson::dom::object object;
      if (parser.parse(value.data(), value.size()).get(e) || e.get(object)) continue;
      for (const auto& field : object)
        if (const auto column = ColumnOf(field.key))
          log.columns.there[static_cast<std::size_t>(*column)] = true;
    }
    return log;
  }
  CsvRows rows(text.substr(first), SeparatorOf(FirstLine(text.substr(first))));
  if (!rows.Next()) return log;
  if (rows.fields().size() >= 14 && LooksLikeTime(rows.fields()[0])) {
    log.form = LogFile::Form::kCsvLog;
    for (const Column c : kCsvLog)
      if (c != Column::kCount) log.columns.there[static_cast<std::size_t>(c)] = true;
    return log;
  }
  std::size_t known = 0;
  for (const std::string_view name : rows.fields())
    if (const auto column = ColumnOf(name)) {
      log.columns.there[static_cast<std::size_t>(*column)] = true;
      ++known;
    }
  if (known >= 2 || (known == 1 && rows.fields().size() <= 2 && log.columns.Has(Column::kText))) return log;
  log.columns = {};
  log.form = LogFile::Form::kSql;
  return log;
}

void EachRecord(const LogFile& log, Diagnostics& diagnostics, Broken& broken, const TakeRecord& take) {
  auto file = MappedFile::Open(log.path, diagnostics);
  if (!file) return;
  if (log.form == LogFile::Form::kJson)
    EachJson(log, *file, broken, take);
  else if (log.form != LogFile::Form::kSql)
    EachCsv(log, *file, broken, take);
  else {
    Record record;
    record.file = log.name;
    record.line = 1;
    record.at(Column::kText) = WithoutMark(file->bytes());
    take(record);
  }
  if (!file->Settled(log.path, diagnostics)) return;
}

}  // namespace backreach::queries
