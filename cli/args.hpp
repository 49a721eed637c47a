// Words of a command line, read against the commands as data.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace backreach {

struct Invocation {
  const Command* command = nullptr;  // null: help or version was printed
  Arguments arguments;
  int status = 0;  // what to exit with where there is no command
};

// Reads the words of the command line. Prints help where asked, and what is wrong to standard error.
Invocation ReadArguments(int argc, char** argv, const std::vector<Command>& commands);

}  // namespace backreach
