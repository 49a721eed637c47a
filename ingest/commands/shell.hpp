// The commands of a script, as far as its text tells which are started: bash in an orchestrator's task, the
// arguments of a container. Nothing is run, and nothing is looked up.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace backreach {

// What stands in a word for a template, `$(..)` or a variable: what it comes to only the run knows.
inline constexpr char kUnknownText = '\x01';
bool HasUnknown(std::string_view word);

struct ScriptWord {
  std::string text;
  int block = 0;  // of a template's `if` or `for` around it; words of one block come or go together
};

struct ScriptCommand {
  // The program first: without assignments, redirections, and what only starts another program (`env`,
  // `poetry run`, `docker run IMAGE`, `bash -c`).
  std::vector<ScriptWord> words;
  std::map<std::string, std::string> env;  // exported before, or set in front
  // The folder that it is started in, `?` for a part that is not known; "" if nothing is known.
  std::string folder;
};

struct ScriptStart {
  std::map<std::string, std::string> env;
  std::string folder;
};

// A text with Jinja in it, ready to be read: expressions are unknown text, blocks are marks.
std::string MarkTemplates(std::string_view text);

// The commands of a script that was given to MarkTemplates. What runs only sometimes (`a || b`, `if`) is
// there as well; comments, here-documents of other programs, and quoted text are not.
std::vector<ScriptCommand> ReadShell(std::string_view marked, const ScriptStart& start);
// The same of a program and its arguments, which no shell reads.
std::vector<ScriptCommand> ReadArguments(const std::vector<std::string>& marked, const ScriptStart& start);

// A folder as seen from another one.
std::string FolderIn(const std::string& from, const std::string& path);

}  // namespace backreach
