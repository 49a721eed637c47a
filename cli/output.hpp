// Where a command's answer goes: standard output or a file. What cannot be written to its last byte is an
// error (status 2) and never half an answer under status 0.
#pragma once

#include <string>

#include "cli/command.hpp"

namespace backreach {

// Writes to --out, or to standard output where there is none (or `-`).
void WriteOut(const Arguments& arguments, const std::string& text);

// Makes or replaces a file: whole, or as it was. Its rights stay; a link is followed to the file that it
// names; what is no file but takes bytes (a pipe, a terminal, /dev/null) is written to and stays what it is.
// `store` is the path of the store that the command uses, which is never written over.
void WriteFile(const std::string& path, const std::string& text, const std::string& store = "");

// All of `text` to standard output; throws where it does not take it.
void WriteStandardOutput(const std::string& text);

}  // namespace backreach
