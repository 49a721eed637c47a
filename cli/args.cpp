// The only file that includes CLI11.

#include "cli/args.hpp"

#include <CLI/CLI.hpp>

#include <deque>
#include <iostream>
#include <set>

#include "cli/output.hpp"
#include "graph/base/words.hpp"

namespace backreach {

namespace {

struct Bound {
  const Command* command;
  CLI::App* app;
  Arguments arguments;
  std::deque<std::pair<std::string, std::vector<std::string>>> values;
  std::deque<std::pair<std::string, bool>> flags;
  std::set<std::string> optional;
};

constexpr char kKept = '\x02';  // before a word that CLI11 would not leave as it is

class HelpForm : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string) const override {
    std::string line = "Usage: " + app->get_name();
    const CLI::App* parent = app->get_parent();
    for (std::string path; parent; parent = parent->get_parent())
      line = "Usage: " + parent->get_name() + " " + line.substr(7);
    if (!app->get_footer().empty() || app->get_subcommands({}).empty()) {
      const auto it = words.find(app);
      if (it != words.end() && !it->second.empty()) line += " " + it->second;
      line += " [options]";
    } else {
      line += " COMMAND ...";
    }
    return line + "\n";
  }
  std::map<const CLI::App*, std::string> words;
};

void Bind(CLI::App& parent, const Command& command, std::deque<Bound>& all, HelpForm& form) {
  CLI::App* app = parent.add_subcommand(command.name, command.summary);
  app->footer(std::string("Examples:\n") + command.examples + "\n");
  form.words[app] = command.words;
  if (!command.subcommands.empty()) {
    app->require_subcommand(1);
    app->footer("");
    for (const Command& sub : command.subcommands) Bind(*app, sub, all, form);
    return;
  }
  Bound& bound = all.emplace_back();
  bound.command = &command;
  bound.app = app;
  if (*command.words) {
    CLI::Option* words = app->add_option("words", bound.arguments.words, "")->group("");
    words->expected(command.least, command.most < 0 ? 1 << 20 : command.most);
    if (command.least > 0) words->required();
    words->type_name(command.words);
  }
  for (const OptionSpec& spec : command.options) {
    const std::string name = std::string("--") + spec.name;
    if (spec.kind == OptionSpec::Kind::kFlag) {
      auto& flag = bound.flags.emplace_back(spec.name, false);
      app->add_flag(name, flag.second, spec.help);
    } else if (spec.kind == OptionSpec::Kind::kOptional) {
      auto& value = bound.values.emplace_back(spec.name, std::vector<std::string>());
      app->add_flag(name, value.second, spec.help);
      bound.optional.insert(spec.name);
    } else {
      auto& value = bound.values.emplace_back(spec.name, std::vector<std::string>());
      CLI::Option* option =
          app->add_option(name, value.second, spec.help)->type_name(spec.placeholder)->expected(1);
      option->allow_extra_args(false);
      option->multi_option_policy(spec.kind == OptionSpec::Kind::kList ? CLI::MultiOptionPolicy::TakeAll
                                                                       : CLI::MultiOptionPolicy::TakeLast);
    }
  }
}

// What stands where a command belongs and is none: the message, with those that there are. Words behind an
// option are left to the parser.
std::string NoCommand(int argc, char** argv, const std::vector<Command>& commands) {
  const std::vector<Command>* known = &commands;
  std::string path = "backreach";
  for (int i = 1; !known->empty(); ++i) {
    const std::string word = i < argc ? argv[i] : "";
    if (StartsWith(word, "-")) return "";
    std::vector<std::string> names;
    const std::vector<Command>* next = nullptr;
    for (const Command& command : *known) {
      names.push_back(command.name);
      if (word == command.name) next = &command.subcommands;
    }
    if (!next) {
      const std::string what = i == 1 ? "command" : path.substr(10) + " command";
      const auto near = word.empty() ? std::vector<std::string>() : Nearest(word, names, 2);
      std::string message = word.empty() ? "backreach: error: no " + what + " was given\n"
                                         : "backreach: error: no " + what + " '" + Printable(word) + "'\n";
      if (!near.empty()) message += "  did you mean: " + Join(near, ", ") + "\n";
      return message + "  there are: " + Join(names, ", ") + "\n  see: " + path + " --help\n";
    }
    path += " " + word;
    known = next;
  }
  return "";
}

}  // namespace

