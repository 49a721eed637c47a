// backreach forget: take old versions, or a source, out of the store.

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/loaded.hpp"
#include "graph/base/words.hpp"
#include "graph/store/store.hpp"
#include "graph/time/time.hpp"

namespace backreach {

namespace {

Status Run(const Arguments& a) {
  const auto age = a.value("older-than"), source = a.value("source");
  if (!age == !source)
    throw Error("backreach: error: forget what: give either --older-than AGE or --source KEY");
  std::optional<Duration> length;
  if (age) {
    length = ParseDuration(*age);
    if (!length)
      throw Error(
          fmt::format("backreach: error: --older-than '{}' is no age: write 90d, 6w, 3mo or 1y", *age));
  }
  Store::OpenForReading(StorePath(a));  // what is not there is not made
  Store store = Store::OpenForWriting(StorePath(a));
  if (source) {
    const Source gone = store.ForgetSource(*source, JoinForGood);
    Say(a, fmt::format("{}:{} and all its versions are forgotten\n", gone.kind, Printable(gone.name)));
    return Status::kDone;
  }
  const Instant moment = AddDuration(*Zone::Utc(), ClockNow(), *length, -1);
  const std::size_t n = store.ForgetBefore(moment);
  Say(a, fmt::format("{} replaced before {} {} forgotten\n", Plural(static_cast<std::int64_t>(n), "version"),
                     FormatInstant(moment), n == 1 ? "is" : "are"));
  return Status::kDone;
}

}  // namespace

Command ForgetCommand() {
  using Kind = OptionSpec::Kind;
  return {"forget",
          "",
          0,
          0,
          "take versions that were replaced long ago, or a whole source, out of the store",
          "  backreach forget --older-than 90d\n"
          "  backreach forget --older-than 1y --store prod.db",
          std::vector<OptionSpec>{
              {Kind::kValue, "older-than", "AGE",
               "versions that were replaced longer ago than this: 90d, 6w, 3mo, 1y"},
              {Kind::kValue, "source", "KEY", "this source with all its versions, as `sources` names it"}} +
              CommonOptions(),
          Run};
}

}  // namespace backreach
