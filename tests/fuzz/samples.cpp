#include "samples.hpp"

#include <zlib.h>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

std::string Compressed(const std::string& text) {
  std::string out(compressBound(text.size()), '\0');
  uLongf size = out.size();
  compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(text.data()),
           text.size());
  out.resize(size);
  return out;
}

std::string Hex(const std::string& bytes) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : bytes) {
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

std::string Base64(const std::string& bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      out += i + k > bytes.size() ? '=' : kDigits[three >> (18 - 6 * k) & 63];
  }
  return out;
}

std::string Replaced(const std::string& text, const std::string& what, const std::string& by) {
  std::string out;
  std::size_t from = 0;
  for (std::size_t at; (at = text.find(what, from)) != std::string::npos; from = at + what.size())
    out += text.substr(from, at - from) + by;
  return out + text.substr(from);
}

// The document in a line of `{"dag_id": .., "data": DOCUMENT}`.
std::string DocumentOf(const std::string& line) {
  const std::size_t at = line.find("\"data\":");
  const std::size_t begin = at == std::string::npos ? at : line.find('{', at);
  return begin == std::string::npos ? line : line.substr(begin, line.rfind('}') - begin);
}

}  // namespace

std::vector<std::string> AirflowForms(const std::string& text) {
  std::vector<std::string> documents;
  for (const std::string& line : Split(text, '\n'))
    if (!line.empty()) documents.push_back(DocumentOf(line));
  std::string packed,
      sqlite = "CREATE TABLE serialized_dag (dag_id VARCHAR(250), data JSON, data_compressed BLOB);\n",
      postgres = "COPY public.serialized_dag (dag_id, data, data_compressed) FROM stdin;\n";
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const std::string id = "d" + std::to_string(i), bytes = Compressed(documents[i]);
    packed += R"({"dag_id": ")" + id + R"(", "data": null, "data_compressed": ")" + Base64(bytes) + "\"}\n";
    const bool plain = i % 2 == 0;
    sqlite += "INSERT INTO serialized_dag VALUES('" + id + "'," +
              (plain ? "'" + Replaced(documents[i], "'", "''") + "',NULL" : "NULL,X'" + Hex(bytes) + "'") +
              ");\n";
    postgres += id + "\t" +
                (plain ? Replaced(Replaced(documents[i], "\\", "\\\\"), "\n", "\\n") + "\t\\N"
                       : "\\N\t\\\\x" + Hex(bytes)) +
                "\n";
  }
  sqlite +=
      "CREATE TABLE slot_pool (id INTEGER, pool VARCHAR(256), slots INTEGER);\nINSERT INTO slot_pool "
      "VALUES(1,'wh',8);\n";
  postgres += "\\.\n\nCOPY public.slot_pool (id, pool, slots) FROM stdin;\n1\twh\t8\n\\.\n";
  return {text, documents.empty() ? "" : documents[0], packed, sqlite, postgres};
}

std::vector<std::string> RegistryExamples(const std::string& markdown) {
  std::vector<std::string> out;
  const std::string fence = "```yaml\n";
  for (std::size_t at = markdown.find(fence); at != std::string::npos; at = markdown.find(fence, at + 1)) {
    const std::size_t begin = at + fence.size();
    out.push_back(markdown.substr(begin, markdown.find("```", begin) - begin));
  }
  return out;
}

std::string SamplePlan() {
  const auto step = [](int id, const std::string& method) {
    return R"({"id": )" + std::to_string(id) + R"(, "wave": )" + std::to_string(id) + R"(, "after": )" +
           (id == 0   ? "[]"
            : id == 1 ? "[0]"
                      : "[[0, 1]]") +
           R"(, "dataset": "shop.orders", "action": "rebuild", "whole": false, "sequential": false, "interleaved": [],
      "run": null, "spans": [{"from": "2026-03-01", "to": "2026-03-02"}], "methods": [)" +
           method + R"(], "checks": {"before_publish": [], "after": [{"name": "n", "kind": "dbt-test",
      "text": "select order_id, count(*) as copies\nfrom {{ ref('orders') }}\ngroup by order_id"}]}})";
  };
  const auto method = [](const std::string& engine, const std::string& line, const std::string& more = "") {
    return R"({"engine": ")" + engine + R"(", "command": ")" + line + R"(", "commands": [")" + line +
           R"("], "effect": "replaced")" + more + "}";
  };
  return R"({"format": "backreach.plan/1", "id": "0123456789abcdef", "summary": "shop.orders corrected",
    "request": {"now": "2026-04-20T09:00:00Z"}, "steps": [)" +
         step(0, method("dbt", "dbt run --select shop.orders",
                        R"(, "argv": [["dbt", "run", "--select", "shop.orders"]])")) +
         "," +
         step(1,
              method("airflow",
                     "airflow backfill create --dag-id shop --from-date 2026-03-01 --to-date 2026-03-02")) +
         "," + step(2, method("sql", "REFRESH MATERIALIZED VIEW a.b", R"(, "client": "psql -c {sql}")")) +
         "," + step(3, method("shell", "./load.sh 2026-03-01")) +
         R"(], "afterwards": [{"dataset": "a", "what": "reload"}], "hazards": [{"code": "c", "dataset": null,
    "message": "m", "severity": "blocking", "accepted": true}]})";
}

}  // namespace backreach
