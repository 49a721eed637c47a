// Lines are found by their ends, which costs next to nothing; only where a line is no document, or inside of
// an array, brackets are counted. Input is read piece by piece into one buffer that stays in the cache, which
// costs half of what mapping a file costs that is read once.

#include "ingest/read/json_stream.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "graph/base/words.hpp"
#include "ingest/read/json_split.hpp"

namespace backreach {

namespace {
bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
}  // namespace

struct JsonStream::State {
  std::string path, name;
  std::string_view list_key;
  Diagnostics* diagnostics = nullptr;
  std::optional<MappedFile>
      file;  // tells whether it is still the one that was opened; none of standard input
  int fd = STDIN_FILENO;
  std::unique_ptr<char[]> data;  // what was read and is not yet done with
  std::size_t size = 0, room = 0;
  bool ended = false;  // nothing more is to come

  std::size_t at = 0;     // in bytes()
  std::size_t begin = 0;  // of the document that was given last
  enum class Form { kUnknown, kLines, kList, kDone } form = Form::kUnknown;
  bool first_of_list = true;
  std::size_t line = 1;  // of `at`, where lines are counted
  std::size_t number = 0;
  bool one_line = false;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (fd != STDIN_FILENO && fd >= 0) ::close(fd);
  }

  std::string_view bytes() const { return {data.get(), size}; }

  // More behind what is there, which is moved to the front.
  bool More() {
    if (ended) return false;
    constexpr std::size_t kLeast = 512u << 10;
    const std::size_t keep = std::min(begin, at);
    if (keep > 0) {
      std::memmove(data.get(), data.get() + keep, size - keep);
      size -= keep, at -= keep, begin -= keep;
    }
    if (size + kLeast / 2 + kPadding > room) {  // a document that is larger than the buffer
      const std::size_t larger = std::max(kLeast + kPadding, room * 2);
      std::unique_ptr<char[]> moved(new char[larger]);
      if (size > 0) std::memcpy(moved.get(), data.get(), size);
      data = std::move(moved);
      room = larger;
    }
    for (;;) {
      const ssize_t n = ::read(fd, data.get() + size, room - kPadding - size);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) diagnostics->Error(name, std::string("cannot be read: ") + std::strerror(errno));
      ended = n <= 0;
      if (n > 0) size += static_cast<std::size_t>(n);
      return n > 0;
    }
  }

  // To the next byte that is no space; false at the end of all.
  bool SkipSpace() {
    for (;;) {
      const std::string_view text = bytes();
      while (at < text.size() && IsSpace(text[at])) line += text[at++] == '\n';
      if (at < text.size()) return true;
      begin = at;
      if (!More()) return false;
    }
  }

  // The end of the value that begins at `at`; npos (and a message) if the text ends in it.
  std::size_t EndOfValue() {
    for (;;) {
      const std::size_t end = SkipJsonValue(bytes(), at);
      if (end != std::string_view::npos && (end < bytes().size() || ended)) return end;
      begin = at;
      if (!More()) return end;
    }
  }

  bool Fail(const std::string& what, std::vector<std::string> notes = {}) {
    diagnostics->Error(form == Form::kList ? fmt::format("{}, event {}", name, number + 1)
                                           : fmt::format("{}:{}", name, line),
                       what, std::move(notes));
    form = Form::kDone;
    return false;
  }

  bool Give(std::size_t end, std::string_view& document) {
    document = bytes().substr(begin, end - begin);  // room for the padding is always left behind
    ++number;
    return true;
  }

  void Begin();
  bool NextLine(std::string_view& document);
  bool NextOfList(std::string_view& document);
};

// What form the input has: seen at its first document.
void JsonStream::State::Begin() {
  form = Form::kLines;
  if (!SkipSpace()) return;
  if (bytes()[at] == '[') {
    ++at;
    form = Form::kList;
    return;
  }
  if (bytes()[at] != '{' || list_key.empty()) return;
  // The members of the first object, up to the list: those of a document tell that it is none of a wrapper.
  for (;;) {
    ObjectSplitter members(bytes(), at);
    bool short_of = false;
    while (members.Next()) {
      const std::size_t value = members.value_begin();
      if (members.key() == list_key && value < bytes().size() && bytes()[value] == '[') {
        at = value + 1;
        form = Form::kList;
        return;
      }
      static constexpr std::string_view kOfEvents[] = {
          "run", "job", "eventType", "eventTime", "inputs", "outputs", "producer", "schemaURL", "dataset"};
      if (std::find(std::begin(kOfEvents), std::end(kOfEvents), members.key()) != std::end(kOfEvents)) return;
      std::string_view skipped;
      if (!members.Value(skipped)) short_of = true;
    }
    begin = at;
    if ((!short_of && !members.error()) || !More()) return;
  }
}

