// Two steps: text to tokens by the rules of quoting, then tokens to commands, with the folder and the
// environment that each is started in.

#include "ingest/commands/shell.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

// Marks inside of texts, which no script has by itself.
constexpr char kName = '\x02', kNameEnd = '\x03';  // around a variable's name
constexpr char kIf = '\x04', kEndIf = '\x05', kElse = '\x06';
constexpr int kDeepest = 8;  // scripts inside of scripts

bool NameChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
bool Digits(std::string_view s) {
  return !s.empty() && s.find_first_not_of("0123456789") == std::string_view::npos;
}
std::string_view Trimmed(std::string_view s) {
  while (!s.empty() && std::string_view(" \t\r\n").find(s.front()) != std::string_view::npos)
    s.remove_prefix(1);
  while (!s.empty() && std::string_view(" \t\r\n").find(s.back()) != std::string_view::npos)
    s.remove_suffix(1);
  return s;
}

// `'--full-refresh' if X else ''`: the text that may be there; nothing for other expressions.
std::optional<std::string> OptionalText(std::string_view expression) {
  const std::string_view e = Trimmed(expression);
  if (e.size() < 2 || (e[0] != '\'' && e[0] != '"')) return std::nullopt;
  const std::size_t close = e.find(e[0], 1);
  if (close == std::string_view::npos) return std::nullopt;
  const std::string_view text = e.substr(1, close - 1), rest = Trimmed(e.substr(close + 1));
  if (!StartsWith(std::string(rest), "if ")) return std::nullopt;
  const std::size_t other = rest.find(" else ");
  if (other == std::string_view::npos) return std::string(text);
  const std::string_view otherwise = Trimmed(rest.substr(other + 6));
  return otherwise == "''" || otherwise == "\"\"" ? std::optional(std::string(text)) : std::nullopt;
}

struct Token {
  enum class Kind { kWord, kEnd, kOpen, kClose, kInput } kind;
  ScriptWord word;
  std::string text;                 // of kInput: a here-document
  std::vector<std::string> inside;  // scripts that stand in the word: $(..)
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> Run() {
    while (at_ < text_.size()) Step();
    End();
    return std::move(out_);
  }

