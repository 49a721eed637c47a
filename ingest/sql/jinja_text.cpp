// Jinja is parsed into blocks, and these are walked once for each variant: a variant decides all conditions
// that cannot be known alike (their first branch, their second, ...), and reruns from builds from nothing.
// What a call gives is written as SQL that means the same to a reader of columns.

#include "ingest/sql/jinja_text.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "graph/base/words.hpp"
#include "ingest/sql/scan.hpp"

namespace backreach {

namespace {

struct Piece {
  enum class Kind { kText, kExpression, kIf, kFor, kSet, kSetBlock, kMacro, kSkip } kind = Kind::kText;
  std::string_view text;  // of an expression, a condition, a loop's head, a set
  std::size_t lines = 0;  // that the tag itself spans
  struct Branch {
    std::string_view condition;  // empty: else
    std::vector<Piece> body;
  };
  std::vector<Branch> branches;  // of an if; one of all that has a body
};

std::string_view Trim(std::string_view s) {
  const auto from = s.find_first_not_of(" \t\r\n"), to = s.find_last_not_of(" \t\r\n");
  return from == std::string_view::npos ? std::string_view() : s.substr(from, to - from + 1);
}
std::size_t Lines(std::string_view s) {
  return static_cast<std::size_t>(std::count(s.begin(), s.end(), '\n'));
}
std::string_view FirstWord(std::string_view s) {
  std::size_t n = 0;
  while (n < s.size() && (std::isalnum(static_cast<unsigned char>(s[n])) || s[n] == '_')) ++n;
  return s.substr(0, n);
}

// ---- from text to blocks ----

class Blocks {
 public:
  explicit Blocks(std::string_view s) : s_(s) {}
  std::vector<Piece> All() {
    std::vector<Piece> out = Until({});
    return out;
  }

 private:
  struct Tag {
    char kind = 0;  // '{', '%', '#'
    std::string_view inner, whole;
  };
  // The next tag from here on; what stands before it becomes text.
  bool Next(Tag& tag, std::vector<Piece>& out) {
    std::size_t open = i_;
    while (open + 1 < s_.size() &&
           !(s_[open] == '{' && (s_[open + 1] == '{' || s_[open + 1] == '%' || s_[open + 1] == '#')))
      ++open;
    if (open + 1 >= s_.size()) open = s_.size();
    if (open > i_) {
      Piece text;
      text.text = s_.substr(i_, open - i_);
      out.push_back(std::move(text));
    }
    i_ = open;
    if (i_ >= s_.size()) return false;
    tag.kind = s_[i_ + 1];
    const char* close = tag.kind == '{' ? "}}" : tag.kind == '%' ? "%}" : "#}";
    std::size_t end = i_ + 2;
    char quote = 0;
    int braces = 0;  // of a mapping inside the tag
    for (; end < s_.size(); ++end) {
      if (tag.kind != '#') {
        const char c = s_[end];
        if (quote && c == quote)
          quote = 0;
        else if (!quote && (c == '\'' || c == '"'))
          quote = c;
        if (!quote && c == '{') ++braces;
        if (!quote && c == '}' && braces > 0) {
          --braces;
          continue;
        }
      }
      if (!quote && s_.compare(end, 2, close) == 0) break;
    }
    std::string_view inner = s_.substr(i_ + 2, std::min(end, s_.size()) - i_ - 2);
    tag.whole = s_.substr(i_, std::min(end + 2, s_.size()) - i_);
    while (!inner.empty() && (inner.front() == '-' || inner.front() == '+')) inner.remove_prefix(1);
    if (!inner.empty() && inner.back() == '-') inner.remove_suffix(1);
    tag.inner = Trim(inner);
    i_ = std::min(end + 2, s_.size());
    return true;
  }
  std::vector<Piece> Until(std::initializer_list<std::string_view> ends) {
    std::vector<Piece> out;
    if (++depth_ > 60) i_ = s_.size();
    Tag tag;
    while (Next(tag, out)) {
      Piece b;
      b.text = tag.inner;
      b.lines = Lines(tag.whole);
      if (tag.kind == '#') {
        b.kind = Piece::Kind::kSkip;
        out.push_back(std::move(b));
        continue;
      }
      if (tag.kind == '{') {
        b.kind = Piece::Kind::kExpression;
        out.push_back(std::move(b));
        continue;
      }
      const std::string_view word = FirstWord(tag.inner);
      if (std::find(ends.begin(), ends.end(), word) != ends.end()) {
        last_ = tag.inner;
        last_lines_ = b.lines;
        break;
      }
      Statement(word, tag.inner, b);
      out.push_back(std::move(b));
    }
    --depth_;
    return out;
  }
  void Body(Piece& b, std::string_view end) {
    b.branches.push_back({{}, Until({end})});
    CloseLines(b.branches.back().body);
  }
  void CloseLines(std::vector<Piece>& body) {
    if (last_lines_ == 0) return;
    Piece b;
    b.kind = Piece::Kind::kSkip;
    b.lines = last_lines_;
    body.push_back(std::move(b));
  }
  void Statement(std::string_view word, std::string_view inner, Piece& b) {
    b.kind = Piece::Kind::kSkip;
    if (word == "if") {
      b.kind = Piece::Kind::kIf;
      std::string_view condition = Trim(inner.substr(2));
      while (true) {
        b.branches.push_back({condition, Until({"elif", "else", "endif"})});
        CloseLines(b.branches.back().body);
        const std::string_view next = FirstWord(last_);
        if (next == "elif")
          condition = Trim(last_.substr(4));
        else if (next == "else")
          condition = "";
        else
          break;
        if (i_ >= s_.size()) break;
      }
    } else if (word == "for") {
      b.kind = Piece::Kind::kFor;
      b.text = Trim(inner.substr(3));
      b.branches.push_back({{}, Until({"endfor", "else"})});
      if (FirstWord(last_) == "else") Until({"endfor"});
    } else if (word == "set") {
      b.text = Trim(inner.substr(3));
      const bool block = b.text.find('=') == std::string_view::npos;
      b.kind = block ? Piece::Kind::kSetBlock : Piece::Kind::kSet;
      if (block) Body(b, "endset");
    } else if (word == "macro" || word == "test" || word == "materialization") {
      b.kind = Piece::Kind::kMacro;
      b.text = Trim(inner.substr(word.size()));
      Body(b, word == "macro" ? "endmacro" : word == "test" ? "endtest" : "endmaterialization");
    } else if (word == "call") {
      Body(b, "endcall");
      b.branches.clear();
    } else if (word == "raw") {
      Body(b, "endraw");
      b.branches.clear();
    } else if (word == "filter") {
      Body(b, "endfilter");
      b.branches.clear();
    }
  }

