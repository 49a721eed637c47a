// What dbt's hooks do beside the model or the run that they hang on: rows that leave, tables that are
// written, calls of which nobody knows.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ingest/dbt/sql.hpp"
#include "ingest/sql/scan.hpp"

namespace backreach {

struct DbtHook {
  std::string unknown;   // the macro that it calls, if that cannot be read to its end; "" if all is known
  bool missing = false;  // that macro has no body at all
  std::vector<SqlExport> exports;
  std::vector<std::string> effects;
};

class DbtHooks {
 public:
  // `macros`: by package, as far as they are kept; they have to stay.
  DbtHooks(std::string adapter, std::string project, const std::map<std::string, MacroBodies>& macros)
      : adapter_(std::move(adapter)), project_(std::move(project)), macros_(macros) {}

  // What a hook's text means that stands in this package. The same one often hangs on every model of a
  // project, and is judged once.
  const DbtHook& Meaning(const std::string& text, const std::string& package);

 private:
  struct Body {
    const std::string* text = nullptr;
    std::string package;
  };
  const std::string* In(const std::string& package, const std::string& name) const;
  Body Called(const SqlToken& token, const std::string& package, std::string_view& call) const;
  DbtHook Judge(const std::string& text, const std::string& package) const;

  std::string adapter_, project_;
  const std::map<std::string, MacroBodies>& macros_;
  std::unordered_map<std::string, DbtHook> known_;  // by package and text
};

}  // namespace backreach