 private:
  char Next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }

  void Step() {
    const char c = text_[at_];
    switch (c) {
      case ' ':
      case '\t':
      case '\r': EndWord(), ++at_; break;
      case '\n': End(), ++at_, HereDocuments(); break;
      case ';':
      case '|': End(), ++at_; break;
      case '&':
        if (Next() == '>')
          EndWord(), ++at_, Redirect();
        else
          End(), ++at_;
        break;
      case '(': End(), out_.push_back({Token::Kind::kOpen, {}, {}, {}}), ++at_; break;
      case ')': End(), out_.push_back({Token::Kind::kClose, {}, {}, {}}), ++at_; break;
      case '<':
      case '>': Redirect(); break;
      case '#':
        if (in_word_)
          Put(c), ++at_;
        else
          at_ = std::min(text_.find('\n', at_), text_.size());
        break;
      default: Piece(c);
    }
  }

  // What stands inside of a word.
  void Piece(char c) {
    switch (c) {
      case '\\':
        if (Next() != '\n' && Next() != '\0') Put(Next());
        at_ += 2;
        break;
      case '\'': Single(); break;
      case '"': Double(); break;
      case '$':
      case '`': Expansion(); break;
      case kIf:
      case kEndIf:
      case kElse: Mark(c), ++at_; break;
      default: Put(c), ++at_;
    }
  }

  void Begin() {
    if (in_word_) return;
    in_word_ = true;
    word_ = {};
    word_.word.block = blocks_.empty() ? 0 : blocks_.back();
    closed_ = false;
  }
  void Put(char c) {
    Begin();
    if (closed_) word_.word.text += kUnknownText, closed_ = false;
    word_.word.text += c;
  }
  // A template's block ends or begins: inside of a word it leaves open what the word is.
  void Mark(char c) {
    if (in_word_ && c != kEndIf) Put(kUnknownText);
    if (c != kIf && !blocks_.empty()) blocks_.pop_back();
    if (c != kEndIf) blocks_.push_back(++block_count_);
    closed_ = in_word_ && c == kEndIf;
  }
  void EndWord() {
    if (!in_word_) return;
    in_word_ = false;
    word_.kind = Token::Kind::kWord;
    if (skip_) {
      if (*skip_ == 'h') here_.push_back(word_.word.text);
      skip_.reset();
      if (word_.inside.empty()) return;
      word_.word.text.clear();
    }
    out_.push_back(std::move(word_));
  }
  void End() {
    EndWord();
    skip_.reset();
    out_.push_back({Token::Kind::kEnd, {}, {}, {}});
  }

  void Single() {
    Begin();
    for (++at_; at_ < text_.size() && text_[at_] != '\''; ++at_) Quoted(text_[at_]);
    ++at_;
  }
  void Quoted(char c) {
    if (c == kIf || c == kEndIf || c == kElse) {
      Put(kUnknownText);
      Mark(c);
    } else {
      Put(c);
    }
  }
  void Double() {
    Begin();
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"') {
      const char c = text_[at_];
      if (c == '\\' && Next() != '\0' &&
          std::string_view("\"\\$`\n").find(Next()) != std::string_view::npos) {
        if (Next() != '\n') Put(Next());
        at_ += 2;
      } else if (c == '$' || c == '`') {
        Expansion();
      } else {
        Quoted(c), ++at_;
      }
    }
    ++at_;
  }

  // The end of what a bracket at `at` opens; quotes inside hold no brackets.
  std::size_t Matching(std::size_t at, char open, char close) const {
    int depth = 0;
    char quote = '\0';
    for (; at < text_.size(); ++at) {
      const char c = text_[at];
      if (quote) {
        if (c == quote) quote = '\0';
      } else if (c == '\'' || c == '"') {
        quote = c;
      } else if (c == '\\') {
        ++at;
      } else if (c == open) {
        ++depth;
      } else if (c == close && --depth == 0) {
        return at;
      }
    }
    return text_.size();
  }

  void Expansion() {
    Begin();
    if (text_[at_] == '`') {
      const std::size_t end = std::min(text_.find('`', at_ + 1), text_.size());
      word_.inside.emplace_back(text_.substr(at_ + 1, end - at_ - 1));
      Put(kUnknownText);
      at_ = end + 1;
      return;
    }
    const char next = Next();
    if (next == '(' || next == '{') {
      const std::size_t end = Matching(at_ + 1, next, next == '(' ? ')' : '}');
      const std::string_view body = text_.substr(at_ + 2, std::min(end, text_.size()) - at_ - 2);
      if (next == '{')
        Variable(body);
      else {
        if (body.empty() || body[0] != '(') word_.inside.emplace_back(body);
        Put(kUnknownText);
      }
      at_ = end + 1;
      return;
    }
    std::size_t end = at_ + 1;
    while (end < text_.size() && NameChar(text_[end])) ++end;
    if (end == at_ + 1) {
      const bool special = std::string_view("@*#?-!$").find(next) != std::string_view::npos && next != '\0';
      Put(special ? kUnknownText : '$');
      at_ += special ? 2 : 1;
      return;
    }
    Variable(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end;
  }
  void Variable(std::string_view name) {
    if (name.empty() || !std::all_of(name.begin(), name.end(), NameChar)) return Put(kUnknownText);
    Put(kName);
    word_.word.text.append(name);
    word_.word.text += kNameEnd;
  }

  // At `<` or `>`: the next word is a file, the word before, if it is a number, a stream.
  void Redirect() {
    if (in_word_ && Digits(word_.word.text)) in_word_ = false;
    EndWord();
    const std::size_t begin = at_;
    while (at_ < text_.size() && (text_[at_] == '<' || text_[at_] == '>')) ++at_;
    const std::string_view sign = text_.substr(begin, at_ - begin);
    if (at_ < text_.size() && text_[at_] == '(') return;  // a process: its commands are read
    if (at_ < text_.size() && (text_[at_] == '&' || text_[at_] == '|' || (sign == "<<" && text_[at_] == '-')))
      ++at_;
    skip_ = sign == "<<" ? 'h' : 'f';
  }

  // Behind the end of a line: what the here-documents that were announced in it hold.
  void HereDocuments() {
    if (here_.empty()) return;
    out_.pop_back();  // the line's end comes after
    for (const std::string& name : here_) {
      Token token{Token::Kind::kInput, {}, {}, {}};
      while (at_ < text_.size()) {
        const std::size_t end = std::min(text_.find('\n', at_), text_.size());
        const std::string_view line = text_.substr(at_, end - at_);
        at_ = std::min(end + 1, text_.size());
        if (Trimmed(line) == name) break;
        token.text.append(line) += '\n';
      }
      out_.push_back(std::move(token));
    }
    here_.clear();
    out_.push_back({Token::Kind::kEnd, {}, {}, {}});
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool in_word_ = false, closed_ = false;
  Token word_{};
  std::optional<char> skip_;  // the next word is a file, or (h) names a here-document
  std::vector<std::string> here_;
  std::vector<int> blocks_;
  int block_count_ = 0;
  std::vector<Token> out_;
};

// A program that only starts another one: behind its own words (`run`), its options, of which these take a
// value, and so many operands, the other one's stand.
struct Starter {
  std::string_view program, verbs, valued;
  int operands;
};
constexpr Starter kStarters[] = {
    {"env", "", "-u --unset -C --chdir", 0},
    {"nice", "", "-n --adjustment", 0},
    {"ionice", "", "-c -n -p", 0},
    {"time", "", "-f -o", 0},
    {"timeout", "", "-s -k --signal --kill-after", 1},
    {"nohup", "", "", 0},
    {"setsid", "", "", 0},
    {"exec", "", "-a", 0},
    {"command", "", "", 0},
    {"builtin", "", "", 0},
    {"stdbuf", "", "-i -o -e", 0},
    {"sudo", "", "-u -g -h -p -C", 0},
    {"flock", "", "-w -E", 1},
    {"tini", "", "", 0},
    {"dumb-init", "", "", 0},
    {"xargs", "", "-n -I -P -L -d -a -s", 0},
    {"poetry", "run", "-C --directory -P --project", 0},
    {"uv", "run",
     "--with --with-editable --with-requirements --python -p --project --directory --package --extra --group "
     "--only-group --no-group --no-extra --env-file --index-url --index --extra-index-url --cache-dir "
     "--config-file",
     0},
    {"uv", "tool run", "--from --with --python -p", 0},
    {"uvx", "", "--from --with --python -p", 0},
    {"pipx", "run", "--spec --python --pip-args", 0},
    {"pipenv", "run", "", 0},
    {"pdm", "run", "-p --project", 0},
    {"hatch", "run", "", 0},
    {"rye", "run", "", 0},
    {"conda", "run", "-n --name -p --prefix --cwd", 0},
    {"mamba", "run", "-n --name -p --prefix --cwd", 0},
    {"micromamba", "run", "-n --name -p --prefix --cwd", 0},
    {"pixi", "run", "-e --environment --manifest-path", 0},
    {"mise", "exec", "", 0},
    {"direnv", "exec", "", 1},
    {"doppler", "run", "-p -c --project --config --token", 0},
    {"op", "run", "--env-file", 0},
    {"dotenv", "run", "-f --file", 0},
    {"chamber", "exec", "", 1},
    {"aws-vault", "exec", "-d --duration", 1},
    {"kubectl", "exec", "-n --namespace -c --container --context", 1},
    {"oc", "exec", "-n --namespace -c --container", 1},
};
constexpr std::string_view kContainerOptions =
    "-v --volume -e --env --env-file -w --workdir --name --network --net -u --user --entrypoint --mount -p "
    "--publish --platform -m --memory --cpus -h --hostname -l --label --add-host --gpus --pull --shm-size "
    "--log-driver --log-opt --ulimit --link --dns --cidfile --restart -f --file --profile "
    "--project-directory";

bool Lists(std::string_view list, std::string_view word) {
  for (const std::string& item : Split(list, ' '))
    if (item == word) return true;
  return false;
}

bool RunsDbt(const std::string& image) {
  return image.find("dbt-labs/dbt-") != std::string::npos ||
         image.find("fishtownanalytics/dbt") != std::string::npos;
}

class Reader {
 public:
  Reader(ScriptStart start, int depth, std::vector<ScriptCommand>& out)
      : env_(std::move(start.env)), folder_(std::move(start.folder)), depth_(depth), out_(out) {
    vars_ = env_;
  }

  void Script(std::string_view text) {
    if (depth_ > kDeepest) return;
    std::vector<ScriptWord> words;
    std::string input;
    struct Around {
      std::map<std::string, std::string> env, vars;
      std::string folder;
    };
    std::vector<Around> around;
    for (Token& token : Lexer(text).Run()) {
      for (const std::string& inside : token.inside) Reader({env_, folder_}, depth_ + 1, out_).Script(inside);
      switch (token.kind) {
        case Token::Kind::kWord:
          if (token.inside.empty() || !token.word.text.empty()) words.push_back(std::move(token.word));
          break;
        case Token::Kind::kInput: input = std::move(token.text); break;
        case Token::Kind::kOpen: around.push_back({env_, vars_, folder_}); break;
        case Token::Kind::kClose:
          if (around.empty()) break;  // of a case
          env_ = std::move(around.back().env), vars_ = std::move(around.back().vars);
          folder_ = std::move(around.back().folder);
          around.pop_back();
          break;
        case Token::Kind::kEnd:
          Simple(std::move(words), input);
          words.clear(), input.clear();
          break;
      }
    }
  }

  // One command: words of control in front are left out, assignments and changes of folder are followed.
  void Simple(std::vector<ScriptWord> words, const std::string& input) {
    static const std::set<std::string, std::less<>> control = {
        "if", "then", "else", "elif", "fi", "while", "until", "do", "done", "!", "{", "}", "esac"};
    std::size_t at = 0;
    while (at < words.size() && control.count(words[at].text)) ++at;
    words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at));
    std::map<std::string, std::string> before = Assignments(words);
    if (words.empty()) {
      for (auto& [name, value] : before) {
        if (env_.count(name)) env_[name] = value;
        vars_[name] = std::move(value);
      }
      return;
    }
    const std::string program = words[0].text;
    if (program == "for" || program == "select" || program == "case" || program == "function") return;
    if (program == "cd" || program == "pushd" || program == "popd") return Move(program, words);
    if (program == "export" || program == "declare" || program == "typeset" || program == "readonly")
      return Export(words);
    if (program == "unset") {
      for (const ScriptWord& w : words) env_.erase(w.text), vars_.erase(w.text);
      return;
    }
    // A folder may be named by what the script said before; a selection by a variable is not followed.
    for (std::size_t i = 0; i < words.size(); ++i)
      if (StartsWith(words[i].text, "--project-dir=") || (i > 0 && words[i - 1].text == "--project-dir"))
        words[i].text = Expanded(words[i].text);
    ScriptCommand command{std::move(words), env_, folder_};
    for (auto& [name, value] : before) command.env[name] = std::move(value);
    Start(std::move(command), input);
  }

  // Takes away what only starts another program, and keeps what is left.
  void Start(ScriptCommand c, const std::string& input) {
    for (int i = 0; i < 16 && !c.words.empty(); ++i) {
      const std::string program = BaseName(c.words[0].text);
      if (IsShell(program)) return Shell(c, input);
      if (program == "eval") return Nested(Joined(c.words, 1), c);
      if (program == "ssh") return Remote(c);
      if (!(program == "docker" || program == "podman" || program == "nerdctl" || program == "docker-compose"
                ? Container(c)
            : StartsWith(program, "python") ? Module(c)
                                            : Started(program, c)))
        break;
    }
    if (!c.words.empty()) out_.push_back(std::move(c));
  }

 private:
  // A word with the variables that the script itself gave a value.
  std::string Expanded(const std::string& text) const {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != kName) {
        out += text[i];
        continue;
      }
      const std::size_t end = text.find(kNameEnd, i);
      const auto it = vars_.find(text.substr(i + 1, end - i - 1));
      out += it == vars_.end() ? std::string(1, kUnknownText) : it->second;
      if (end == std::string::npos) break;
      i = end;
    }
    return out;
  }

  // `NAME=value` in front of a command.
  std::map<std::string, std::string> Assignments(std::vector<ScriptWord>& words) const {
    std::map<std::string, std::string> out;
    std::size_t at = 0;
    for (; at < words.size(); ++at) {
      const std::string& w = words[at].text;
      const std::size_t equals = w.find('=');
      if (equals == std::string::npos || equals == 0 || Digits(w.substr(0, 1)) ||
          !std::all_of(w.begin(), w.begin() + static_cast<std::ptrdiff_t>(equals), NameChar))
        break;
      out[w.substr(0, equals)] = Expanded(w.substr(equals + 1));
    }
    words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at));
    return out;
  }

  void Export(std::vector<ScriptWord>& words) {
    const bool to_env = words[0].text == "export" || (words.size() > 1 && words[1].text.find('x') == 1);
    for (std::size_t i = 1; i < words.size(); ++i) {
      std::vector<ScriptWord> one = {words[i]};
      const auto given = Assignments(one);
      for (const auto& [name, value] : given) {
        vars_[name] = value;
        if (to_env) env_[name] = value;
      }
      if (const auto it = vars_.find(words[i].text); given.empty() && to_env && it != vars_.end())
        env_[it->first] = it->second;
    }
  }

  void Move(const std::string& program, const std::vector<ScriptWord>& words) {
    if (program == "popd") {
      folder_ = pushed_.empty() ? "" : pushed_.back();
      if (!pushed_.empty()) pushed_.pop_back();
      return;
    }
    std::string to;
    for (std::size_t i = 1; i < words.size() && to.empty(); ++i)
      if (words[i].text.size() < 2 || words[i].text[0] != '-') to = words[i].text;
    if (program == "pushd") pushed_.push_back(folder_);
    std::string next = to == "-" ? last_ : to.empty() ? "" : FolderIn(folder_, Expanded(to));
    last_ = std::move(folder_);
    folder_ = std::move(next);
  }

  static bool IsShell(const std::string& program) {
    return program == "bash" || program == "sh" || program == "zsh" || program == "dash" ||
           program == "ash" || program == "ksh";
  }
  void Shell(ScriptCommand& c, const std::string& input) {
    bool script = false;
    for (std::size_t i = 1; i < c.words.size(); ++i) {
      const std::string& w = c.words[i].text;
      if (w.size() > 1 && (w[0] == '-' || w[0] == '+')) {
        if (StartsWith(w, "--")) continue;
        script = script || w.find('c') != std::string::npos;
        if (w.back() == 'o' || w.back() == 'O') ++i;
        continue;
      }
      if (script) Nested(w, c);
      return;  // else a file, which nobody has read
    }
    if (!script && !input.empty()) Nested(input, c);
  }
  void Nested(const std::string& script, const ScriptCommand& c) {
    Reader inner({c.env, c.folder}, depth_ + 1, out_);
    inner.Script(script);
  }
  static std::string Joined(const std::vector<ScriptWord>& words, std::size_t from) {
    std::string out;
    for (std::size_t i = from; i < words.size(); ++i) out += (out.empty() ? "" : " ") + words[i].text;
    return out;
  }
  // Another machine: nothing of this one's environment is there.
  void Remote(ScriptCommand& c) {
    std::size_t at = 1;
    while (at < c.words.size() && c.words[at].text.size() > 1 && c.words[at].text[0] == '-')
      at += Lists("-i -p -l -o -F -J -L -R -D -b -c -E -m -Q -S -W -w -B", c.words[at].text) ? 2 : 1;
    Reader({}, depth_ + 1, out_).Script(Joined(c.words, at + 1));
  }

  static bool Module(ScriptCommand& c) {
    for (std::size_t i = 1; i < c.words.size(); ++i) {
      const std::string& w = c.words[i].text;
      if (w == "-m" && i + 1 < c.words.size()) {
        const std::string module = c.words[i + 1].text;
        if (module != "dbt" && module != "dbt.cli.main" && module != "dbt.main" && module != "dbt.cli")
          return false;
        Drop(c, i + 1);
        c.words[0].text = "dbt";
        return false;
      }
      if (w.empty() || w[0] != '-') return false;
      if (w == "-W" || w == "-X") ++i;
    }
    return false;
  }
  static void Drop(ScriptCommand& c, std::size_t n) {
    c.words.erase(c.words.begin(),
                  c.words.begin() + static_cast<std::ptrdiff_t>(std::min(n, c.words.size())));
  }

  bool Started(const std::string& program, ScriptCommand& c) const {
    for (const Starter& s : kStarters) {
      if (s.program != program) continue;
      std::size_t at = 1;
      if (!Options(c, at, s.valued)) return false;
      bool named = true;
      for (const std::string& verb : Split(s.verbs, ' '))
        if (!verb.empty()) named = named && at < c.words.size() && c.words[at++].text == verb;
      if (!named) continue;
      for (int operands = 0; operands <= s.operands; ++operands) {
        if (!Options(c, at, s.valued)) return false;
        if (operands < s.operands) ++at;
      }
      if (at >= c.words.size()) return false;
      Drop(c, at);
      for (auto& [name, value] : Assignments(c.words)) c.env[name] = value;
      if (program == "xargs") c.words.push_back({std::string(1, kUnknownText), c.words[0].block});
      return true;
    }
    return false;
  }
  // Behind options and their values, as far as those that move the folder or the environment.
  bool Options(ScriptCommand& c, std::size_t& at, std::string_view valued) const {
    for (; at < c.words.size(); ++at) {
      const std::string& w = c.words[at].text;
      if (w == "--") return ++at, true;
      if (w.size() < 2 || w[0] != '-') return true;
      const std::size_t equals = w.find('=');
      const std::string name = w.substr(0, equals);
      const bool next = equals == std::string::npos && Lists(valued, w);
      if (next && at + 1 >= c.words.size()) return false;
      const std::string value = equals != std::string::npos ? w.substr(equals + 1)
                                : next                      ? c.words[at + 1].text
                                                            : "";
      if (name == "--directory" || name == "--chdir" || name == "-C" || name == "--cwd")
        c.folder = FolderIn(c.folder, Expanded(value));
      if (name == "-m" && !next && at + 1 < c.words.size()) {  // uv run -m MODULE
        c.words[at - 1].text = "python";
        --at;
        return true;
      }
      at += next;
    }
    return true;
  }

  // `docker run [OPTIONS] IMAGE COMMAND..`, `docker exec CONTAINER COMMAND..`, and compose's SERVICE.
  bool Container(ScriptCommand& c) const {
    std::size_t at = 1;
    std::map<std::string, std::string> env;
    std::string folder, entry, verb;
    for (; at < c.words.size(); ++at) {
      const std::string& w = c.words[at].text;
      if (!w.empty() && w[0] == '-') {
        const std::size_t equals = w.find('=');
        const std::string name = w.substr(0, equals);
        const bool next = equals == std::string::npos && Lists(kContainerOptions, w);
        const std::string value = equals != std::string::npos       ? w.substr(equals + 1)
                                  : next && at + 1 < c.words.size() ? c.words[at + 1].text
                                                                    : "";
        if (name == "-w" || name == "--workdir") folder = FolderIn("", Expanded(value));
        if (name == "--entrypoint") entry = value;
        if (const std::size_t is = value.find('=');
            (name == "-e" || name == "--env") && is != std::string::npos)
          env[value.substr(0, is)] = Expanded(value.substr(is + 1));
        at += next;
      } else if (verb.empty()) {
        if (w == "run" || w == "exec")
          verb = w;
        else if (w != "compose" && w != "container")
          return false;
      } else {
        break;
      }
    }
    if (at >= c.words.size() || verb.empty()) return false;
    const std::string image = c.words[at].text;
    const int block = c.words[0].block;
    Drop(c, at + 1);
    if (!entry.empty())
      c.words.insert(c.words.begin(), {entry, block});
    else if (verb == "run" && RunsDbt(image))
      c.words.insert(c.words.begin(), {"dbt", block});
    c.env = std::move(env), c.folder = std::move(folder);
    return true;
  }

  std::map<std::string, std::string> env_, vars_;
  std::string folder_, last_;
  std::vector<std::string> pushed_;
  int depth_;
  std::vector<ScriptCommand>& out_;
};

}  // namespace

