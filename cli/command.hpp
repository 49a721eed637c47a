// What every command is: options as data, and a function. main.cpp lists them, args.cpp reads the words.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/base/error.hpp"

namespace backreach {

struct OptionSpec {
  // kOptional: a list too, of which each may stand alone (`--name`, an empty text) or as `--name=VALUE`.
  enum class Kind { kFlag, kValue, kList, kOptional } kind;
  const char* name;         // without dashes
  const char* placeholder;  // "FILE"; "" for flags
  const char* help;
};

// What the user typed after the command's name.
class Arguments {
 public:
  std::vector<std::string> words;  // positional
  std::map<std::string, std::vector<std::string>> values;

  bool flag(const std::string& name) const { return values.count(name) > 0; }
  std::optional<std::string> value(const std::string& name) const {
    const auto it = values.find(name);
    return it == values.end() || it->second.empty() ? std::nullopt : std::optional(it->second.back());
  }
  std::vector<std::string> list(const std::string& name) const {
    const auto it = values.find(name);
    return it == values.end() ? std::vector<std::string>() : it->second;
  }
};

struct Command {
  const char* name;
  const char* words;     // "TARGET...", "" for none: shown in the usage line
  int least, most;       // how many words (-1: any number)
  const char* summary;   // one line
  const char* examples;  // two real ones, a line each
  std::vector<OptionSpec> options;
  Status (*run)(const Arguments& arguments);
  std::vector<Command> subcommands = {};
};

// ---- Shared by commands (shared.cpp) ----

// --store, or $BACKREACH_STORE, or .backreach/graph.db.
std::string StorePath(const Arguments& arguments);
// For people, on standard error; silent with --quiet.
void Say(const Arguments& arguments, const std::string& text);
// --format, checked against the ones that the command has.
std::string FormatOf(const Arguments& arguments, const std::vector<std::string>& known,
                     const std::string& usual);
// The present instant: read once, for the whole command.
std::int64_t ClockNow();
// --as-of or the like, an instant or a date: a date is its end, of UTC, so that what was ingested on the day
// counts. Nothing where the option is not given.
std::optional<std::int64_t> MomentOf(const Arguments& arguments, const std::string& option);
// What was asked, as words that a shell reads again: the words, and those options of `specs` that were given.
std::string AskedWords(const Arguments& arguments, const std::vector<OptionSpec>& specs);
// How wide the terminal is (80 if it is none), and whether colour belongs there.
int TerminalWidth();
bool Coloured();

// The options that every command takes, and those that name a request.
std::vector<OptionSpec> CommonOptions();
std::vector<OptionSpec> RequestOptions();
std::vector<OptionSpec> operator+(std::vector<OptionSpec> a, const std::vector<OptionSpec>& b);

// One per file.
Command IngestCommand();
Command PlanCommand();
Command ExplainCommand();
Command RenderCommand();
Command CopiesCommand();
Command AuditCommand();
Command FeedCommand();
Command RunCommand();
Command StatusCommand();
Command VerifyCommand();
Command ReconcileCommand();
Command SimulateCommand();
Command ExportCommand();
Command SourcesCommand();
Command DiffCommand();
Command ForgetCommand();
Command DatasetsCommand();
Command ShowCommand();
Command HazardCommand();
Command DoctorCommand();
Command HelpCommand();
Command InitCommand();
Command GlossaryCommand();

}  // namespace backreach