  std::string_view s_;
  std::size_t i_ = 0;
  std::string_view last_;
  std::size_t last_lines_ = 0;
  int depth_ = 0;
};

// ---- values ----

struct Value {
  enum class Kind { kUnknown, kText, kNumber, kList, kTruth, kNone } kind = Kind::kUnknown;
  std::string text;  // as it is written into the SQL
  std::vector<Value> list;
  bool truth = false;
  static Value Text(std::string s) { return {Kind::kText, std::move(s), {}, false}; }
  static Value Unknown() { return {Kind::kUnknown, std::string(kSqlValue), {}, false}; }
  static Value Truth(bool b) { return {Kind::kTruth, b ? "true" : "false", {}, b}; }
};

struct Argument {
  std::string name;
  Value value;
};

constexpr std::size_t kLongest = 400'000;
constexpr int kDeepest = 12;

class Writer {
 public:
  Writer(const MacroBodies& macros, std::string_view adapter, JinjaTexts& out, std::size_t branch, bool rerun)
      : macros_(macros), adapter_(adapter), out_(out), branch_(branch), rerun_(rerun) {}

  JinjaText Write(const std::vector<Piece>& blocks) {
    scopes_.emplace_back();
    Walk(blocks, text_.sql);
    return std::move(text_);
  }
  std::size_t most_branches = 1;
  bool asks_rerun = false;

 private:
  using Scope = std::map<std::string, Value, std::less<>>;

  void Lost(std::string what) {
    if (std::find(text_.lost.begin(), text_.lost.end(), what) == text_.lost.end())
      text_.lost.push_back(std::move(what));
  }
  const Value* Find(std::string_view name) const {
    for (auto it = scopes_.rbegin(); it != scopes_.rend(); ++it)
      if (const auto found = it->find(name); found != it->end()) return &found->second;
    return nullptr;
  }

