// Splits a large JSON document into the members of its outer objects without parsing it: each value's bytes
// are handed out, to be parsed (and so fully checked) one at a time. This is how a manifest of any size is
// read in the memory of its largest node.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace backreach {

struct SplitError {
  std::size_t byte = 0;
  std::string what;  // "the file ends inside ...", "expected ',' or '}'"
};

// Walks the members of the object that begins at `at` (white space skipped).
class ObjectSplitter {
 public:
  ObjectSplitter(std::string_view document, std::size_t at) : text_(document), at_(at) {}

  // Moves to the next member; false at the end of the object, or on an error. The object's opening brace is
  // consumed by the first call.
  bool Next();
  // The member's key without quotes, escapes as written.
  std::string_view key() const { return key_; }
  // Where the member's value begins. Before Next is called again either the value is skipped by Value(), or
  // another splitter has walked it and its end is given to Resume().
  std::size_t value_begin() const { return at_; }
  // The bytes of the value; false if the document ends in it or its brackets do not match.
  bool Value(std::string_view& value);
  void Resume(std::size_t end) { at_ = end; }
  std::size_t end() const { return at_; }
  const SplitError* error() const { return failed_ ? &error_ : nullptr; }

 private:
  void SkipSpace();
  bool Fail(std::size_t byte, std::string what);
  std::string_view text_;
  std::size_t at_;
  std::string_view key_;
  bool started_ = false, failed_ = false;
  SplitError error_;
};

// The end of the JSON value that begins at `at`, by brackets and quotes alone; npos if the text ends first or
// a bracket is closed that was not opened.
std::size_t SkipJsonValue(std::string_view text, std::size_t at);

}  // namespace backreach
