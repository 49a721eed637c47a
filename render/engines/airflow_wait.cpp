// `airflow backfill create` and `airflow dags trigger` come back as soon as runs are queued. Whatever follows
// reads what these have not written yet, so each is followed by asking until its runs are through.

#include <algorithm>

#include "graph/base/shell.hpp"
#include "graph/base/words.hpp"
#include "render/engines/feed.hpp"

namespace backreach {

const char* const kAirflowWait =
    R"sh(# airflow_wait DAG FIRST LAST: until the DAG's runs of these logical dates are through, or a run of this id.
airflow_wait() {
  local runs state
  while true; do
    runs=$(airflow dags list-runs -o json -- "$1" 2>/dev/null || airflow dags list-runs --dag-id="$1" -o json) || return 1
    state=$(printf '%s' "$runs" | python3 -c '
import json, re, sys
from datetime import datetime, timezone
def instant(text):
    t = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return t if t.tzinfo else t.replace(tzinfo=timezone.utc)
text, (first, last) = sys.stdin.read(), sys.argv[1:3]
mine, rows = [], re.search(r"\[\s*[{]", text)
for run in json.loads(text[rows.start():]) if rows else []:
    date = run.get("logical_date") or run.get("execution_date")
    if run.get("run_id") == first or (first[:1].isdigit() and date and instant(first) <= instant(date) <= instant(last)):
        mine.append(run["state"])
bad = [state for state in mine if state not in ("success", "queued", "running", "restarting")]
print("busy" if set(mine) & set(("queued", "running", "restarting")) else "there are none" if not mine
      else "%d of %d failed" % (len(bad), len(mine)) if bad else "done")
' "$2" "${3:-$2}") || return 1
    case $state in
      busy) sleep "${BACKREACH_POLL:-20}" ;;
      done) return 0 ;;
      *) echo "runs of $1 from $2 to ${3:-$2}: $state" >&2; return 1 ;;
    esac
  done
}
)sh";

namespace {

// The value of an option, by any of its names.
std::string Given(const std::vector<std::string>& words, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i)
    for (const std::string& name : names) {
      if (words[i] == name) return i + 1 < words.size() ? words[i + 1] : "";
      if (StartsWith(words[i], name + "=")) return words[i].substr(name.size() + 1);
    }
  return "";
}

// The one word that is neither an option nor an option's value.
std::string Positional(const std::vector<std::string>& words) {
  for (std::size_t i = 3; i < words.size(); ++i) {
    if (words[i] == "--") return i + 1 < words.size() ? words[i + 1] : "";
    if (!StartsWith(words[i], "-")) return words[i];
    if (words[i].find('=') == std::string::npos) ++i;
  }
  return "";
}

enum class Asks { kNothing, kBackfill, kTrigger };

Asks AsksFor(const std::vector<std::string>& words) {
  if (words.size() < 4 || words[0] != "airflow") return Asks::kNothing;
  if (words[1] == "backfill" && words[2] == "create") return Asks::kBackfill;
  return words[1] == "dags" && words[2] == "trigger" ? Asks::kTrigger : Asks::kNothing;
}

// The DAG that the words set going.
std::string DagOf(const std::vector<std::string>& words) {
  const std::string named = Given(words, {"--dag-id", "-d"});
  return named.empty() ? Positional(words) : named;
}

}  // namespace

Awaited WithWait(const std::vector<std::string>& words, const std::string& run_id) {
  const std::string line = ShellLine(words), dag = DagOf(words);
  const std::string wait = " && airflow_wait " + ShellWord(dag) + " ";
  switch (AsksFor(words)) {
    case Asks::kNothing: return {line, ""};
    case Asks::kBackfill:
      return {line + wait + ShellWord(Given(words, {"--from-date"})) + " " +
                  ShellWord(Given(words, {"--to-date"})),
              dag};
    case Asks::kTrigger: {
      const std::string given = Given(words, {"--run-id", "-r"});
      if (!given.empty()) return {line + wait + ShellWord(given), dag};
      // A second try is another run. Behind `--` nothing is an option any more.
      const auto end = std::find(words.begin(), words.end(), "--");
      const std::string behind = ShellLine({end, words.end()});
      return {"run=" + run_id + "_$(date +%s) && " + ShellLine({words.begin(), end}) + " --run-id \"$run\"" +
                  (behind.empty() ? "" : " " + behind) + wait + "\"$run\"",
              dag};
    }
  }
  return {line, ""};
}

}  // namespace backreach