bool HasUnknown(std::string_view word) {
  return word.find(kUnknownText) != std::string_view::npos || word.find(kName) != std::string_view::npos;
}

std::string MarkTemplates(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const char next = text[i] == '{' && i + 1 < text.size() ? text[i + 1] : '\0';
    if (next != '{' && next != '%' && next != '#') {
      out += static_cast<unsigned char>(text[i]) < 7 ? kUnknownText : text[i];  // the marks are ours
      ++i;
      continue;
    }
    const std::string_view close = next == '{' ? "}}" : next == '%' ? "%}" : "#}";
    const std::size_t end = text.find(close, i + 2);
    if (end == std::string_view::npos) {
      if (next == '#') {  // `${#x}` and the like
        out += text[i++];
        continue;
      }
      return out + kUnknownText;
    }
    std::string_view body = text.substr(i + 2, end - i - 2);
    while (!body.empty() && (body.front() == '-' || body.front() == '+')) body.remove_prefix(1);
    if (!body.empty() && body.back() == '-') body.remove_suffix(1);
    body = Trimmed(body);
    i = end + 2;
    if (next == '#') continue;
    if (next == '{') {
      if (const auto text_or_none = OptionalText(body))
        (out += kIf).append(*text_or_none) += kEndIf;
      else
        out += kUnknownText;
      continue;
    }
    const std::string word(body.substr(0, body.find_first_of(" \t\n(")));
    if (word == "if" || word == "for")
      out += kIf;
    else if (word == "endif" || word == "endfor")
      out += kEndIf;
    else if (word == "else" || word == "elif")
      out += kElse;
  }
  return out;
}

