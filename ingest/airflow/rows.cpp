#include "ingest/airflow/rows.hpp"

#include <fmt/format.h>

#include <charconv>

#include "graph/base/digest.hpp"
#include "graph/base/words.hpp"
#include "ingest/read/file.hpp"
#include "ingest/read/inflate.hpp"
#include "ingest/read/sql_dump.hpp"

namespace backreach {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostBytes = std::size_t{4} << 30;
constexpr std::size_t kMostUnpacked = std::size_t{256} << 20;

bool IsDagDocument(const Json& j) { return j.is_object() && j.contains("dag") && j["dag"].is_object(); }

std::string TextOf(const Json& row, const char* key) {
  const auto it = row.find(key);
  return it != row.end() && it->is_string() ? it->get<std::string>() : "";
}

class FileReader {
 public:
  FileReader(const std::string& path, Diagnostics& diagnostics, AirflowFiles& out)
      : path_(path), name_(BaseName(path)), diagnostics_(diagnostics), out_(out) {}

  void Read(std::string_view body) {
    if (LooksLikeDump(body)) return Dump(body);
    Json whole = Json::parse(body, nullptr, false);
    if (!whole.is_discarded()) return Value(std::move(whole), "");
    std::size_t line = 0;
    for (const std::string& text : Split(body, '\n')) {
      ++line;
      if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
      Json value = Json::parse(text, nullptr, false);
      if (!value.is_discarded()) {
        Value(std::move(value), fmt::format("line {}", line));
        continue;
      }
      if (line == 1 && body.find('\n') != std::string_view::npos && (text[0] != '{' || text.size() < 3))
        return NoJson(body);
      diagnostics_.Error(fmt::format("{}:{}", path_, line), "this line is no JSON",
                         {"expected one serialized DAG a line; is the file cut off?"});
    }
  }

 private:
  std::string Where(const std::string& at) const { return path_ + (at.empty() ? "" : ": " + at); }

  void NoJson(std::string_view body) {
    try {
      const Json unused = Json::parse(body);
    } catch (const Json::exception& e) {
      diagnostics_.Error(path_, std::string("this is not JSON: ") + e.what());
    }
  }

  // A document, a row of the table, or a list of either; lists may hold lists.
  void Value(Json value, const std::string& at) {
    std::vector<std::pair<Json, std::string>> todo;
    todo.emplace_back(std::move(value), at);
    while (!todo.empty()) {
      auto [j, place] = std::move(todo.back());
      todo.pop_back();
      if (!j.is_array()) {
        One(std::move(j), place);
        continue;
      }
      for (std::size_t n = j.size(); n-- > 0;)
        todo.emplace_back(std::move(j[n]),
                          fmt::format("{}item {}", place.empty() ? "" : place + ", ", n + 1));
    }
  }

  void One(Json value, const std::string& at) {
    if (IsDagDocument(value)) return Document(std::move(value), at, "");
    if (!value.is_object() || (!value.contains("data") && !value.contains("data_compressed")))
      return diagnostics_.Error(
          Where(at), "no serialized DAG",
          {"expected {\"__version\": ..., \"dag\": {...}}, or a row of the table serialized_dag "
           "with its column data"});
    std::string created = TextOf(value, "created_at");
    if (created.empty()) created = TextOf(value, "last_updated");
    const std::string id = value.contains("dag_id") ? TextOf(value, "dag_id") : "?";
    Json& data = value["data"];
    if (IsDagDocument(data)) return Document(std::move(data), at, created);
    if (const std::string text = TextOf(value, "data"); !text.empty() && text != "null")
      return Text(text, id, at, created);
    if (!data.is_null() && !data.is_string()) return Text("", id, at, created);
    const auto bytes = FromBase64(TextOf(value, "data_compressed"));
    Packed(bytes ? *bytes : "", id, at, created);
  }

