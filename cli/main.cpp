// Maps outcomes to exit status; everything else is in the commands.

#include <exception>
#include <iostream>
#include <new>

#include "cli/args.hpp"
#include "cli/heap.hpp"
#include "graph/base/words.hpp"

namespace backreach {

// In the order in which help lists them. A new command is one file and one line here.
static std::vector<Command> Commands() {
  return {
      IngestCommand(),    PlanCommand(),     ExplainCommand(), RenderCommand(),  CopiesCommand(),
      AuditCommand(),     FeedCommand(),     RunCommand(),     StatusCommand(),  VerifyCommand(),
      ReconcileCommand(), SimulateCommand(), ExportCommand(),  SourcesCommand(), DatasetsCommand(),
      ShowCommand(),      DiffCommand(),     ForgetCommand(),  HazardCommand(),  DoctorCommand(),
      GlossaryCommand(),  InitCommand(),     HelpCommand(),
  };
}

static int Main(int argc, char** argv) {
  const std::vector<Command> commands = Commands();
  const Invocation invocation = ReadArguments(argc, argv, commands);
  if (!invocation.command) return invocation.status;
  return static_cast<int>(invocation.command->run(invocation.arguments));
}

}  // namespace backreach

int main(int argc, char** argv) {
  using backreach::Status;
  backreach::LayOutHeap();
  try {
    return backreach::Main(argc, argv);
  } catch (const backreach::Error& e) {
    std::string text = e.what();
    if (text.rfind("backreach: ", 0) != 0 && text.find(": error: ") == std::string::npos)
      text = "backreach: error: " + text;
    std::string line;
    for (const std::string& part : backreach::Split(text, '\n'))
      std::cerr << backreach::Printable(part) << "\n";
    return static_cast<int>(e.status());
  } catch (const std::bad_alloc&) {
    std::cerr << "backreach: error: there is not enough memory for this\n"
                 "  ask for less (--exclude, --depth), or allow the process more\n";
    return static_cast<int>(Status::kStore);
  } catch (const std::exception& e) {
    std::cerr << "backreach: internal error: " << e.what()
              << "\n  please report this, with the command and its input\n";
    return static_cast<int>(Status::kInternal);
  }
}