std::vector<ScriptCommand> ReadShell(std::string_view marked, const ScriptStart& start) {
  std::vector<ScriptCommand> out;
  Reader(start, 0, out).Script(marked);
  return out;
}

std::vector<ScriptCommand> ReadArguments(const std::vector<std::string>& marked, const ScriptStart& start) {
  std::vector<ScriptCommand> out;
  ScriptCommand command{{}, start.env, start.folder};
  for (const std::string& text : marked) {
    ScriptWord word{text, 0};
    // A word of its own that is there or not.
    if (text.size() > 1 && text.front() == kIf && text.back() == kEndIf) {
      word.text = text.substr(1, text.size() - 2);
      word.block = 1;
    } else {
      for (char& c : word.text)
        if (c == kIf || c == kEndIf || c == kElse) c = kUnknownText;
    }
    command.words.push_back(std::move(word));
  }
  Reader(start, 0, out).Start(std::move(command), "");
  return out;
}

std::string FolderIn(const std::string& from, const std::string& path) {
  std::string given = path;
  // What is behind the last part that nobody knows is known.
  if (const std::size_t unknown = given.find_last_of(std::string{kUnknownText, kName, kNameEnd});
      unknown != std::string::npos) {
    if (unknown + 1 >= given.size() || given[unknown + 1] != '/') return "";
    given = "?" + given.substr(unknown + 1);
  } else if (!given.empty() && given[0] == '~') {
    const std::size_t slash = given.find('/');
    if (slash == std::string::npos) return "";
    given = "?" + given.substr(slash);
  } else if (given.empty() || (given[0] != '/' && given[0] != '?')) {
    given = (from.empty() ? "?" : from) + "/" + given;
  }
  std::vector<std::string> parts;
  for (const std::string& part : Split(given, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..")
      parts.push_back(part);
    else if (!parts.empty() && parts.back() != "?")
      parts.pop_back();
  }
  if (parts.empty() || (parts.size() == 1 && parts[0] == "?")) return "";
  return (parts[0] == "?" ? "" : "/") + Join(parts, "/");
}

}  // namespace backreach