  void Walk(const std::vector<Piece>& blocks, std::string& out) {
    if (++depth_ > kDeepest * 4 || out.size() > kLongest) {
      Lost("what is nested deeper than can be followed");
      --depth_;
      return;
    }
    for (const Piece& b : blocks) {
      switch (b.kind) {
        case Piece::Kind::kText: out += b.text; break;
        case Piece::Kind::kExpression: {
          std::string text = Written(Evaluate(b.text));
          if (b.lines == 0 && inside_macro_ == 0 && false) text += "";
          std::replace(text.begin(), text.end(), '\n', ' ');
          out += text;
          break;
        }
        case Piece::Kind::kIf: If(b, out); break;
        case Piece::Kind::kFor: For(b, out); break;
        case Piece::Kind::kSet: Set(b); break;
        case Piece::Kind::kSetBlock: {
          std::string text;
          Walk(b.branches[0].body, text);
          scopes_.back()[std::string(FirstWord(b.text))] = Value::Text(text);
          if (inside_macro_ == 0) out.append(Lines(text), '\n');
          break;
        }
        case Piece::Kind::kMacro:
          if (inside_macro_ == 0) local_[std::string(FirstWord(b.text))] = &b;
          break;
        case Piece::Kind::kSkip: break;
      }
      if (inside_macro_ == 0) out.append(b.lines, '\n');
    }
    --depth_;
  }
  void If(const Piece& b, std::string& out) {
    // Conditions that are known decide; of the others the variant takes one.
    std::vector<const Piece::Branch*> open;
    bool closed = false;
    for (const Piece::Branch& branch : b.branches) {
      if (branch.condition.empty()) {
        open.push_back(&branch);
        closed = true;
        break;
      }
      const Value v = AsTruth(Evaluate(branch.condition));
      if (v.kind == Value::Kind::kTruth && !v.truth) continue;
      open.push_back(&branch);
      if (v.kind == Value::Kind::kTruth) {
        closed = true;
        break;
      }
    }
    if (!closed) open.push_back(nullptr);
    most_branches = std::max(most_branches, open.size());
    const Piece::Branch* taken = open[std::min(branch_, open.size() - 1)];
    if (taken) Walk(taken->body, out);
  }
  // Nothing and empty texts are false, where they are known.
  static Value AsTruth(const Value& v) {
    if (v.kind == Value::Kind::kNone) return Value::Truth(false);
    if (v.kind == Value::Kind::kText) return Value::Truth(!v.text.empty());
    if (v.kind == Value::Kind::kList) return Value::Truth(!v.list.empty());
    return v;
  }
  void For(const Piece& b, std::string& out) {
    const std::size_t in = b.text.find(" in ");
    if (in == std::string_view::npos) return Lost("a loop");
    std::vector<std::string> names;
    for (const std::string& name : Split(std::string(b.text.substr(0, in)), ','))
      names.emplace_back(Trim(name));
    std::string_view over = Trim(b.text.substr(in + 4));
    if (const std::size_t filter = over.find(" if "); filter != std::string_view::npos)
      over = over.substr(0, filter);
    const Value list = Evaluate(over);
    const bool known = list.kind == Value::Kind::kList && list.list.size() <= 64;
    const std::size_t n = known ? list.list.size() : 1;
    for (std::size_t i = 0; i < n; ++i) {
      scopes_.emplace_back();
      for (std::size_t k = 0; k < names.size(); ++k) {
        Value v = Value::Unknown();
        if (known && names.size() == 1)
          v = list.list[i];
        else if (known && k < list.list[i].list.size())
          v = list.list[i].list[k];
        scopes_.back()[names[k]] = v;
      }
      scopes_.back()["loop.last"] = Value::Truth(i + 1 == n);
      scopes_.back()["loop.first"] = Value::Truth(i == 0);
      scopes_.back()["loop.index"] = Value{Value::Kind::kNumber, std::to_string(i + 1), {}, true};
      scopes_.back()["loop.index0"] = Value{Value::Kind::kNumber, std::to_string(i), {}, true};
      std::string text;
      Walk(b.branches[0].body, text);
      if (i > 0 || inside_macro_ > 0) std::replace(text.begin(), text.end(), '\n', ' ');
      out += text;
      const Scope inner = std::move(scopes_.back());
      scopes_.pop_back();
      (void)inner;
    }
  }
  void Set(const Piece& b) {
    const std::size_t equals = b.text.find('=');
    scopes_.back()[std::string(Trim(b.text.substr(0, equals)))] = Evaluate(b.text.substr(equals + 1));
  }

  static std::string Written(const Value& v) {
    if (v.kind == Value::Kind::kList) {
      std::string out;
      for (const Value& item : v.list) out += (out.empty() ? "" : ", ") + Written(item);
      return out;
    }
    return v.kind == Value::Kind::kNone ? "" : v.text;
  }

  // ---- expressions ----

  Value Evaluate(std::string_view text) {
    if (++depth_ > kDeepest * 4) {
      --depth_;
      return Value::Unknown();
    }
    std::vector<SqlToken> tokens;
    auto made = std::make_unique<std::deque<std::string>>();
    TokenizeSql(text, tokens, *made);
    const std::vector<SqlToken>* const before = t_;
    const std::size_t at = i_;
    t_ = &tokens;
    i_ = 0;
    Value v = Or();
    if (i_ < tokens.size() && Word("if")) {  // a if c else b
      ++i_;
      const Value condition = Or();
      Value other{Value::Kind::kNone, "", {}, false};
      if (Word("else")) ++i_, other = Or();
      if (condition.kind == Value::Kind::kTruth) {
        if (!condition.truth) v = other;
      } else {
        most_branches = std::max<std::size_t>(most_branches, 2);
        if (branch_ > 0) v = other;
      }
    }
    if (i_ < tokens.size()) v = Value::Unknown();
    t_ = before;
    i_ = at;
    --depth_;
    return v;
  }
  bool Word(std::string_view w) const {
    return i_ < t_->size() && (*t_)[i_].kind == SqlToken::Kind::kWord && (*t_)[i_].text == w;
  }
  bool Sym(char c) const { return i_ < t_->size() && (*t_)[i_].IsSymbol(c); }
  bool SymAt(std::size_t k, char c) const { return k < t_->size() && (*t_)[k].IsSymbol(c); }

