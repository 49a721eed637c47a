// Files that somebody writes to while they are read: refused, and nobody dies of them.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "ingest/importer.hpp"
#include "ingest/read/file.hpp"
#include "tests/unit/support.hpp"

using namespace backreach;

namespace {

// What a tool does that writes its artifact anew in place.
void Overwrite(const std::string& path, std::size_t size) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << std::string(size, 'b');
  std::filesystem::last_write_time(path,
                                   std::filesystem::file_time_type::clock::now() + std::chrono::seconds(2));
}

}  // namespace

TEST_CASE("a file that is cut off while it is read gives zeros, and is refused") {
  Folder folder;
  const std::string path = folder.Write("big.json", std::string(1 << 20, 'a'));
  Diagnostics diagnostics;
  auto file = MappedFile::Open(path, diagnostics);
  REQUIRE(file);
  std::filesystem::resize_file(path, 10'000);
  const std::string_view bytes = file->bytes();
  CHECK(std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0}) < std::int64_t{'a'} << 20);
  CHECK_FALSE(file->Settled(path, diagnostics));
  CHECK(Format(diagnostics).find("changed while it was read") != std::string::npos);
}

TEST_CASE("a file of the same size that was written anew is refused too") {
  Folder folder;
  const std::string path = folder.Write("same.json", std::string(5'000, 'a'));
  Diagnostics diagnostics;
  auto file = MappedFile::Open(path, diagnostics);
  REQUIRE(file);
  CHECK(file->Settled(path, diagnostics));
  Overwrite(path, 5'000);
  CHECK_FALSE(file->Settled(path, diagnostics));
}

TEST_CASE("one that is replaced by another under its name is still the one that was opened") {
  Folder folder;
  const std::string path = folder.Write("old.json", "old");
  Diagnostics diagnostics;
  auto file = MappedFile::Open(path, diagnostics);
  REQUIRE(file);
  std::filesystem::rename(folder.Write("new.json", "new"), path);
  CHECK(file->bytes() == "old");
  CHECK(file->Settled(path, diagnostics));
}
