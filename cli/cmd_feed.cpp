// backreach feed: a saved plan, as another engine runs it.

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "graph/base/words.hpp"
#include "render/engines/feed.hpp"

namespace backreach {

namespace {

Status Run(const Arguments& a) {
  const auto to = a.value("to");
  std::vector<std::string> names;
  for (const Feed& feed : Feeds()) names.push_back(feed.name);
  if (!to) throw Error("backreach: error: feed needs --to: one of " + Join(names, ", "));
  const Feed* feed = nullptr;
  for (const Feed& known : Feeds())
    if (*to == known.name) feed = &known;
  if (!feed) {
    const auto near = Nearest(*to, names, 1);
    throw Error(fmt::format("backreach: error: no feed to '{}': it must be one of {}{}", *to,
                            Join(names, ", "), near.empty() ? "" : "\n  did you mean: " + near[0]));
  }
  const std::string path = a.words[0];
  std::ifstream in(path, std::ios::binary);
  const int why = errno;
  if (std::error_code ec; std::filesystem::is_directory(path, ec))
    throw Error(path + ": error: is a folder, not a plan\n  name the file in it");
  if (!in && why != ENOENT) throw Error(path + ": error: cannot be read: " + std::strerror(why));
  if (!in)
    throw Error(
        path + ": error: no such file\n  make one with: backreach plan TARGET --format json --out plan.json");
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  FeedOptions options;
  options.force = a.flag("force");
  if (const auto most = a.value("max-parallel")) {
    options.max_parallel_given = true;
    const auto [end, ec] = std::from_chars(most->data(), most->data() + most->size(), options.max_parallel);
    if (ec != std::errc{} || *end != '\0' || options.max_parallel < 1)
      throw Error(fmt::format("backreach: error: --max-parallel '{}' must be a number from 1 on", *most));
  }
  if (const auto threads = a.value("threads")) {
    int n = 0;
    const auto [end, ec] = std::from_chars(threads->data(), threads->data() + threads->size(), n);
    if (ec != std::errc{} || *end != '\0' || n < 1)
      throw Error(fmt::format("backreach: error: --threads '{}' must be a number from 1 on", *threads));
    options.threads = std::to_string(n);
  }
  options.tests = !a.flag("no-tests");
  options.staged = a.flag("staged");
  options.project_dir = a.value("project-dir").value_or("");
  options.profiles_dir = a.value("profiles-dir").value_or("");
  options.target = a.value("target").value_or("");
  const FeedResult result = WriteFeed(*feed, text, path, options);
  for (const std::string& warning : result.warnings) Say(a, "warning: " + Printable(warning) + "\n");
  if (!result.blocked.empty()) {
    std::string message =
        fmt::format("{}: {} not accepted:\n", path,
                    result.blocked.size() == 1 ? "a blocking hazard is" : "blocking hazards are");
    for (const std::string& hazard : result.blocked) message += "  x " + Printable(hazard) + "\n";
    Say(a, message + "  settle them and plan again with --accept, or say --force; nothing was written\n");
    return Status::kFound;
  }
  const std::string folder = a.value("out").value_or(".");
  std::error_code ec;
  std::filesystem::create_directories(folder, ec);
  for (const auto& [name, content] : result.files) {
    const std::string file = (std::filesystem::path(folder) / name).lexically_normal().string();
    WriteFile(file, content);
    if (EndsWith(name, ".sh"))
      std::filesystem::permissions(file,
                                   std::filesystem::perms::owner_exec | std::filesystem::perms::group_exec,
                                   std::filesystem::perm_options::add, ec);
    Say(a, file + " written\n");
  }
  return Status::kDone;
}

}  // namespace

Command FeedCommand() {
  using Kind = OptionSpec::Kind;
  return {"feed",
          "PLAN.json",
          1,
          1,
          "hand a plan over: to Airflow, Dagster, dbt or SQLMesh, or as a shell script",
          "  backreach feed plan.json --to airflow --out dags/\n"
          "  backreach feed plan.json --to shell --max-parallel 2",
          std::vector<OptionSpec>{
              {Kind::kValue, "to", "ENGINE", "airflow, dagster, dbt, shell or sqlmesh"},
              {Kind::kValue, "out", "DIR", "folder for what is written (default: here)"},
              {Kind::kValue, "max-parallel", "N", "how many cells may run together"},
              {Kind::kValue, "threads", "N", "how many models dbt runs at once"},
              {Kind::kValue, "project-dir", "D", "dbt's project, for each call of dbt"},
              {Kind::kValue, "profiles-dir", "D", "where its profiles.yml lies"},
              {Kind::kValue, "target", "NAME", "the target in it"},
              {Kind::kFlag, "no-tests", "", "without dbt's tests after each wave"},
              {Kind::kFlag, "staged", "", "check the rows that dbt is about to write first (dbt, shell)"},
              {Kind::kFlag, "force", "", "although blocking hazards are not accepted"},
              {Kind::kFlag, "quiet", "", "say nothing on standard error but errors"}},
          Run};
}

}  // namespace backreach