  Value Or() {
    Value v = And();
    while (Word("or")) {
      ++i_;
      const Value w = And();
      if (v.kind == Value::Kind::kTruth && w.kind == Value::Kind::kTruth)
        v = Value::Truth(v.truth || w.truth);
      else if ((v.kind == Value::Kind::kTruth && v.truth) || (w.kind == Value::Kind::kTruth && w.truth))
        v = Value::Truth(true);
      else
        v = Value::Unknown();
    }
    return v;
  }
  Value And() {
    Value v = Not();
    while (Word("and")) {
      ++i_;
      const Value w = Not();
      if ((v.kind == Value::Kind::kTruth && !v.truth) || (w.kind == Value::Kind::kTruth && !w.truth))
        v = Value::Truth(false);
      else if (v.kind == Value::Kind::kTruth && w.kind == Value::Kind::kTruth)
        v = Value::Truth(true);
      else
        v = Value::Unknown();
    }
    return v;
  }
  Value Not() {
    if (!Word("not")) return Compare();
    ++i_;
    const Value v = AsTruth(Not());
    return v.kind == Value::Kind::kTruth ? Value::Truth(!v.truth) : Value::Unknown();
  }
  Value Compare() {
    Value v = Concat();
    const auto both = [&](bool equal) {
      const Value w = Concat();
      const bool told = (v.kind == Value::Kind::kText || v.kind == Value::Kind::kNumber) && v.kind == w.kind;
      v = told ? Value::Truth((v.text == w.text) == equal) : Value::Unknown();
    };
    if (Sym('=') && SymAt(i_ + 1, '=')) {
      i_ += 2;
      both(true);
    } else if (Sym('!') && SymAt(i_ + 1, '=')) {
      i_ += 2;
      both(false);
    } else if (Sym('<') || Sym('>')) {
      while (Sym('<') || Sym('>') || Sym('=')) ++i_;
      Concat();
      v = Value::Unknown();
    } else if (Word("in") || (Word("not") && i_ + 1 < t_->size() && (*t_)[i_ + 1].text == "in")) {
      const bool no = Word("not");
      i_ += no ? 2 : 1;
      const Value w = Concat();
      if (w.kind != Value::Kind::kList || v.kind == Value::Kind::kUnknown) return Value::Unknown();
      bool found = false;
      for (const Value& item : w.list) found = found || item.text == v.text;
      v = Value::Truth(found != no);
    } else if (Word("is")) {
      ++i_;
      const bool no = Word("not");
      if (no) ++i_;
      const bool none = Word("none") || Word("None");
      if (i_ < t_->size()) ++i_;
      if (none && v.kind != Value::Kind::kUnknown)
        v = Value::Truth((v.kind == Value::Kind::kNone) != no);
      else
        v = Value::Unknown();
    }
    return v;
  }
  Value Concat() {
    Value v = Filtered();
    while (Sym('~') || Sym('+') || Sym('-') || Sym('*') || Sym('/') || Sym('%')) {
      const char op = (*t_)[i_].text[0];
      ++i_;
      const Value w = Filtered();
      if (op == '~' || (op == '+' && v.kind == Value::Kind::kText)) {
        v = Value::Text(Written(v) + Written(w));
      } else if (op == '+' && v.kind == Value::Kind::kList && w.kind == Value::Kind::kList) {
        v.list.insert(v.list.end(), w.list.begin(), w.list.end());
      } else if (v.kind == Value::Kind::kNumber && w.kind == Value::Kind::kNumber && op != '/' && op != '%') {
        const long long a = std::atoll(v.text.c_str()), b = std::atoll(w.text.c_str());
        v.text = std::to_string(op == '+' ? a + b : op == '-' ? a - b : a * b);
      } else {
        v = Value::Unknown();
      }
    }
    return v;
  }
  Value Filtered() {
    Value v = Primary();
    while (Sym('|')) {
      ++i_;
      const std::string name = i_ < t_->size() ? std::string((*t_)[i_].text) : "";
      ++i_;
      std::vector<Argument> args;
      if (Sym('(')) args = Arguments();
      v = Filter(std::move(v), name, args);
    }
    return v;
  }
  Value Filter(Value v, const std::string& name, const std::vector<Argument>& args) {
    if (name == "upper" && v.kind == Value::Kind::kText)
      v.text = Upper(v.text);
    else if (name == "lower" && v.kind == Value::Kind::kText)
      v.text = Lower(v.text);
    else if (name == "join" && v.kind == Value::Kind::kList) {
      std::string out;
      for (std::size_t i = 0; i < v.list.size(); ++i)
        out += (i > 0 && !args.empty() ? args[0].value.text : "") + Written(v.list[i]);
      v = Value::Text(out);
    } else if (name == "default" && v.kind == Value::Kind::kNone && !args.empty()) {
      v = args[0].value;
    } else if (name != "int" && name != "string" && name != "trim" && name != "list" && name != "upper" &&
               name != "lower" && name != "as_number" && name != "as_text" && name != "as_bool" &&
               name != "default" && name != "as_native" && name != "safe") {
      v = Value::Unknown();
    }
    return v;
  }
  std::vector<Argument> Arguments() {
    std::vector<Argument> out;
    ++i_;
    while (i_ < t_->size() && !Sym(')')) {
      Argument a;
      if ((*t_)[i_].kind == SqlToken::Kind::kWord && SymAt(i_ + 1, '=') && !SymAt(i_ + 2, '=')) {
        a.name = (*t_)[i_].text;
        i_ += 2;
      }
      const std::size_t before = i_;
      a.value = Or();
      if (Word("if")) {
        ++i_;
        Or();
        if (Word("else")) ++i_, Or();
        a.value = Value::Unknown();
      }
      out.push_back(std::move(a));
      if (Sym(','))
        ++i_;
      else if (!Sym(')')) {
        if (i_ == before) ++i_;
        while (i_ < t_->size() && !Sym(')') && !Sym(',')) ++i_;
      }
    }
    ++i_;
    return out;
  }
  Value Primary() {
    if (i_ >= t_->size()) return Value::Unknown();
    const SqlToken token = (*t_)[i_];
    if (token.kind == SqlToken::Kind::kString || token.kind == SqlToken::Kind::kQuoted) {
      ++i_;
      return Members(Value::Text(std::string(token.text)));
    }
    if (token.kind == SqlToken::Kind::kNumber) {
      ++i_;
      return {Value::Kind::kNumber, std::string(token.text), {}, true};
    }
    if (Sym('-')) {
      ++i_;
      Value v = Primary();
      if (v.kind == Value::Kind::kNumber) v.text = v.text[0] == '-' ? v.text.substr(1) : "-" + v.text;
      return v;
    }
    if (Sym('[') || Sym('(')) {
      const bool list = Sym('[');
      ++i_;
      Value v{Value::Kind::kList, "", {}, true};
      bool comma = list;
      while (i_ < t_->size() && !Sym(']') && !Sym(')')) {
        const std::size_t before = i_;
        v.list.push_back(Or());
        if (Sym(',')) ++i_, comma = true;
        if (i_ == before) ++i_;
      }
      ++i_;
      if (!comma && v.list.size() == 1) return Members(v.list[0]);
      return Members(v);
    }
    if (Sym('{')) {
      int depth = 0;
      while (i_ < t_->size()) {
        if (Sym('{')) ++depth;
        if (Sym('}') && --depth == 0) break;
        ++i_;
      }
      ++i_;
      return Value::Unknown();
    }
    if (token.kind != SqlToken::Kind::kWord) {
      ++i_;
      return Value::Unknown();
    }
    return Name();
  }
  // A dotted name, called or not.
  Value Name() {
    std::string name((*t_)[i_].text);
    ++i_;
    if (name == "true" || name == "True") return Value::Truth(true);
    if (name == "false" || name == "False") return Value::Truth(false);
    if (name == "none" || name == "None" || name == "null") return {Value::Kind::kNone, "", {}, false};
    while (Sym('.') && i_ + 1 < t_->size() && (*t_)[i_ + 1].kind == SqlToken::Kind::kWord) {
      const Value* known = Find(name);
      if (known && name != "loop") break;
      name += "." + std::string((*t_)[i_ + 1].text);
      i_ += 2;
    }
    if (Sym('(')) {
      const std::vector<Argument> args = Arguments();
      return Members(Called(name, args));
    }
    if (const Value* known = Find(name)) return Members(*known);
    if (name == "this" || StartsWith(name, "this.")) return Value::Text(std::string(kSqlThis));
    if (StartsWith(name, "model.batch.event_time_start")) return Value::Text(std::string(kSqlBatchStart));
    if (StartsWith(name, "model.batch.event_time_end")) return Value::Text(std::string(kSqlBatchEnd));
    return Members(Value::Unknown());
  }
  // .render(), .items(), [0]
  Value Members(Value v) {
    while (Sym('.') || Sym('[') || Sym('(')) {
      if (Sym('.')) {
        const std::string member = i_ + 1 < t_->size() ? std::string((*t_)[i_ + 1].text) : "";
        i_ += 2;
        std::vector<Argument> args;
        const bool call = Sym('(');
        if (call) args = Arguments();
        if (member == "render" && v.text.find(kSqlParent) != std::string::npos) {
          const std::size_t n = static_cast<std::size_t>(
              std::atoll(v.text.c_str() + v.text.find(kSqlParent) + kSqlParent.size()));
          if (n < out_.references.size()) {  // a reference of its own
            JinjaReference reference = out_.references[n];
            reference.rendered = true;
            v.text = Referred(std::move(reference));
          }
        } else if (member == "upper" || member == "lower" || member == "include" || member == "strip") {
        } else if (member == "append" && v.kind == Value::Kind::kList) {
          v = Value::Unknown();
        } else if (v.text.find(kSqlParent) == std::string::npos) {
          v = Value::Unknown();
        }
      } else if (Sym('[')) {
        ++i_;
        const Value index = Or();
        while (i_ < t_->size() && !Sym(']')) ++i_;
        ++i_;
        const std::size_t n = static_cast<std::size_t>(std::atoll(index.text.c_str()));
        if (v.kind == Value::Kind::kList && index.kind == Value::Kind::kNumber && n < v.list.size())
          v = Value(v.list[n]);
        else
          v = Value::Unknown();
      } else {
        Arguments();
        Lost("a call of what a call gave");
        v = Value::Unknown();
      }
    }
    return v;
  }

