// Statement by statement: the verb says where the written table's name stands, FROM, JOIN and USING what is
// read. What is written into a temporary table is what its readers read.

#include "ingest/sql/moves.hpp"

#include <algorithm>
#include <map>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

using Kind = SqlToken::Kind;

class Statement {
 public:
  Statement(const std::vector<SqlToken>& tokens, std::size_t from, std::size_t to)
      : t_(tokens), from_(from), to_(to) {}

  struct Said {
    SqlTable target;  // without a name: it writes nothing
    std::vector<SqlTable> reads;
    bool temporary = false, hidden = false;
  };

  Said Read() {
    Said said;
    said.reads = TablesRead(t_, from_, to_);
    for (std::size_t i = from_; i + 1 < to_; ++i)
      if ((Is(i, "FROM") || Is(i, "JOIN") || Is(i, "INTO")) && t_[i + 1].kind == Kind::kBlock)
        said.hidden = true;
    std::size_t i = from_;
    while (i < to_ && (t_[i].kind == Kind::kBlock || t_[i].kind == Kind::kJinja)) ++i;
    const std::size_t verb = Is(i, "WITH") ? BehindExpressions(i) : i;
    Verb(verb, said);
    return said;
  }

 private:
  bool Is(std::size_t i, const char* word) const { return i < to_ && t_[i].Is(word); }
  std::size_t Behind(std::size_t i, std::initializer_list<const char*> words) const {
    while (std::any_of(words.begin(), words.end(), [&](const char* w) { return Is(i, w); })) ++i;
    return i;
  }
  // The first verb outside of brackets.
  std::size_t BehindExpressions(std::size_t i) const {
    int depth = 0;
    for (; i < to_; ++i) {
      if (t_[i].IsSymbol('(')) ++depth;
      if (t_[i].IsSymbol(')')) --depth;
      if (depth == 0)
        for (const char* verb : {"INSERT", "MERGE", "UPDATE", "DELETE", "SELECT"})
          if (Is(i, verb)) return i;
    }
    return to_;
  }

  SqlTable Name(std::size_t& i) const {
    SqlTable out;
    while (i < to_) {
      const SqlToken& token = t_[i];
      if (token.kind == Kind::kJinja) {
        out.name += "{{ " + std::string(token.text) + " }}";
        out.jinja = true;
      } else if (token.kind == Kind::kWord || token.kind == Kind::kQuoted || token.kind == Kind::kNumber) {
        out.name += token.text;
      } else {
        break;
      }
      ++i;
      // `{{ schema }}.orders`, `orders_{{ ds_nodash }}`.
      if (i < to_ && t_[i].IsSymbol('.'))
        out.name += '.', ++i;
      else if (i < to_ && (t_[i].kind == Kind::kJinja || token.kind == Kind::kJinja) &&
               t_[i - 1].at < t_[i].at && Touches(i))
        continue;
      else
        break;
    }
    return out;
  }
  // Nothing stands between the token and the one before it.
  bool Touches(std::size_t i) const {
    const SqlToken& before = t_[i - 1];
    if (before.kind == Kind::kWord) return before.at + before.text.size() == t_[i].at;
    return before.kind == Kind::kJinja && t_[i].kind == Kind::kWord &&
           t_[i].at <= before.at + before.text.size() + 6;
  }

  void Verb(std::size_t i, Said& said) const {
    const auto take = [&](std::size_t at) { said.target = Name(at); };
    if (Is(i, "INSERT")) {
      i = Behind(i + 1, {"OR", "REPLACE", "IGNORE", "INTO", "OVERWRITE", "TABLE"});
      if (!Is(i, "DIRECTORY") && !Is(i, "LOCAL") && !Is(i, "FUNCTION")) take(i);
    } else if (Is(i, "MERGE")) {
      take(Behind(i + 1, {"INTO"}));
      Using(i, said);
    } else if (Is(i, "UPDATE")) {
      take(Behind(i + 1, {"ONLY"}));
    } else if (Is(i, "DELETE")) {
      take(Behind(i + 1, {"FROM", "ONLY"}));
      Using(i, said);
      std::erase_if(said.reads, [&](const SqlTable& r) { return Lower(r.name) == Lower(said.target.name); });
    } else if (Is(i, "TRUNCATE")) {
      take(Behind(i + 1, {"TABLE"}));
    } else if (Is(i, "CREATE")) {
      Create(i + 1, said);
    } else if (Is(i, "COPY") && Is(i + 1, "INTO") && i + 2 < to_ && !t_[i + 2].IsSymbol('@') &&
               t_[i + 2].kind != Kind::kString) {
      take(i + 2);  // a load
    } else if (Is(i, "SELECT")) {
      int depth = 0;
      for (; i < to_; ++i) {
        if (t_[i].IsSymbol('(')) ++depth;
        if (t_[i].IsSymbol(')')) --depth;
        if (depth == 0 && Is(i, "FROM")) break;
        if (depth == 0 && Is(i, "INTO") && i + 1 < to_ && t_[i + 1].kind != Kind::kString &&
            !Is(i + 1, "OUTFILE"))
          return take(Behind(i + 1, {"TABLE", "TEMP", "TEMPORARY", "UNLOGGED"}));
      }
    }
  }

