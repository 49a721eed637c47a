// Parsing a node twice costs less than keeping the texts of all models: these are most of a manifest.

#include "ingest/dbt/code.hpp"

#include <simdjson.h>

#include "ingest/read/file.hpp"

namespace backreach {

struct DbtCodeLoader::Parser {
  simdjson::dom::parser parser;
};

DbtCodeLoader::DbtCodeLoader() : parser_(std::make_unique<Parser>()) {}
DbtCodeLoader::~DbtCodeLoader() = default;

DbtCode DbtCodeLoader::Load(std::string_view member) {
  DbtCode code;
  simdjson::dom::element node;
  const auto error = parser_->parser.parse(member.data(), member.size(), true).get(node);
  GiveBack(member);
  if (error) return code;
  const auto text = [&](const char* key, const char* older) {
    std::string_view found;
    if (node[key].get(found) || found.empty())
      if (node[older].get(found)) found = {};
    return std::string(found);
  };
  code.raw = text("raw_code", "raw_sql");
  code.compiled = text("compiled_code", "compiled_sql");
  code.path = text("original_file_path", "path");
  code.compiled_path = text("compiled_path", "compiled_path");
  code.python = text("language", "language") == "python";
  return code;
}

}  // namespace backreach
