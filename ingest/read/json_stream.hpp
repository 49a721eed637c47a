// The documents of a file or of standard input, one after the other: JSON lines, documents that follow upon
// each other in any layout, the elements of an array, or of the list under one key of an object. Memory is
// that of the largest document.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "graph/base/diagnostics.hpp"
#include "ingest/read/file.hpp"

namespace backreach {

class JsonStream {
 public:
  // `path` may be `-`, standard input. `list_key`: of an object that holds documents (`events`).
  static std::optional<JsonStream> Open(const std::string& path, std::string_view list_key,
                                        Diagnostics& diagnostics);
  JsonStream(JsonStream&&) noexcept;
  ~JsonStream();

  // The next document's bytes, which lie until the next call and have kPadding readable bytes behind them;
  // false at the end, or on an error (which is reported).
  static constexpr std::size_t kPadding = 64;
  bool Next(std::string_view& document);
  // What Next gave was one line, and no document: gives what begins there up to its last bracket instead.
  // False if that is the same.
  bool Longer(std::string_view& document);
  // Where the document stands that Next gave: `events.ndjson:14`, `events.json, event 3`.
  std::string Where() const;
  // To be asked at the end: is the file still the one that was opened?
  bool Settled() const;

 private:
  struct State;
  explicit JsonStream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace backreach