  void Text(const std::string& text, const std::string& id, const std::string& at,
            const std::string& created) {
    Json document = Json::parse(text, nullptr, false);
    if (!IsDagDocument(document))
      return diagnostics_.Warning(Where(at),
                                  fmt::format("the data of DAG '{}' is no serialized DAG: left out", id));
    Document(std::move(document), at, created);
  }

  void Packed(const std::string& bytes, const std::string& id, const std::string& at,
              const std::string& created) {
    const auto text = Inflate(bytes, kMostUnpacked);
    if (!text)
      return diagnostics_.Warning(
          Where(at), fmt::format("DAG '{}' is stored compressed, and that cannot be unpacked: left out", id),
          {"expected the bytes of data_compressed in base64, or in a dump of the table as they are"});
    Text(*text, id, at, created);
  }

  void Document(Json document, const std::string& at, const std::string& created) {
    const auto version = document.find("__version");
    if (version != document.end() && version->is_number() && version->get<int>() > 3)
      diagnostics_.Warning(
          Where(at), fmt::format("serialization version {} is newer than 3: read as 3", version->get<int>()));
    out_.rows.push_back({std::move(document), name_, at, created});
  }

  void Dump(std::string_view body) {
    const std::size_t before = out_.rows.size();
    bool any = false;
    ReadDump(
        body, {"serialized_dag", "slot_pool"},
        [&](const DumpRow& row) {
          any = any || row.table == "serialized_dag";
          if (row.table == "slot_pool")
            Pool(row);
          else
            Serialized(row);
        },
        [&](std::size_t line, const std::string& what) {
          diagnostics_.Error(fmt::format("{}:{}", path_, line), what);
        });
    if (!any && out_.rows.size() == before)
      diagnostics_.Error(
          path_, "this dump has no rows of the table serialized_dag",
          {"dump the whole table: pg_dump --table serialized_dag, or sqlite3 airflow.db '.dump "
           "serialized_dag'"});
  }

  void Serialized(const DumpRow& row) {
    const auto value = [&](const char* column) {
      const std::string* found = row.Find(column);
      return found ? *found : std::string();
    };
    const std::string at = fmt::format("line {}", row.line), id = value("dag_id");
    const std::string created = row.Find("created_at") ? value("created_at") : value("last_updated");
    if (const std::string data = value("data"); !data.empty() && data != "null")
      return Text(data, id, at, created);
    std::string bytes = value("data_compressed");
    if (StartsWith(bytes, "\\x")) bytes = FromHex(std::string_view(bytes).substr(2)).value_or("");
    Packed(bytes, id, at, created);
  }

  void Pool(const DumpRow& row) {
    const std::string *name = row.Find("pool"), *slots = row.Find("slots");
    if (!name || !slots) return;
    std::int64_t n = 0;
    const auto [end, ec] = std::from_chars(slots->data(), slots->data() + slots->size(), n);
    if (ec != std::errc{} || end != slots->data() + slots->size() || n < 0) return;  // -1: no limit
    PoolFact pool;
    pool.name = *name;
    pool.slots = n;
    pool.at = {name_, fmt::format("line {}", row.line)};
    out_.pools.push_back(std::move(pool));
  }

  const std::string& path_;
  const std::string name_;
  Diagnostics& diagnostics_;
  AirflowFiles& out_;
};

}  // namespace

AirflowFiles ReadAirflowFiles(const std::vector<std::string>& paths, Diagnostics& diagnostics) {
  AirflowFiles out;
  for (const std::string& path : paths) {
    const auto text = ReadSmallFile(path, kMostBytes, diagnostics);
    if (!text) continue;
    out.digests.push_back(Sha256Hex(*text));
    out.names.push_back(BaseName(path));
    if (const auto fault = EncodingFault(*text)) {
      diagnostics.Error(path, *fault);
      continue;
    }
    const std::string_view body = WithoutMark(*text);
    if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) {
      diagnostics.Error(path, "the file is empty");
      continue;
    }
    FileReader(path, diagnostics, out).Read(body);
  }
  return out;
}

}  // namespace backreach
