// Lines of shell and what they make dbt write.

#include <doctest/doctest.h>

#include "graph/base/words.hpp"
#include "ingest/commands/dbt_command.hpp"

using namespace backreach;

namespace {

// `run[a b -c :selector @folder !]`: what is selected, excluded, where; `!` for a full refresh, `?` for one
// that only the run decides; `run[unknown]` where nobody knows.
std::string Said(const std::vector<ScriptCommand>& commands) {
  std::vector<std::string> out;
  for (const DbtRunFact& run : ReadDbtCalls(commands).runs) {
    std::vector<std::string> parts = run.select;
    for (const std::string& word : run.exclude) parts.push_back("-" + word);
    for (const std::string& word : run.resource_types) parts.push_back("type:" + word);
    if (!run.selector.empty()) parts.push_back(":" + run.selector);
    if (!run.folder.empty()) parts.push_back("@" + run.folder);
    if (run.full_refresh) parts.push_back(run.full_refresh == "true" ? "!" : "?");
    if (!run.unknown.empty()) parts = {"unknown"};
    out.push_back(run.command + "[" + Join(parts, " ") + "]");
  }
  return Join(out, " ");
}
std::string Line(const std::string& text, const ScriptStart& start = {}) {
  return Said(ReadShell(MarkTemplates(text), start));
}

}  // namespace

TEST_CASE("calls of dbt in a line of shell") {
  const struct {
    const char *line, *said;
  } forms[] = {
      {"dbt run", "run[]"},
      {"dbt run --select a b --exclude c d", "run[a b -c -d]"},
      {"dbt run -s a -s b --models c -m d", "run[a b c d]"},
      {"dbt run --select=a --exclude='c d'", "run[a -c d]"},
      {"dbt build -stag:x -xf", "build[tag:x !]"},
      {"dbt --no-use-colors --log-level error seed -f", "seed[!]"},
      {"dbt --profiles-dir run snapshot", "snapshot[]"},
      {"dbt run --selector nightly --vars '{a: \"b c\"}' --threads 4 -x", "run[:nightly]"},
      {"dbt build --resource-type model seed --select a", "build[a type:model type:seed]"},
      {"dbt run --select a > run.log 2>&1 --exclude b | tee x", "run[a -b]"},
      {"dbt run \\\n  --select a \\\n  b", "run[a b]"},
      {"/venv/bin/dbt run -s a", "run[a]"},
      {"A=b C='d e' dbt run -s a", "run[a]"},
      {"env -u X A=b dbt run -s a", "run[a]"},
      {"poetry run dbt run -s a", "run[a]"},
      {"uv run --with dbt-duckdb dbt run -s a", "run[a]"},
      {"uvx --from dbt-core dbt run -s a", "run[a]"},
      {"pipx run --spec dbt-core dbt run -s a", "run[a]"},
      {"python3 -m dbt.cli.main run -s a", "run[a]"},
      {"uv run python -m dbt.cli.main run -s a", "run[a]"},
      {"time nice -n 10 timeout -k 5 3600 dbt run -s a", "run[a]"},
      {"sudo -u dbt dbt run -s a", "run[a]"},
      {"bash -lc 'cd /srv/shop && dbt run -s \"a b\"'", "run[a b @/srv/shop]"},
      {"bash -euo pipefail -c 'dbt run'", "run[]"},
      {"bash <<EOF\ndbt run -s a\nEOF", "run[a]"},
      {"ssh -i key host 'cd shop && dbt run -s a'", "run[a @?/shop]"},
      {"docker run --rm -e DBT_PROJECT_DIR=/p/shop -v a:b image dbt run -s a", "run[a @/p/shop]"},
      {"docker compose run --rm -w /p/shop dbt dbt run", "run[@/p/shop]"},
      {"kubectl exec -n x pod -- dbt run -s a", "run[a]"},
      {"cd /srv/shop && dbt seed && cd ../ops && dbt run", "seed[@/srv/shop] run[@/srv/ops]"},
      {"(cd /srv/shop && dbt seed); dbt run", "seed[@/srv/shop] run[]"},
      {"pushd /srv/shop; dbt seed; popd; dbt run", "seed[@/srv/shop] run[]"},
      {"D=/srv/shop\ncd $D/dbt && dbt run", "run[@/srv/shop/dbt]"},
      {"cd $HOME/shop && dbt run --project-dir $X", "run[]"},
      {"cd {{ var.value.home }}/shop && dbt run", "run[@?/shop]"},
      {"export DBT_PROJECT_DIR=/srv/shop; dbt run", "run[@/srv/shop]"},
      {"if [ -f x ]; then dbt run -s a; else dbt run -s b; fi", "run[a] run[b]"},
      {"dbt run -s a || dbt build -s a & wait", "run[a] build[a]"},
      {"out=$(dbt run -s a)", "run[a]"},
      {"echo \"`dbt run -s a`\"", "run[a]"},
      {"dbt run -s a --vars '{day: {{ ds }}}' --event-time-start {{ ds }}", "run[a]"},
      {"dbt run -s a {% if params.full %}--full-refresh{% endif %}", "run[a ?]"},
      {"dbt run -s a {{ '--full-refresh' if params.full else '' }}", "run[a ?]"},
      {"{% if x %}\ndbt run -s a\n{% else %}\ndbt run -s b\n{% endif %}", "run[a] run[b]"},
      {"dbt run -s a {% if x %}--exclude b{% endif %}", "run[unknown]"},
      {"dbt run -s {{ params.models }}", "run[unknown]"},
      {"dbt run -s a $MORE", "run[unknown]"},
      {"dbt run -s $(cat models)", "run[unknown]"},
      {"dbt run {{ params.options }}", "run[unknown]"},
      {"dbt run --selector $S", "run[unknown]"},
      {"dbt run -s a state:modified+", "run[unknown]"},
      {"dbt run --exclude 1+result:success", "run[unknown]"},
      {"dbt {{ params.command }} -s a", "[unknown]"},
      {"cat models | xargs dbt run -s", "run[unknown]"},
      {"dbt run-operation grant --args '{a: b}'", "run-operation[unknown]"},
      {"dbt retry", "retry[unknown]"},
      {"dbt clone -s a", "clone[unknown]"},
      {"dbt test -s a; dbt ls; dbt docs generate; dbt source freshness; dbt deps; dbt compile", ""},
      {"dbt run --help; dbt --version; dbt", ""},
      {"echo dbt run -s a; echo 'x; dbt run'", ""},
      {"# dbt run\ndate", ""},
      {"cat <<'EOF' > x\ndbt run\nEOF\necho done", ""},
      {"dbt-coverage run; dbt_helper run; run.sh dbt run", ""},
      {"git commit -m 'dbt run'", ""},
  };
  for (const auto& form : forms) {
    CAPTURE(std::string(form.line));
    CHECK(Line(form.line) == form.said);
  }
}

