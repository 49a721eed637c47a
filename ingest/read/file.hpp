// Reading input files: mapped where they are large, with messages for what cannot be read.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "graph/base/diagnostics.hpp"
#include "graph/base/digest.hpp"

namespace backreach {

// A file's bytes, mapped read-only. `Forget` gives pages back that were read and are not needed again.
// Somebody may write to the file meanwhile: what was read may then be of two files, so whoever has read asks
// Settled() before he believes it. A file that was cut off reads as zeros behind its end and kills nobody.
class MappedFile {
 public:
  static std::optional<MappedFile> Open(const std::string& path, Diagnostics& diagnostics);
  // Is the file still the one that was opened, by size and times? If not, that is reported.
  bool Settled(const std::string& path, Diagnostics& diagnostics) const;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();
  std::string_view bytes() const { return {data_, size_}; }
  void Forget(std::size_t up_to);

 private:
  struct Stamp;
  MappedFile(const char* data, std::size_t size, int fd);
  const char* data_;
  std::size_t size_;
  int fd_;
  std::unique_ptr<Stamp> stamp_;
  std::size_t forgotten_ = 0;
};

// Gives back the pages of a part of a mapped file that was read once more.
void GiveBack(std::string_view part_of_mapped_file);

// The whole of a small file; an error is reported and nothing returned if it cannot be read or is larger than
// `most` bytes.
std::optional<std::string> ReadSmallFile(const std::string& path, std::size_t most, Diagnostics& diagnostics);

// What is wrong with the encoding of a text that must be UTF-8: nothing, or e.g. "is UTF-16, not UTF-8".
std::optional<std::string> EncodingFault(std::string_view bytes);
// Without the byte order mark that some editors leave.
std::string_view WithoutMark(std::string_view bytes);

std::string AbsolutePath(const std::string& path);

// The SHA-256 of a mapped file's bytes, computed by a thread of its own beside the one that reads them:
// neither is ever more than a few megabytes ahead of the other, and what both have passed is forgotten.
class HashBeside {
 public:
  explicit HashBeside(MappedFile& file);
  ~HashBeside();
  HashBeside(const HashBeside&) = delete;
  HashBeside& operator=(const HashBeside&) = delete;
  // The reader has done with all before `to`, an offset into the file.
  void Passed(std::size_t to);
  // Waits for the rest; to be called once.
  std::string Hex();

 private:
  void Run();
  MappedFile& file_;
  std::string_view bytes_;
  Sha256 hash_;
  std::atomic<std::size_t> hashed_{0}, passed_{0};
  std::thread thread_;  // last: it uses the others
};

}  // namespace backreach
