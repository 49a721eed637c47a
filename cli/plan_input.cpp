// What commands read beside the store.

#include "cli/plan_input.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "graph/time/time.hpp"
#include "render/plan_file/read_plan.hpp"

namespace backreach {

std::string ReadWhole(const std::string& path, const std::string& note) {
  std::ifstream in(path, std::ios::binary);
  const int why = errno;
  if (std::error_code ec; std::filesystem::is_directory(path, ec))
    throw Error(path + ": error: is a folder\n  name the file in it");
  if (!in && why != ENOENT) throw Error(path + ": error: cannot be read: " + std::strerror(why));
  if (!in) throw Error(path + ": error: no such file" + (note.empty() ? "" : "\n  " + note));
  std::string text((std::istreambuf_iterator<char>(in)), {});
  if (in.bad()) throw Error(path + ": error: cannot be read to its end");
  return text;
}

RecordedPlan ReadPlanFile(const std::string& path) {
  return ReadRecordedPlan(ReadWhole(path, "make one with: backreach plan ... --format json --out plan.json"),
                          path);
}

std::string LogMoment(const Arguments& a) {
  const auto given = a.value("at");
  if (!given) return FormatInstant(ClockNow());
  const auto t = ParseInstant(*given, true);
  if (!t)
    throw Error(fmt::format("backreach: error: --at '{}' is no instant: write 2026-04-20T09:00Z", *given));
  return FormatInstant(*t);
}

}  // namespace backreach