TEST_CASE("calls of dbt where no shell reads the words, and from a folder") {
  CHECK(Line("dbt run", {{}, "/srv/shop"}) == "run[@/srv/shop]");
  CHECK(Line("cd models && dbt run", {{{"DBT_PROJECT_DIR", "/srv/ops"}}, "/srv/shop"}) == "run[@/srv/ops]");
  CHECK(Said(ReadArguments({"dbt", "run", "--select", "a;b c"}, {})) == "run[a;b c]");
  CHECK(Said(ReadArguments({"sh", "-c", "dbt run -s a && dbt test"}, {})) == "run[a]");
  CHECK(Said(ReadArguments({"dbt", "run", MarkTemplates("{% if x %}-f{% endif %}")}, {})) == "run[?]");
  CHECK(Said(ReadArguments({"dbt", "run", "-s", MarkTemplates("{{ x }}")}, {})) == "run[unknown]");
}

TEST_CASE("what a script does beside dbt") {
  CHECK(ReadDbtCalls(ReadShell("cd x && dbt deps && echo done", {})).understood);
  CHECK_FALSE(ReadDbtCalls(ReadShell("dbt deps && python load.py", {})).understood);
  // Broken text ends somewhere, and nothing is made up.
  for (const char* text : {"'", "\"$(", "${", "`", "cat <<X", "{{", "{% if", "((", "\\", "$", "a=$'",
                           "docker run -e", "env -u", "bash -c", "dbt -s", "nice -n"})
    CHECK(Line(text).empty());
}
