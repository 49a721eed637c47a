// A hook is mostly one call of a macro, and the macro's body calls others: their texts are put in place of
// the calls, and what comes out is read like a statement. A project's own macro is taken as it reads; one of
// a package that goes on to something unreadable is unknown, since nobody in the project has looked into it.

#include "ingest/dbt/hooks.hpp"

#include <algorithm>
#include <optional>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

// What `{{ name(...) }}` and `{% do name(...) %}` call; "" for anything else.
std::string_view CallIn(const SqlToken& token) {
  std::string_view text = token.text;
  if (token.kind == SqlToken::Kind::kBlock && StartsWith(text, "do "))
    text.remove_prefix(3);
  else if (token.kind != SqlToken::Kind::kJinja)
    return {};
  while (!text.empty() && text[0] == ' ') text.remove_prefix(1);
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos) return {};
  text = text.substr(0, open);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// The first two quoted words of `adapter.dispatch('name', 'package')`.
std::optional<std::pair<std::string, std::string>> Dispatched(std::string_view text) {
  std::size_t at = text.find("adapter.dispatch(");
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t close = text.find(')', at);
  std::string words[2];
  for (std::string& word : words) {
    at = text.find_first_of("'\"", at);
    if (at >= close) break;
    const std::size_t end = text.find(text[at], at + 1);
    if (end == std::string_view::npos) break;
    word = text.substr(at + 1, end - at - 1);
    at = end + 1;
  }
  return std::pair(words[0], words[1]);
}

}  // namespace

const DbtHook& DbtHooks::Meaning(const std::string& text, const std::string& package) {
  const auto [it, fresh] = known_.try_emplace(package + "\n" + text);
  if (fresh) it->second = Judge(text, package);
  return it->second;
}

const std::string* DbtHooks::In(const std::string& package, const std::string& name) const {
  const auto bodies = macros_.find(package.empty() ? project_ : package);
  if (bodies == macros_.end()) return nullptr;
  const auto body = bodies->second.find(name);
  return body == bodies->second.end() || body->second.empty() ? nullptr : &body->second;
}

// The body that a token calls from within a package (that one's own before the project's), and how it is
// called: "" if the token calls nothing but what computes.
DbtHooks::Body DbtHooks::Called(const SqlToken& token, const std::string& package,
                                std::string_view& call) const {
  call = CallIn(token);
  if (call.empty()) return {};
  if (const auto dispatched = Dispatched(token.text)) {
    call = "adapter.dispatch";
    const auto& [name, of] = *dispatched;
    for (const std::string& in : {project_, of.empty() ? package : of})
      for (const std::string& prefix : {adapter_, std::string("default")})
        if (const std::string* body = In(in, prefix + "__" + name)) return {body, in};
    return {};
  }
  if (const std::size_t dot = call.find('.'); dot != std::string_view::npos) {
    const std::string of(call.substr(0, dot));
    if (const std::string* body = In(of, std::string(call.substr(dot + 1)))) return {body, of};
  } else {
    for (const std::string& in : {package, project_})
      if (const std::string* body = In(in, std::string(call))) return {body, in};
  }
  if (ComputesOnly(call)) call = {};
  return {};
}

DbtHook DbtHooks::Judge(const std::string& hook, const std::string& package) const {
  constexpr std::size_t kMost = 1u << 20, kDeepest = 16;
  struct Level {
    std::string_view text;
    std::string package;
    SqlTokens tokens;
    std::size_t at = 0, copied = 0;
  };
  DbtHook out;
  std::string text, outermost;
  std::vector<Level> levels;
  levels.push_back({hook, package, TokenizeSql(hook)});
  while (!levels.empty()) {
    Level& level = levels.back();
    if (level.at == level.tokens.size()) {
      text += level.text.substr(level.copied);
      levels.pop_back();
      continue;
    }
    const SqlToken& token = level.tokens[level.at];
    // A statement of its own, and no name or value within one.
    const bool stands_alone = level.at == 0 || level.tokens[level.at - 1].IsSymbol(';') ||
                              level.tokens[level.at - 1].kind == SqlToken::Kind::kBlock;
    ++level.at;
    std::string_view call;
    const Body body = Called(token, level.package, call);
    if (levels.size() == 1) outermost = call;
    const auto open = [&](const Level& l) { return body.text && l.text.data() == body.text->data(); };
    if (std::any_of(levels.begin(), levels.end(), open)) continue;  // a macro that calls itself
    const bool cut = body.text && (levels.size() > kDeepest || text.size() > kMost);
    if (!body.text || cut) {
      const bool foreign = level.package != project_ && !level.package.empty();
      if (!call.empty() && out.unknown.empty() && (cut || (levels.size() == 1 ? stands_alone : foreign)))
        out.unknown = outermost, out.missing = !body.text && levels.size() == 1;
      continue;
    }
    const std::size_t end = level.text.find(token.kind == SqlToken::Kind::kJinja ? "}}" : "%}", token.at);
    text.append(level.text.substr(level.copied, token.at - level.copied)).append(" ");
    level.copied = end == std::string_view::npos ? level.text.size() : end + 2;
    levels.push_back({*body.text, body.package, TokenizeSql(*body.text)});
  }
  out.exports = FindExports(text);
  for (std::string& effect : SideEffects(text))
    if (std::find(out.effects.begin(), out.effects.end(), effect) == out.effects.end())
      out.effects.push_back(std::move(effect));
  return out;
}

}  // namespace backreach
