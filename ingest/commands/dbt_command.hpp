// Calls of dbt: what a command line, or an operator's arguments, say of the nodes that are written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/facts/facts.hpp"
#include "ingest/commands/shell.hpp"

namespace backreach {

struct DbtCalls {
  std::vector<DbtRunFact> runs;  // those that write something, or of which nobody knows what
  bool understood = false;  // there were calls of dbt, and everything else was only told to echo and the like
};

// The call that a command is; nothing if it is none of dbt, or one that writes nothing (`dbt test`).
std::optional<DbtRunFact> ReadDbtCall(const ScriptCommand& command);
bool CallsDbt(const ScriptCommand& command);

DbtCalls ReadDbtCalls(const std::vector<ScriptCommand>& commands);

}  // namespace backreach
