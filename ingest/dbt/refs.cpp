// Jinja's expressions are walked name by name. A name stands for the refs that were set to it, given to it by
// a loop, or passed to it as a macro's parameter; what follows its dots tells whether it is asked for its
// name alone.

#include "ingest/dbt/refs.hpp"

#include <algorithm>
#include <cctype>
#include <deque>
#include <map>
#include <set>
#include <tuple>

#include "graph/base/words.hpp"
#include "ingest/sql/scan.hpp"

namespace backreach {

namespace {

bool WordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool Blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

std::string_view Bare(std::string_view s) {
  while (!s.empty() && Blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && Blank(s.back())) s.remove_suffix(1);
  return s;
}

std::size_t BehindString(std::string_view s, std::size_t quote) {
  for (std::size_t i = quote + 1; i < s.size(); ++i) {
    if (s[i] == '\\')
      ++i;
    else if (s[i] == s[quote])
      return i + 1;
  }
  return s.size();
}

// Behind the bracket that closes the one at `open`.
std::size_t BehindBracket(std::string_view s, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < s.size(); ++i) {
    const char c = s[i];
    if (c == '\'' || c == '"') {
      i = BehindString(s, i) - 1;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if ((c == ')' || c == ']' || c == '}') && --depth == 0) {
      return i + 1;
    }
  }
  return s.size();
}

std::size_t SkipBlanks(std::string_view s, std::size_t i) {
  while (i < s.size() && Blank(s[i])) ++i;
  return i;
}

// What stands between the commas of a bracket's inside.
std::vector<std::string_view> Items(std::string_view inside) {
  std::vector<std::string_view> out;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= inside.size(); ++i) {
    if (i == inside.size() || inside[i] == ',') {
      if (const auto item = Bare(inside.substr(from, i - from)); !item.empty()) out.push_back(item);
      from = i + 1;
    } else if (inside[i] == '\'' || inside[i] == '"') {
      i = BehindString(inside, i) - 1;
    } else if (inside[i] == '(' || inside[i] == '[' || inside[i] == '{') {
      i = BehindBracket(inside, i) - 1;
    }
  }
  return out;
}

// `name = value`: an argument by its name, or a parameter with a default.
std::pair<std::string, std::string_view> Named(std::string_view item) {
  std::size_t end = 0;
  while (end < item.size() && WordChar(item[end])) ++end;
  const std::size_t equals = SkipBlanks(item, end);
  if (end == 0 || equals >= item.size() || item[equals] != '=' ||
      (equals + 1 < item.size() && item[equals + 1] == '='))
    return {"", item};
  return {std::string(item.substr(0, end)), Bare(item.substr(equals + 1))};
}

std::string Literal(std::string_view item) {
  if (item.size() < 2 || (item.front() != '\'' && item.front() != '"') || item.back() != item.front())
    return "";
  return std::string(item.substr(1, item.size() - 2));
}

struct Ref {
  bool source = false;
  std::vector<std::string> words;
  std::string version;
  friend auto operator<=>(const Ref&, const Ref&) = default;
};
using Refs = std::set<Ref>;
using Scope = std::map<std::string, Refs>;

Ref ReadRef(bool source, std::string_view inside) {
  Ref ref;
  ref.source = source;
  bool known = true;
  for (const std::string_view item : Items(inside)) {
    const auto [name, value] = Named(item);
    if (name == "v" || name == "version") {
      ref.version = Literal(value).empty() ? std::string(value) : Literal(value);
    } else if (const std::string word = Literal(value); !word.empty()) {
      ref.words.push_back(word);
    } else {
      known = false;
    }
  }
  if (!known) ref.words.clear(), ref.version.clear();
  return ref;
}

class Walker {
 public:
  explicit Walker(const MacroBodies& macros) : macros_(macros) {}

  std::vector<RenderedRef> Run(std::string_view sql) {
    waiting_.push_back({sql, {}, 0, "", 0});
    constexpr std::size_t kMost = 4000;  // bodies of macros in macros
    for (std::size_t done = 0; !waiting_.empty() && done < kMost; ++done) {
      const Body body = std::move(waiting_.front());
      waiting_.pop_front();
      Walk(body);
    }
    return {out_.begin(), out_.end()};
  }

 private:
  struct Body {
    std::string_view text;
    Scope scope;
    int line;           // of the call in the model; 0: the model itself
    std::string macro;  // the outermost macro, "" in the model
    int depth;
  };
  struct Before {
    bool operator()(const RenderedRef& a, const RenderedRef& b) const {
      return std::tie(a.line, a.source, a.words, a.version, a.macro) <
             std::tie(b.line, b.source, b.words, b.version, b.macro);
    }
  };

  void Walk(const Body& body) {
    SqlTokens tokens = TokenizeSql(body.text);
    Scope scope = body.scope;
    for (const SqlToken& t : tokens) {
      line_ = body.line;
      if (line_ == 0)
        line_ =
            1 + static_cast<int>(std::count(
                    body.text.begin(),
                    body.text.begin() + static_cast<std::ptrdiff_t>(std::min(t.at, body.text.size())), '\n'));
      if (t.kind == SqlToken::Kind::kJinja) {
        Expression(t.text, scope, body, true);
      } else if (t.kind == SqlToken::Kind::kBlock) {
        Block(t.text, scope, body);
      } else if (t.kind == SqlToken::Kind::kString && t.text.find("{{") != std::string_view::npos) {
        Expression(t.text, scope, body, true);
      }
    }
  }