  std::string Referred(JinjaReference reference) {
    std::size_t n = 0;
    for (; n < out_.references.size(); ++n) {
      const JinjaReference& r = out_.references[n];
      if (r.source == reference.source && r.words == reference.words && r.rendered == reference.rendered)
        break;
    }
    if (n == out_.references.size()) out_.references.push_back(std::move(reference));
    return std::string(kSqlParent) + std::to_string(n);
  }

  static const Value* Given(const std::vector<Argument>& args, std::string_view name, std::size_t position) {
    for (const Argument& a : args)
      if (a.name == name) return &a.value;
    if (position < args.size() && args[position].name.empty()) return &args[position].value;
    return nullptr;
  }

  Value Called(const std::string& name, const std::vector<Argument>& args) {
    if (name == "ref" || name == "source" || name == "builtins.ref" || name == "builtins.source") {
      JinjaReference r;
      r.source = EndsWith(name, "source");
      for (const Argument& a : args)
        if (a.name.empty()) {
          if (a.value.kind != Value::Kind::kText) {
            Lost(name + " of a name that is computed");
            return Value::Unknown();
          }
          r.words.push_back(a.value.text);
        } else if (a.name == "v" || a.name == "version") {
          r.words.push_back("v" + a.value.text);
        }
      return Value::Text(Referred(std::move(r)));
    }
    if (name == "is_incremental") {
      asks_rerun = true;
      return Value::Truth(rerun_);
    }
    if (name == "should_full_refresh") {
      asks_rerun = true;
      return Value::Truth(!rerun_);
    }
    if (name == "config" || name == "log" || name == "exceptions.raise_compiler_error" || name == "print" ||
        name == "do" || name == "set_sql_header")
      return {Value::Kind::kNone, "", {}, false};
    if (name == "return") return args.empty() ? Value::Unknown() : args[0].value;
    if (name == "range") return Range(args);
    if (const auto local = local_.find(name); local != local_.end()) return Local(*local->second, args);
    const auto macro = macros_.find(name);
    const std::size_t dot = name.rfind('.');
    const auto bare = dot == std::string::npos ? macros_.end() : macros_.find(name.substr(dot + 1));
    if (macro != macros_.end() && !macro->second.empty()) return Macro(name, macro->second, args);
    if (auto known = Package(name, args)) return std::move(*known);
    if (bare != macros_.end() && !bare->second.empty()) return Macro(name, bare->second, args);
    for (const char* computes : {"var",
                                 "env_var",
                                 "run_query",
                                 "run_started_at",
                                 "modules",
                                 "dbt_utils.get_",
                                 "adapter.get",
                                 "load_result",
                                 "statement",
                                 "tojson",
                                 "fromjson",
                                 "zip",
                                 "target",
                                 "namespace",
                                 "set",
                                 "dict",
                                 "execute",
                                 "flags",
                                 "graph",
                                 "api",
                                 "invocation_args",
                                 "config.get",
                                 "config.require",
                                 "adapter.quote",
                                 "dbt_utils.pretty",
                                 "local_md5"})
      if (StartsWith(name, computes) &&
          (name.size() == std::string_view(computes).size() || std::string_view(computes).back() == '_' ||
           name[std::string_view(computes).size()] == '.' || StartsWith(name, "adapter.get") ||
           StartsWith(name, "run_started_at")))
        return Value::Unknown();
    Lost("the macro " + name);
    return Value::Unknown();
  }
  Value Range(const std::vector<Argument>& args) {
    std::vector<long long> n;
    for (const Argument& a : args) {
      if (a.value.kind != Value::Kind::kNumber) return Value::Unknown();
      n.push_back(std::atoll(a.value.text.c_str()));
    }
    if (n.empty()) return Value::Unknown();
    const long long from = n.size() > 1 ? n[0] : 0, to = n.size() > 1 ? n[1] : n[0],
                    step = n.size() > 2 ? n[2] : 1;
    Value out{Value::Kind::kList, "", {}, true};
    for (long long i = from; step > 0 && i < to && out.list.size() < 65; i += step)
      out.list.push_back({Value::Kind::kNumber, std::to_string(i), {}, true});
    return out;
  }
  Value Macro(const std::string& name, const std::string& body, const std::vector<Argument>& args) {
    if (inside_macro_ > kDeepest) {
      Lost("the macro " + name);
      return Value::Unknown();
    }
    const auto [it, fresh] = parsed_.try_emplace(name);
    if (fresh) it->second = Blocks(body).All();
    for (const Piece& b : it->second)
      if (b.kind == Piece::Kind::kMacro) return Local(b, args);
    Lost("the macro " + name);
    return Value::Unknown();
  }
  Value Local(const Piece& macro, const std::vector<Argument>& args) {
    if (inside_macro_ > kDeepest || macro.branches.empty()) {
      Lost("the macro " + std::string(FirstWord(macro.text)));
      return Value::Unknown();
    }
    Scope scope;
    const std::size_t open = macro.text.find('('), close = macro.text.rfind(')');
    if (open != std::string_view::npos && close != std::string_view::npos && close > open) {
      std::vector<std::string> parameters;
      int depth = 0;
      std::string one;
      for (const char c : macro.text.substr(open + 1, close - open - 1)) {
        if (c == '(' || c == '[') ++depth;
        if (c == ')' || c == ']') --depth;
        if (c == ',' && depth == 0)
          parameters.push_back(std::exchange(one, ""));
        else
          one += c;
      }
      if (!Trim(one).empty()) parameters.push_back(one);
      for (std::size_t k = 0; k < parameters.size(); ++k) {
        const std::size_t equals = parameters[k].find('=');
        const std::string name(Trim(std::string_view(parameters[k]).substr(0, equals)));
        if (const Value* given = Given(args, name, k))
          scope[name] = *given;
        else if (equals != std::string::npos)
          scope[name] = Evaluate(std::string_view(parameters[k]).substr(equals + 1));
        else
          scope[name] = {Value::Kind::kNone, "", {}, false};
      }
    }
    ++inside_macro_;
    std::vector<Scope> outside = std::move(scopes_);
    scopes_.clear();
    scopes_.push_back(std::move(scope));
    std::string text;
    Walk(macro.branches[0].body, text);
    scopes_ = std::move(outside);
    --inside_macro_;
    if (text.size() > kLongest) {
      Lost("the macro " + std::string(FirstWord(macro.text)));
      text.resize(kLongest);
    }
    return Value::Text(std::string(Trim(text)));
  }

