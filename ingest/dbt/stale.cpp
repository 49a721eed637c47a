#include "ingest/dbt/stale.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "graph/base/words.hpp"

namespace backreach {

namespace fs = std::filesystem;

namespace {

bool IsCode(const fs::path& path) {
  static const std::set<std::string> kinds = {".sql", ".py", ".yml", ".yaml", ".csv", ".md"};
  return kinds.count(Lower(path.extension().string())) > 0;
}

// What dbt writes or fetches itself, and what no dbt reads.
bool IsOther(const fs::path& folder, const fs::path& target) {
  const std::string name = folder.filename().string();
  std::error_code ec;
  return StartsWith(name, ".") || name == "target" || name == "dbt_packages" || name == "dbt_modules" ||
         name == "logs" || name == "venv" || name == "node_modules" || fs::equivalent(folder, target, ec);
}

fs::path ProjectOf(const fs::path& manifest) {
  std::error_code ec;
  const fs::path target = fs::absolute(manifest, ec).lexically_normal().parent_path();
  for (const fs::path& folder : {target, target.parent_path()})
    if (fs::exists(folder / "dbt_project.yml", ec)) return folder;
  return {};
}

}  // namespace

void WarnIfStale(const std::string& manifest, Diagnostics& diagnostics) {
  constexpr std::size_t kMost = 100'000;  // files; a project has far fewer
  std::error_code ec;
  const fs::path project = ProjectOf(manifest);
  if (project.empty()) return;
  const fs::path target = fs::absolute(manifest, ec).lexically_normal().parent_path();
  const auto written = fs::last_write_time(manifest, ec);
  if (ec) return;
  std::size_t newer = 0, looked = 0;
  std::string newest;
  auto when = written;
  for (auto it = fs::recursive_directory_iterator(project, fs::directory_options::skip_permission_denied, ec);
       !ec && it != fs::recursive_directory_iterator() && looked < kMost; it.increment(ec), ++looked) {
    std::error_code of_file;
    if (it->is_directory(of_file)) {
      if (IsOther(it->path(), target)) it.disable_recursion_pending();
      continue;
    }
    if (!IsCode(it->path())) continue;
    const auto changed = it->last_write_time(of_file);
    if (of_file || changed <= written) continue;
    ++newer;
    const std::string name = it->path().lexically_relative(project).string();
    if (newest.empty() || changed > when || (changed == when && name < newest)) newest = name, when = changed;
  }
  if (newer > 0)
    diagnostics.Warning(manifest,
                        fmt::format("is stale: {} of the project {} changed after it was written, '{}' last",
                                    Plural(static_cast<std::int64_t>(newer), "file"),
                                    newer == 1 ? "was" : "were", Printable(newest)),
                        {"write it anew (dbt parse), and ingest it again"});
}

}  // namespace backreach
