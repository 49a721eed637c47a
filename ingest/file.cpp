// Files are mapped; a hash of one is taken by a thread beside the reader.

#include "ingest/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <simdjson.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace backreach {

std::optional<MappedFile> MappedFile::Open(const std::string& path, Diagnostics& diagnostics) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info {};
  if (fd < 0 || fstat(fd, &info) != 0) {
    diagnostics.Error(
        path, errno == ENOENT ? "no such file" : std::string("cannot be read: ") + std::strerror(errno));
    if (fd >= 0) close(fd);
    return std::nullopt;
  }
  if (!S_ISREG(info.st_mode)) {
    diagnostics.Error(path, S_ISDIR(info.st_mode) ? "is a folder, not a file" : "is no regular file");
    close(fd);
    return std::nullopt;
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size == 0) {
    close(fd);
    return MappedFile("", 0);
  }
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (data == MAP_FAILED) {
    diagnostics.Error(path, std::string("cannot be read: ") + std::strerror(errno));
    return std::nullopt;
  }
  madvise(data, size, MADV_SEQUENTIAL);
  return MappedFile(static_cast<const char*>(data), size);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(other.data_), size_(other.size_), forgotten_(other.forgotten_) {
  other.data_ = "";
  other.size_ = 0;
}

MappedFile::~MappedFile() {
  if (size_ > 0) munmap(const_cast<char*>(data_), size_);
}

void MappedFile::Forget(std::size_t up_to) {
  constexpr std::size_t kBlock = 256u << 10;
  const std::size_t to = up_to / kBlock * kBlock;
  if (to <= forgotten_) return;
  madvise(const_cast<char*>(data_) + forgotten_, to - forgotten_, MADV_DONTNEED);
  forgotten_ = to;
}

std::optional<std::string> ReadSmallFile(const std::string& path, std::size_t most,
                                         Diagnostics& diagnostics) {
  const auto file = MappedFile::Open(path, diagnostics);
  if (!file) return std::nullopt;
  if (file->bytes().size() > most) {
    diagnostics.Error(path, fmt::format("is {} bytes long, more than the {} that such a file may have",
                                        file->bytes().size(), most));
    return std::nullopt;
  }
  return std::string(file->bytes());
}

std::optional<std::string> EncodingFault(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u; };
  if ((at(0) == 0xFF && at(1) == 0xFE) || (at(0) == 0xFE && at(1) == 0xFF))
    return "is encoded in UTF-16: convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)";
  if (simdjson::validate_utf8(bytes.data(), bytes.size())) return std::nullopt;
  for (std::size_t i = 0; i < bytes.size();) {
    const unsigned c = at(i);
    const std::size_t n = c < 0x80                ? 1
                          : c >= 0xC2 && c < 0xE0 ? 2
                          : (c & 0xF0) == 0xE0    ? 3
                          : c >= 0xF0 && c < 0xF5 ? 4
                                                  : 0;
    if (n == 0 || i + n > bytes.size() || !simdjson::validate_utf8(bytes.data() + i, n))
      return fmt::format(
          "is not UTF-8: byte {} is 0x{:02X} (encoded in Latin-1 or Windows-1252?); convert it to UTF-8", i,
          c);
    i += n;
  }
  return "is not UTF-8";
}

std::string_view WithoutMark(std::string_view bytes) {
  return bytes.substr(0, 3) == "\xEF\xBB\xBF" ? bytes.substr(3) : bytes;
}

std::string AbsolutePath(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

static constexpr std::size_t kLead = 1u << 20, kPiece = 512u << 10;
// In the place of how far the reader is: it has read all, or gives up.
static constexpr std::size_t kEnd = ~std::size_t{0}, kStop = kEnd - 1;

HashBeside::HashBeside(MappedFile& file) : file_(file), bytes_(file.bytes()) {
  if (bytes_.size() > kLead) thread_ = std::thread([this] { Run(); });
}
HashBeside::~HashBeside() {
  if (!thread_.joinable()) return;
  passed_.store(kStop);
  passed_.notify_one();
  thread_.join();
}

void HashBeside::Run() {
  for (std::size_t at = 0; at < bytes_.size();) {
    std::size_t passed = passed_.load();
    for (; passed < kStop && at > passed + kLead; passed = passed_.load()) passed_.wait(passed);
    if (passed == kStop) return;
    const std::size_t n = std::min(kPiece, bytes_.size() - at);
    hash_.Update(bytes_.substr(at, n));
    at += n;
    hashed_.store(at);
    hashed_.notify_one();
  }
}

void HashBeside::Passed(std::size_t to) {
  if (!thread_.joinable() || to < passed_.load(std::memory_order_relaxed) + kPiece) return;
  passed_.store(to);
  passed_.notify_one();
  std::size_t hashed = hashed_.load();
  for (; to > hashed + kLead; hashed = hashed_.load()) hashed_.wait(hashed);
  file_.Forget(std::min(to, hashed));
}

std::string HashBeside::Hex() {
  if (!thread_.joinable()) {
    hash_.Update(bytes_);
    return hash_.Hex();
  }
  passed_.store(kEnd);
  passed_.notify_one();
  thread_.join();
  return hash_.Hex();
}

}  // namespace backreach