  // Macros of dbt and of packages that everybody has, as SQL.
  std::optional<Value> Package(const std::string& full, const std::vector<Argument>& args) {
    std::string name = full;
    bool package = false;
    for (const char* prefix : {"dbt.", "dbt_utils.", "dbt_date.", "dbt_expectations."})
      if (StartsWith(full, prefix)) name = full.substr(std::string_view(prefix).size()), package = true;
    const auto text = [&](std::string_view key, std::size_t position) {
      const Value* v = Given(args, key, position);
      return v ? Written(*v) : std::string(kSqlValue);
    };
    const auto in = [](const std::string& s) { return "(" + s + ")"; };
    const auto give = [](std::string s) { return std::optional<Value>(Value::Text(std::move(s))); };
    if (name == "dateadd")
      return give("dateadd(" + text("datepart", 0) + ", " + in(text("interval", 1)) + ", " +
                  in(text("from_date_or_timestamp", 2)) + ")");
    if (name == "datediff")
      return give("__br_datediff(" + text("datepart", 2) + ", " + in(text("first_date", 0)) + ", " +
                  in(text("second_date", 1)) + ")");
    if (name == "date_trunc")
      return give("__br_trunc('" + text("datepart", 0) + "', " + in(text("date", 1)) + ")");
    if (name == "last_day")
      return give("__br_last_day(" + in(text("date", 0)) + ", '" + text("datepart", 1) + "')");
    if (name == "safe_cast" || name == "cast")
      return give("cast(" + text("field", 0) + " as " + text("type", 1) + ")");
    if (name == "cast_bool_to_text" || name == "safe_divide" || name == "concat" || name == "hash" ||
        name == "split_part" || name == "replace" || name == "position" || name == "right" ||
        name == "length" || name == "bool_or" || name == "listagg" || name == "any_value" ||
        name == "array_construct" || name == "array_append" || name == "string_literal" ||
        name == "escape_single_quotes" || name == "safe_add" || name == "safe_subtract" ||
        name == "nullcheck" || name == "haversine_distance" || name == "get_url_parameter" ||
        name == "get_url_host" || name == "get_url_path" || name == "width_bucket" ||
        name == "from_unixtimestamp" || name == "to_unixtimestamp" || name == "date_part" ||
        name == "day_name" || name == "month_name" || name == "day_of_week" || name == "day_of_month" ||
        name == "day_of_year") {
      if (!package) return std::nullopt;
      std::string out;
      for (const Argument& a : args) out += (out.empty() ? "" : ", ") + in(Written(a.value));
      const bool aggregate = name == "any_value" || name == "listagg" || name == "bool_or";
      return give((aggregate ? "count(" : "__br_fn(") + out + ")");
    }
    if (!package && name != "generate_surrogate_key" && name != "surrogate_key" &&
        name != "current_timestamp" && name != "type_timestamp" && name != "type_string" &&
        name != "date_spine" && name != "type_numeric" && name != "type_int" && name != "type_float" &&
        name != "type_bigint" && name != "type_boolean")
      return std::nullopt;
    if (StartsWith(name, "type_"))
      return give(name == "type_timestamp" ? "timestamp" : name == "type_string" ? "varchar" : "numeric");
    if (name == "generate_surrogate_key" || name == "surrogate_key") return give("'key'");
    if (StartsWith(name, "current_timestamp") || name == "now") return give("current_timestamp");
    if (name == "today" || name == "yesterday" || name == "tomorrow") return give("current_date");
    if (name == "convert_timezone") {
      const Value* target = Given(args, "target_tz", 1);
      const Value* source = Given(args, "source_tz", 2);
      return give("convert_timezone('" + (source ? Written(*source) : std::string("UTC")) + "', '" +
                  (target ? Written(*target) : std::string("?")) + "', " + in(text("column", 0)) + ")");
    }
    if (name == "week_start") return give("__br_trunc('week_start', " + in(text("date", 0)) + ")");
    if (name == "iso_week_start") return give("__br_trunc('isoweek', " + in(text("date", 0)) + ")");
    if (name == "n_days_ago" || name == "n_days_away") {
      const Value* date = Given(args, "date", 1);
      if (!date) return give("current_date");
      return give("dateadd(day, " + std::string(name == "n_days_ago" ? "-" : "") + in(text("n", 0)) +
                  ", __br_trunc('day', " + in(Written(*date)) + "))");
    }
    if (name == "star") {
      std::string out = "*";
      if (const Value* alias = Given(args, "relation_alias", 1); alias && alias->kind == Value::Kind::kText)
        out = alias->text + ".*";
      if (const Value* except = Given(args, "except", 2);
          except && except->kind == Value::Kind::kList && !except->list.empty())
        out += " exclude (" + Written(*except) + ")";
      return give(out);
    }
    if (name == "group_by") {
      const int n = std::min(200, std::atoi(text("n", 0).c_str()));
      std::string out = "group by 1";
      for (int i = 2; i <= n; ++i) out += ", " + std::to_string(i);
      return give(out);
    }
    if (name == "date_spine") {
      const std::string ends = text("start_date", 1) + text("end_date", 2);
      if (ends.find(kSqlParent) != std::string::npos) return std::nullopt;
      return give("select date_" + text("datepart", 0) + " from generate_series(1)");
    }
    if (name == "deduplicate")
      return give("select * from " + text("relation", 0) + " qualify row_number() over (partition by " +
                  text("partition_by", 1) + " order by " + text("order_by", 2) + ") = 1");
    if (name == "union_relations") {
      const Value* relations = Given(args, "relations", 0);
      if (!relations || relations->kind != Value::Kind::kList || relations->list.empty()) return std::nullopt;
      std::string out;
      for (const Value& r : relations->list)
        out += (out.empty() ? "(select * from " : " union all select * from ") + Written(r);
      return give(out + ")");
    }
    if (name == "pivot") return give("sum(0) as pivoted");
    if (StartsWith(name, "get_") || StartsWith(name, "pretty") || StartsWith(name, "log_"))
      return Value::Unknown();
    return std::nullopt;
  }