  void Using(std::size_t i, Said& said) const {
    for (; i + 1 < to_; ++i) {
      if (!Is(i, "USING") || t_[i + 1].IsSymbol('(')) continue;
      std::size_t at = i + 1;
      SqlTable table = Name(at);
      const auto same = [&](const SqlTable& r) { return r.name == table.name; };
      if (!table.name.empty() && std::none_of(said.reads.begin(), said.reads.end(), same))
        said.reads.push_back(std::move(table));
      return;
    }
  }

  // CREATE ... AS SELECT; a definition alone moves no rows.
  void Create(std::size_t i, Said& said) const {
    for (;; ++i) {
      if (Is(i, "TEMP") || Is(i, "TEMPORARY") || Is(i, "VOLATILE")) said.temporary = true;
      if (Behind(i, {"OR", "REPLACE", "TEMP", "TEMPORARY", "TRANSIENT", "GLOBAL", "LOCAL", "VOLATILE",
                     "UNLOGGED", "EXTERNAL", "MATERIALIZED", "DYNAMIC", "MULTISET", "SET"}) == i)
        break;
    }
    if (!Is(i, "TABLE") && !Is(i, "VIEW")) return;
    std::size_t at = Behind(i + 1, {"IF", "NOT", "EXISTS"});
    const SqlTable target = Name(at);
    for (; at + 1 < to_; ++at)
      if (Is(at, "AS") && (Is(at + 1, "SELECT") || Is(at + 1, "WITH") || t_[at + 1].IsSymbol('('))) {
        said.target = target;
        return;
      }
  }

  const std::vector<SqlToken>& t_;
  const std::size_t from_, to_;
};

void Once(std::vector<SqlTable>& tables) {
  std::vector<SqlTable> out;
  for (SqlTable& t : tables)
    if (std::none_of(out.begin(), out.end(), [&](const SqlTable& o) { return o.name == t.name; }))
      out.push_back(std::move(t));
  tables = std::move(out);
}

}  // namespace

void AddNamed(const std::string& name, const Place& at, const MovesInto& into) {
  if (!into.known.insert(name).second) return;
  DatasetFact fact;
  fact.name = name;
  fact.at = at;
  into.facts.datasets.push_back(std::move(fact));
}

void AddMoves(const SqlMoves& moves, JobFact& job, const MovesInto& into) {
  const auto place = [&](const SqlTable& table) -> Text {
    if (table.jinja) {
      into.facts.unresolved.push_back({table.name, "template", std::nullopt,
                                       job.name + ": its SQL names a table by a template: " + table.name,
                                       job.at});
      return std::nullopt;
    }
    const std::string name = into.name(table.name);
    AddNamed(name, job.at, into);
    return name;
  };
  const auto add = [](std::vector<std::string>& list, const std::string& name) {
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
  };
  if (moves.hidden)
    into.facts.unresolved.push_back({job.name, "template", std::nullopt,
                                     job.name + ": a table of its SQL stands in branches of a template",
                                     job.at});
  for (const SqlTable& table : moves.reads)
    if (const Text name = place(table)) add(job.reads, *name);
  for (const SqlMove& move : moves.moves) {
    const Text to = place(move.to);
    if (!to) continue;
    add(job.writes, *to);
    for (const SqlTable& table : move.from) {
      if (table.jinja) continue;  // said above
      EdgeFact edge;
      edge.from = into.name(table.name);
      edge.to = *to;
      edge.job = job.name;
      edge.known = "assumed";
      edge.note = "in the SQL of " + job.name;
      edge.at = job.at;
      const auto same = [&](const EdgeFact& e) {
        return e.from == edge.from && e.to == edge.to && e.job == edge.job;
      };
      if (std::none_of(into.facts.edges.rbegin(), into.facts.edges.rend(), same))
        into.facts.edges.push_back(std::move(edge));
    }
  }
}

SqlMoves MovesOf(std::string_view sql) {
  const SqlTokens t = TokenizeSql(sql);
  SqlMoves out;
  std::map<std::string, std::vector<SqlTable>> temporary;  // by folded name, what they were made from
  const auto followed = [&](const std::vector<SqlTable>& tables) {
    std::vector<SqlTable> all;
    for (const SqlTable& table : tables) {
      const auto it = temporary.find(Lower(table.name));
      if (it == temporary.end())
        all.push_back(table);
      else
        all.insert(all.end(), it->second.begin(), it->second.end());
    }
    Once(all);
    return all;
  };
  for (std::size_t from = 0; from < t.size();) {
    std::size_t to = from;
    while (to < t.size() && !t[to].IsSymbol(';')) ++to;
    Statement::Said said = Statement(t, from, to).Read();
    from = to + 1;
    out.hidden = out.hidden || said.hidden;
    std::vector<SqlTable> reads = followed(said.reads);
    const std::string target = Lower(said.target.name);
    if (said.temporary || temporary.count(target)) {
      std::vector<SqlTable>& of = temporary[target];
      of.insert(of.end(), reads.begin(), reads.end());
      continue;
    }
    out.reads.insert(out.reads.end(), reads.begin(), reads.end());
    if (!target.empty()) out.moves.push_back({said.target, std::move(reads)});
  }
  Once(out.reads);
  return out;
}

}  // namespace backreach
