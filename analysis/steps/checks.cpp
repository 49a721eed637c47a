// Nothing here knows a table's SQL: a dialect is how names are quoted, how a time is written, and how a time
// is cut down to a partition.

#include "analysis/steps/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <tuple>

#include "graph/base/sql_text.hpp"
#include "graph/base/words.hpp"

namespace backreach {

namespace {

enum class Truncation { kStandard, kBigQuery, kClickHouse, kSqlServer };

struct Dialect {
  const char* name;
  bool quotes_relation;  // dbt quotes the parts of a relation there
  bool typed_times;      // a time has to be marked as one
  Truncation truncation;
};

constexpr Dialect kDialects[] = {
    {"postgres", true, false, Truncation::kStandard},   {"redshift", true, false, Truncation::kStandard},
    {"duckdb", true, false, Truncation::kStandard},     {"snowflake", false, false, Truncation::kStandard},
    {"trino", true, true, Truncation::kStandard},       {"athena", true, true, Truncation::kStandard},
    {"bigquery", true, false, Truncation::kBigQuery},   {"databricks", true, false, Truncation::kStandard},
    {"spark", false, false, Truncation::kStandard},     {"clickhouse", true, false, Truncation::kClickHouse},
    {"sqlserver", true, false, Truncation::kSqlServer}, {"fabric", true, false, Truncation::kSqlServer},
};

const Dialect* DialectOf(const std::string& platform) {
  for (const Dialect& d : kDialects)
    if (platform == d.name) return &d;
  return nullptr;
}

bool PlainName(std::string_view s) {
  return !s.empty() && !std::isdigit(static_cast<unsigned char>(s[0])) &&
         std::all_of(s.begin(), s.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}

bool Reserved(const std::string& name) {
  static constexpr std::string_view kWords[] = {
      "all",    "and",      "as",     "asc",       "by",      "case",  "check",      "column", "default",
      "desc",   "distinct", "else",   "end",       "for",     "from",  "group",      "having", "in",
      "index",  "is",       "join",   "key",       "like",    "limit", "not",        "null",   "offset",
      "on",     "or",       "order",  "partition", "primary", "range", "references", "row",    "rows",
      "select", "set",      "table",  "then",      "to",      "union", "user",       "using",  "values",
      "when",   "where",    "window", "with"};
  const std::string lower = Lower(name);
  return std::find(std::begin(kWords), std::end(kWords), lower) != std::end(kWords);
}

class Writer {
 public:
  Writer(const Dialect& dialect, const Dataset& d, const Step& step)
      : dialect_(dialect), d_(d), step_(step), key_(FindKey()) {}

  void Write(Step& out) const {
    const bool dbt = d_.methods.count("dbt") > 0;
    const std::string where = Where(), key = KeyList();
    if (!key.empty())
      out.before_publish.push_back(
          {"the key is unique in the staged rows", "sql",
           fmt::format("-- {}: the rows that the run is about to write, built elsewhere first\n{}",
                       Printable(Staged()), Duplicates(Staged(), key, where))});
    out.before_publish.push_back({"rows per partition, to compare with those after", "sql", Counts(where)});
    if (!key.empty())
      out.after_run.push_back({"the key is unique in the target", "sql", Duplicates(Relation(), key, where)});
    out.after_run.push_back({"rows per partition, to compare with those before", "sql", Counts(where)});
    const std::string ref = Ref();
    if (key.empty() || !dbt || ref.empty() || KeyIsProven(d_, key_)) return;
    const std::string& name = d_.short_names.empty() ? d_.name : d_.short_names[0];
    out.after_run.push_back(
        {"the key is unique in the target", "dbt-test",
         fmt::format("-- tests/unique_{}_over_the_backfill.sql\n{}", JinjaText(Printable(name)),
                     Duplicates("{{ " + ref + " }}", JinjaText(key), JinjaText(where)))});
  }

 private:
  std::string Quoted(const std::string& name) const { return SqlIdentifier(dialect_.name, name); }
  // Nothing that would end the statement, or hide what follows in a comment.
  static bool OneExpression(const std::string& text) {
    for (const char* end : {";", "--", "/*", "*/", "#", "\n", "\r", "\\"})
      if (text.find(end) != std::string::npos) return false;
    std::vector<char> open;
    char quote = 0;
    for (const char c : text) {
      if (quote) {
        if (c == quote) quote = 0;
      } else if (c == '\'' || c == '"' || c == '`') {
        quote = c;
      } else if (c == '(' || c == '[') {
        open.push_back(c == '(' ? ')' : ']');
      } else if (c == ')' || c == ']') {
        if (open.empty() || open.back() != c) return false;
        open.pop_back();
      }
    }
    return quote == 0 && open.empty() && text.find('\0') == std::string::npos;
  }
  // A column, or an expression that stands where a column could.
  std::string Column(const std::string& text) const {
    if (PlainName(text)) {
      if (!Reserved(text)) return text;
      if (std::string_view(dialect_.name) != "snowflake") return Quoted(text);
      std::string upper = text;
      for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      return Quoted(upper);
    }
    const bool expression = text.find_first_of("()|'\"`[:") != std::string::npos;
    return expression && OneExpression(text) ? text : Quoted(text);
  }

  std::string Relation(const std::string& suffix = "") const {
    std::vector<std::string> parts = d_.relation;
    if (parts.empty()) parts = {d_.short_names.empty() ? d_.name : d_.short_names[0]};
    parts.back() += suffix;
    for (std::string& part : parts)
      if (dialect_.quotes_relation || !PlainName(part)) part = Quoted(part);
    return Join(parts, ".");
  }
  std::string Staged() const { return Relation("__staged"); }

  // "" where the name could not stand in it as it is.
  std::string Ref() const {
    if (d_.name.find_first_of("'\"\\{}%#\n\r\t") != std::string::npos) return "";
    const auto parts = Split(d_.name, '.');  // model.package.name, or model.package.name.v2
    if (parts.size() == 4 && parts[3].size() > 1 && parts[3][0] == 'v') {
      const std::string version = parts[3].substr(1);
      const bool number = version.find_first_not_of("0123456789") == std::string::npos;
      return number ? fmt::format("ref('{}', v={})", parts[2], version)
                    : fmt::format("ref('{}', v='{}')", parts[2], version);
    }
    return fmt::format("ref('{}')", parts.size() >= 3 ? parts[2] : d_.name);
  }

  // What names a row: the key that is written by, else what a uniqueness test is about. A delete+insert by
  // the partition's own column has none.
  std::vector<std::string> FindKey() const {
    if (!d_.key.empty())
      return d_.key.size() == 1 && Lower(d_.key[0]) == Lower(d_.column) ? std::vector<std::string>() : d_.key;
    const CheckFact* best = nullptr;
    for (const CheckFact& c : d_.checks)
      if ((c.kind == "unique" || c.kind == "constraint") && !c.columns.empty() &&
          (!best || std::tuple(!c.enabled, c.columns.size(), c.columns) <
                        std::tuple(!best->enabled, best->columns.size(), best->columns)))
        best = &c;
    return best ? best->columns : std::vector<std::string>();
  }
  std::string KeyList() const {
    std::vector<std::string> columns;
    for (const std::string& k : key_) columns.push_back(Column(k));
    return Join(columns, ", ");
  }

  std::string Type() const {
    if (!d_.measure) return "";
    const auto it = d_.measure->column_types.find(Lower(d_.column));
    return it == d_.measure->column_types.end() ? "" : it->second;
  }
  // The column holds instants; others show the clock of the dataset's zone.
  bool HoldsInstants() const {
    const std::string type = Type();
    if (type.find("with time zone") != std::string::npos || type == "timestamptz" ||
        StartsWith(type, "timestamp_tz") || StartsWith(type, "timestamp_ltz"))
      return true;
    return dialect_.truncation == Truncation::kBigQuery && type == "timestamp";
  }

  std::string Time(Instant t) const {
    const bool instants = HoldsInstants();
    std::string text = instants ? FormatInstant(t) : FormatCivilInstant(t, d_.calendar.zone());
    if (text.size() > 10) {
      text[10] = ' ';
      if (text.back() == 'Z') text.pop_back();
      if (text.size() == 16) text += ":00";
    }
    if (instants) text += "+00:00";
    if (!dialect_.typed_times) return "'" + text + "'";
    return (text.size() == 10 ? "date '" : "timestamp '") + text + "'";
  }

  // The rebuilt period, "" where the step is whole or nobody said which column tells the partition.
  std::string Where() const {
    if (step_.whole || d_.column.empty()) return "";
    // A statement of 128 kB can be no argument of a program; the quotes of a shell around it are counted too.
    constexpr std::size_t kMost = 500;
    SpanSet spans = step_.spans;
    std::string said;
    if (spans.size() > kMost) {
      said = fmt::format(
          "\n/* {} stretches were rebuilt: this asks from the first to the last, so it may name"
          " rows between them */",
          spans.size());
      spans = SpanSet(Span{spans.front().start, spans.back().end});
    }
    std::vector<std::string> parts;
    const std::string column = Column(d_.column);
    for (const Span& s : spans) {
      if (!IsFinite(s.start))
        parts.push_back(fmt::format("{} < {}", column, Time(s.end)));
      else
        parts.push_back(fmt::format("{0} >= {1} and {0} < {2}", column, Time(s.start), Time(s.end)));
    }
    if (parts.size() == 1) return said + "\nwhere " + parts[0];
    return "\nwhere (" + Join(parts, ")\n   or (") + ")";
  }

  static std::string Duplicates(const std::string& relation, const std::string& key,
                                const std::string& where) {
    return fmt::format("select {}, count(*) as copies\nfrom {}{}\ngroup by {}\nhaving count(*) > 1", key,
                       relation, where, key);
  }

  // The unit to which the partition's column is cut; finer than the partition where its cut is not a usual
  // one.
  const char* Unit() const {
    const Calendar& calendar = *step_.calendar;
    const Grain& grain = calendar.grain();
    const bool shifted = calendar.starts_at() != 0;
    switch (grain.unit) {
      case Grain::Unit::kNone:
      case Grain::Unit::kMinutes: return "minute";
      case Grain::Unit::kHour:
      case Grain::Unit::kHours: return "hour";
      case Grain::Unit::kDay: return shifted ? "hour" : "day";
      case Grain::Unit::kWeek: return shifted ? "hour" : calendar.week_start() != 0 ? "day" : "week";
      case Grain::Unit::kMonth: return shifted ? "hour" : "month";
      case Grain::Unit::kQuarter: return shifted ? "hour" : "quarter";
      case Grain::Unit::kYear: return shifted ? "hour" : "year";
    }
    return "day";
  }

  std::string Cut(const std::string& column) const {
    const std::string unit = Unit();
    const bool dates =
        unit == "day" || unit == "week" || unit == "month" || unit == "quarter" || unit == "year";
    std::string cut;
    switch (dialect_.truncation) {
      case Truncation::kStandard: cut = fmt::format("date_trunc('{}', {})", unit, column); break;
      case Truncation::kBigQuery:
        if (dates && Type() != "date" && HoldsInstants())
          return fmt::format("timestamp_trunc({}, {}, '{}')", column, unit == "week" ? "isoweek" : unit,
                             d_.calendar.zone().name());
        cut = fmt::format("{}({}, {})", dates ? "date_trunc" : "timestamp_trunc",
                          dates ? "date(" + column + ")" : column, unit == "week" ? "isoweek" : unit);
        return cut;
      case Truncation::kClickHouse:
        return unit == "day"    ? fmt::format("toDate({})", column)
               : unit == "week" ? fmt::format("toMonday({})", column)
                                : fmt::format("toStartOf{}{}({})", static_cast<char>(std::toupper(unit[0])),
                                              unit.substr(1), column);
      case Truncation::kSqlServer:
        cut = fmt::format("datetrunc({}, {})", unit == "week" ? "iso_week" : unit, column);
        break;
    }
    return dates ? fmt::format("cast({} as date)", cut) : cut;
  }

  std::string Counts(const std::string& where) const {
    const auto text = [&](const std::string& s) { return SqlString(dialect_.name, s); };
    if (step_.whole || d_.column.empty())
      return fmt::format("select {} as {}, '' as {}, count(*) as {}\nfrom {}", text(d_.name),
                         Quoted("dataset"), Quoted("partition"), Quoted("rows"), Relation());
    const std::string cut = Cut(Column(d_.column));
    const std::string distinct =
        key_.size() == 1 ? fmt::format(", count(distinct {}) as {}", Column(key_[0]), Quoted("distinct_keys"))
                         : "";
    return fmt::format("select {} as {}, {} as {}, count(*) as {}{}\nfrom {}{}\ngroup by {}\norder by {}",
                       text(d_.name), Quoted("dataset"), cut, Quoted("partition"), Quoted("rows"), distinct,
                       Relation(), where, cut, cut);
  }

  const Dialect& dialect_;
  const Dataset& d_;
  const Step& step_;
  std::vector<std::string> key_;
};

// A test on exactly the key's columns or fewer, over all rows, that fails at the first duplicate.
bool Covers(const CheckFact& check, const std::vector<std::string>& key) {
  if (check.kind != "unique" || !check.enabled || !check.covers_all_rows || !check.fails_run ||
      check.columns.empty())
    return false;
  return std::all_of(check.columns.begin(), check.columns.end(), [&](const std::string& column) {
    return std::any_of(key.begin(), key.end(),
                       [&](const std::string& k) { return Lower(k) == Lower(column); });
  });
}

// An enforced constraint on the key's columns or fewer.
bool Enforced(const CheckFact& check, const std::vector<std::string>& key) {
  if (check.kind != "constraint" || !check.enabled || check.columns.empty()) return false;
  return std::all_of(check.columns.begin(), check.columns.end(), [&](const std::string& column) {
    return std::any_of(key.begin(), key.end(),
                       [&](const std::string& k) { return Lower(k) == Lower(column); });
  });
}

}  // namespace

bool KeyIsProven(const Dataset& d, const std::vector<std::string>& key) {
  return std::any_of(d.checks.begin(), d.checks.end(),
                     [&](const CheckFact& check) { return Covers(check, key) || Enforced(check, key); });
}

void FillChecks(const LineageGraph& graph, Step& step) {
  const Dataset& d = graph[step.dataset];
  const Dialect* dialect = DialectOf(d.platform);
  if (!dialect || step.correct || !d.stores()) return;
  const Step& asked = step;
  Writer(*dialect, d, asked).Write(step);
}

}  // namespace backreach