bool JsonStream::State::NextLine(std::string_view& document) {
  if (!SkipSpace()) return false;
  begin = at;
  if (bytes()[at] != '{')
    return Fail(
        fmt::format("expected an event, a JSON object, and found '{}'", Printable(bytes().substr(at, 20))));
  for (std::size_t from = at;;) {
    const std::string_view text = bytes();
    const std::size_t end = text.find('\n', from);
    if (end == std::string_view::npos) {
      const std::size_t seen = text.size() - begin;
      if (More()) {
        from = begin + seen;
        continue;
      }
    }
    const std::string_view all = bytes();
    std::size_t last = end == std::string_view::npos ? all.size() : end;
    at = last;
    while (last > begin && IsSpace(all[last - 1])) --last;
    one_line = true;
    if (all[last - 1] == '}') return Give(last, document);
    at = begin;
    const std::size_t whole = EndOfValue();
    if (whole == std::string_view::npos)
      return Fail("the input ends inside an event",
                  {"nothing was changed: was it cut off, or is it still being written?"});
    one_line = false;
    const std::string_view now = bytes();
    line += static_cast<std::size_t>(std::count(now.begin() + static_cast<std::ptrdiff_t>(begin),
                                                now.begin() + static_cast<std::ptrdiff_t>(whole), '\n'));
    at = whole;
    return Give(whole, document);
  }
}

bool JsonStream::State::NextOfList(std::string_view& document) {
  if (!SkipSpace()) return Fail("the input ends inside its list of events");
  if (bytes()[at] == ']') {
    form = Form::kDone;  // what stands behind a list is of no use here
    return false;
  }
  if (!first_of_list) {
    if (bytes()[at] != ',') return Fail("expected ',' or ']' between two events");
    ++at;
    if (!SkipSpace()) return Fail("the input ends inside its list of events");
  }
  first_of_list = false;
  begin = at;
  const std::size_t end = EndOfValue();
  if (end == std::string_view::npos) return Fail("the input ends inside an event");
  at = end;
  one_line = false;
  return Give(end, document);
}

JsonStream::JsonStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
JsonStream::JsonStream(JsonStream&&) noexcept = default;
JsonStream::~JsonStream() = default;

std::optional<JsonStream> JsonStream::Open(const std::string& path, std::string_view list_key,
                                           Diagnostics& diagnostics) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->name = path == "-" ? "standard input" : path;
  state->list_key = list_key;
  state->diagnostics = &diagnostics;
  if (path != "-") {
    std::optional<MappedFile> file = MappedFile::Open(path, diagnostics);
    if (!file) return std::nullopt;
    state->file.emplace(std::move(*file));
    state->fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (state->fd < 0) {
      diagnostics.Error(path, std::string("cannot be read: ") + std::strerror(errno));
      return std::nullopt;
    }
    posix_fadvise(state->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  if (state->More()) {
    const std::string_view head = state->bytes().substr(0, 4);
    if (const auto fault = head.size() >= 2 && (head[0] == '\xFF' || head[0] == '\xFE') ? EncodingFault(head)
                                                                                        : std::nullopt) {
      diagnostics.Error(state->name, *fault);
      return std::nullopt;
    }
    if (WithoutMark(head).size() < head.size()) state->at = state->begin = 3;
  }
  return JsonStream(std::move(state));
}

bool JsonStream::Next(std::string_view& document) {
  State& s = *state_;
  if (s.form == State::Form::kUnknown) s.Begin();
  if (s.form == State::Form::kLines) return s.NextLine(document);
  if (s.form == State::Form::kList) return s.NextOfList(document);
  return false;
}

bool JsonStream::Longer(std::string_view& document) {
  State& s = *state_;
  if (!s.one_line) return false;
  const std::size_t before = document.size();
  s.at = s.begin;
  s.one_line = false;
  const std::size_t end = s.EndOfValue();
  if (end == std::string_view::npos || end - s.begin == before) {
    s.at = s.begin + before;
    return false;
  }
  s.at = end;
  --s.number;
  return s.Give(end, document);
}

std::string JsonStream::Where() const {
  const State& s = *state_;
  return s.form == State::Form::kLines ? fmt::format("{}:{}", s.name, s.line)
                                       : fmt::format("{}, event {}", s.name, s.number);
}

bool JsonStream::Settled() const {
  return !state_->file || state_->file->Settled(state_->path, *state_->diagnostics);
}

}  // namespace backreach