  const MacroBodies& macros_;
  std::string_view adapter_;
  JinjaTexts& out_;
  std::size_t branch_;
  bool rerun_;
  JinjaText text_;
  std::vector<Scope> scopes_;
  std::map<std::string, const Piece*, std::less<>> local_;
  std::map<std::string, std::vector<Piece>> parsed_;
  const std::vector<SqlToken>* t_ = nullptr;
  std::size_t i_ = 0;
  int depth_ = 0, inside_macro_ = 0;
};

}  // namespace

JinjaTexts WriteOutJinja(std::string_view text, const MacroBodies& macros, std::string_view adapter) {
  constexpr std::size_t kMostBranches = 6;
  JinjaTexts out;
  const std::vector<Piece> blocks = Blocks(text).All();
  std::size_t branches = 1;
  bool asks = false;
  for (std::size_t branch = 0; branch < std::min(branches, kMostBranches); ++branch) {
    for (const bool rerun : {false, true}) {
      if (rerun && !asks) continue;
      Writer writer(macros, adapter, out, branch, rerun);
      JinjaText one = writer.Write(blocks);
      branches = std::max(branches, writer.most_branches);
      asks = asks || writer.asks_rerun;
      bool twice = false;
      for (const JinjaText& other : out.variants) twice = twice || other.sql == one.sql;
      if (!twice) out.variants.push_back(std::move(one));
    }
  }
  return out;
}

}  // namespace backreach