Invocation ReadArguments(int argc, char** argv, const std::vector<Command>& commands) {
  CLI::App app(
      "What a correction can reach: rebuild plan, hazards and copies out of reach, before a backfill",
      "backreach");
  auto form = std::make_shared<HelpForm>();
  app.formatter(form);
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("backreach ") + BACKREACH_VERSION);
  std::deque<Bound> all;
  for (const Command& command : commands) Bind(app, command, all, *form);
  Invocation out;
  if (const std::string message = NoCommand(argc, argv, commands); !message.empty()) {
    std::cerr << message;
    out.status = static_cast<int>(Status::kBadRequest);
    return out;
  }
  // A word in brackets would be taken apart as a list: `[dbo].[t]` is a name.
  std::vector<std::string> kept(argv, argv + argc);
  std::vector<const char*> given;
  for (std::string& word : kept) {
    if (word.size() > 1 && word.front() == '[' && word.back() == ']') word.insert(0, 1, kKept);
    given.push_back(word.c_str());
  }
  try {
    app.parse(argc, given.data());
  } catch (const CLI::CallForHelp&) {
    const CLI::App* at = &app;
    for (bool deeper = true; deeper;) {
      deeper = false;
      for (const CLI::App* sub : at->get_subcommands()) at = sub, deeper = true;
    }
    WriteStandardOutput(at->help());
    return out;
  } catch (const CLI::CallForVersion& e) {
    WriteStandardOutput(std::string(e.what()) + "\n");
    return out;
  } catch (const CLI::ParseError& e) {
    const CLI::App* at = &app;
    for (bool deeper = true; deeper;) {
      deeper = false;
      for (const CLI::App* sub : at->get_subcommands()) at = sub, deeper = true;
    }
    std::string what = e.what();
    if (StartsWith(what, " is required") && form->words.count(at)) {  // the words have no name of their own
      what = form->words[at];
      if (EndsWith(what, "...")) what.resize(what.size() - 3);
      what += " is missing";
    }
    std::cerr << "backreach: error: " << what << "\n";
    if (at != &app) {
      std::vector<std::string> options;
      for (const CLI::Option* option : at->get_options()) options.push_back(option->get_name());
      for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const std::string name = word.substr(0, word.find('='));
        if (name.rfind("--", 0) != 0 || std::find(options.begin(), options.end(), name) != options.end())
          continue;
        const auto near = Nearest(name, options, 1);
        if (!near.empty()) std::cerr << "  did you mean: " << near[0] << "\n";
      }
    }
    std::string help = "backreach";
    if (at != &app && at->get_parent() != &app) help += " " + at->get_parent()->get_name();
    if (at != &app) help += " " + at->get_name();
    std::cerr << "  see: " << help << " --help\n";
    out.status = static_cast<int>(Status::kBadRequest);
    return out;
  }
  for (Bound& bound : all) {
    if (!bound.app->parsed()) continue;
    for (auto& [name, values] : bound.values) {
      if (bound.app->count("--" + name) == 0) continue;
      if (bound.optional.count(name))
        for (std::string& value : values)
          if (value == "true") value.clear();
      bound.arguments.values[name] = std::move(values);
    }
    for (const auto& [name, set] : bound.flags)
      if (set) bound.arguments.values[name] = {};
    const auto restore = [](std::string& word) {
      if (!word.empty() && word[0] == kKept) word.erase(0, 1);
    };
    for (std::string& word : bound.arguments.words) restore(word);
    for (auto& [name, values] : bound.arguments.values)
      for (std::string& value : values) restore(value);
    out.command = bound.command;
    out.arguments = std::move(bound.arguments);
  }
  return out;
}

}  // namespace backreach