  void Block(std::string_view text, Scope& scope, const Body& body) {
    if (StartsWith(text, "macro ")) return;
    Expression(text, scope, body, false);
    const auto hold = [&](std::string_view names, std::string_view value) {
      const Refs refs = ValueOf(value, scope);
      for (const std::string_view name : Items(names)) scope[std::string(Bare(name))] = refs;
    };
    if (StartsWith(text, "set ")) {
      const std::size_t equals = text.find('=');
      if (equals != std::string_view::npos) hold(text.substr(4, equals - 4), text.substr(equals + 1));
    } else if (StartsWith(text, "for ")) {
      const std::size_t in = text.find(" in ");
      if (in != std::string_view::npos) hold(text.substr(4, in - 4), text.substr(in + 4));
    }
  }

  // Calls f(name, refs it stands for, where it ends) for each name of an expression, refs and calls included.
  template <typename F>
  void Names(std::string_view text, const Scope& scope, F f) const {
    for (std::size_t i = 0; i < text.size();) {
      const char c = text[i];
      if (!WordChar(c) || std::isdigit(static_cast<unsigned char>(c))) {
        ++i;
        continue;
      }
      std::size_t end = i;
      while (end < text.size() && WordChar(text[end])) ++end;
      const std::string name(text.substr(i, end - i));
      const bool member = i > 0 && text[i - 1] == '.';
      const std::size_t open = SkipBlanks(text, end);
      const bool call = open < text.size() && text[open] == '(';
      i = end;
      if (call && (name == "ref" || name == "source")) {
        const std::size_t behind = BehindBracket(text, open);
        f(name, Refs{ReadRef(name == "source", text.substr(open + 1, behind - open - 2))}, behind);
      } else if (call) {
        if (!member || macros_.count(name) > 0) f(name, Refs(), BehindBracket(text, open));
      } else if (!member) {
        const auto held = scope.find(name);
        f(name, held == scope.end() ? Refs() : held->second, end);
      }
    }
  }

  // Every ref that an expression could come to.
  Refs ValueOf(std::string_view text, const Scope& scope) const {
    Refs out;
    std::vector<std::string_view> bodies = {text};
    std::set<std::string> seen;
    for (std::size_t b = 0; b < bodies.size() && b < 200; ++b)
      Names(bodies[b], b == 0 ? scope : Scope(), [&](const std::string& name, const Refs& refs, std::size_t) {
        out.insert(refs.begin(), refs.end());
        const auto body = macros_.find(name);
        if (body != macros_.end() && seen.insert(name).second) bodies.push_back(body->second);
      });
    return out;
  }

  // What stands behind the dots: `.render()`, or, where the expression is written out, a part of the name.
  static bool NameAlone(std::string_view text, std::size_t at, bool written) {
    while (true) {
      at = SkipBlanks(text, at);
      if (at >= text.size() || text[at] != '.') return false;
      std::size_t end = ++at;
      while (end < text.size() && WordChar(text[end])) ++end;
      const std::string_view member = text.substr(at, end - at);
      const std::size_t open = SkipBlanks(text, end);
      const bool call = open < text.size() && text[open] == '(';
      if (member == "render") return true;
      if (member == "ref" || member == "source") return false;  // builtins.ref(..): by its own name
      if (written && !call && (member == "identifier" || member == "name" || member == "table")) return true;
      if (member.empty()) return false;
      at = call ? BehindBracket(text, open) : end;
    }
  }

  void Expression(std::string_view text, const Scope& scope, const Body& body, bool written) {
    Names(text, scope, [&](const std::string& name, const Refs& refs, std::size_t end) {
      const auto macro = macros_.find(name);
      const bool call = end > 0 && text[end - 1] == ')';
      if (call && macro != macros_.end() && body.depth < 8) Call(text, name, end, scope, body, macro->second);
      const bool alone = NameAlone(text, end, written && !refs.empty());
      if (!alone || name == "this" || name == "model" || name == "target") return;
      Refs meant = refs;
      if (meant.empty() && call && macro != macros_.end()) meant = ValueOf(macro->second, {});
      if (meant.empty()) meant.insert(Ref());
      for (const Ref& ref : meant) out_.insert({ref.source, ref.words, ref.version, line_, body.macro});
    });
  }

  void Call(std::string_view text, const std::string& name, std::size_t end, const Scope& scope,
            const Body& body, const std::string& macro) {
    std::size_t open = end;
    for (std::size_t at = text.find(name); at != std::string_view::npos && at < end;
         at = text.find(name, at + 1)) {
      const std::size_t bracket = SkipBlanks(text, at + name.size());
      if (bracket < end && text[bracket] == '(' && BehindBracket(text, bracket) == end) open = bracket;
    }
    if (open >= end) return;
    const auto given = Items(text.substr(open + 1, end - open - 2));
    Body inner{macro, {}, line_, body.macro.empty() ? name : body.macro, body.depth + 1};
    const std::size_t head = macro.find("macro "), bracket = macro.find('(', head);
    if (head != std::string::npos && bracket != std::string::npos) {
      const std::size_t behind = BehindBracket(macro, bracket);
      std::size_t position = 0;
      for (const std::string_view item :
           Items(std::string_view(macro).substr(bracket + 1, behind - bracket - 2))) {
        auto [parameter, value] = Named(item);
        if (parameter.empty()) parameter = std::string(item), value = "";
        if (position < given.size() && Named(given[position]).first.empty()) value = given[position];
        for (const std::string_view argument : given)
          if (Named(argument).first == parameter) value = Named(argument).second;
        ++position;
        inner.scope[parameter] = ValueOf(value, scope);
      }
    }
    waiting_.push_back(std::move(inner));
  }

  const MacroBodies& macros_;
  std::deque<Body> waiting_;
  std::set<RenderedRef, Before> out_;
  int line_ = 0;
};

}  // namespace

std::vector<RenderedRef> FindRenderedRefs(std::string_view sql, const MacroBodies& macros) {
  return Walker(macros).Run(sql);
}

}  // namespace backreach
