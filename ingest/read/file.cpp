// Files are mapped; a hash of one is taken by a thread beside the reader.

#include "ingest/read/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <simdjson.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace backreach {

namespace {

// What is mapped now, for the handler below: a range that is free has no begin.
struct Range {
  std::atomic<const char*> begin{nullptr};
  std::atomic<std::size_t> size{0};
};
constexpr std::size_t kRanges = 64;
Range ranges[kRanges];

// A page behind the end of a file that was cut off while it is read: zeros take its place. Whatever else
// faults does so again, by the system's own rule.
void OnBusError(int, siginfo_t* info, void*) {
  const char* at = static_cast<const char*>(info->si_addr);
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  for (const Range& range : ranges) {
    const char* begin = range.begin.load();
    if (!begin || at < begin || at >= begin + range.size.load()) continue;
    void* where = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(at) / page * page);
    if (mmap(where, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED) return;
  }
  std::signal(SIGBUS, SIG_DFL);
}

void Guard(const char* begin, std::size_t size) {
  static const bool installed = [] {
    struct sigaction action {};
    action.sa_sigaction = OnBusError;
    action.sa_flags = SA_SIGINFO;
    return sigaction(SIGBUS, &action, nullptr) == 0;
  }();
  (void)installed;
  static const char taken = 0;  // holds a place while its size is written
  for (Range& range : ranges) {
    const char* free = nullptr;
    if (!range.begin.compare_exchange_strong(free, &taken)) continue;
    range.size.store(size);
    range.begin.store(begin);
    return;
  }
}

void Unguard(const char* begin) {
  for (Range& range : ranges) {
    const char* mine = begin;
    if (range.begin.compare_exchange_strong(mine, nullptr)) return;
  }
}

}  // namespace

struct MappedFile::Stamp {
  struct stat info {};
};

MappedFile::MappedFile(const char* data, std::size_t size, int fd)
    : data_(data), size_(size), fd_(fd), stamp_(std::make_unique<Stamp>()) {
  fstat(fd_, &stamp_->info);
}

bool MappedFile::Settled(const std::string& path, Diagnostics& diagnostics) const {
  struct stat now {};
  const struct stat& then = stamp_->info;
  const auto same = [](const timespec& a, const timespec& b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
  };
  // A file that loses its name to a newer one is touched by that (its count of names), and is as it was.
  if (fstat(fd_, &now) == 0 && now.st_size == then.st_size && same(now.st_mtim, then.st_mtim) &&
      (now.st_nlink != then.st_nlink || same(now.st_ctim, then.st_ctim)))
    return true;
  diagnostics.Error(path, "changed while it was read",
                    {"nothing was changed here: try again when whoever writes it has finished"});
  return false;
}

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
  if (size == 0) return MappedFile("", 0, fd);
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) {
    diagnostics.Error(path, std::string("cannot be read: ") + std::strerror(errno));
    close(fd);
    return std::nullopt;
  }
  Guard(static_cast<const char*>(data), size);
  madvise(data, size, MADV_SEQUENTIAL);
  return MappedFile(static_cast<const char*>(data), size, fd);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(other.data_),
      size_(other.size_),
      fd_(other.fd_),
      stamp_(std::move(other.stamp_)),
      forgotten_(other.forgotten_) {
  other.data_ = "";
  other.size_ = 0;
  other.fd_ = -1;
}

MappedFile::~MappedFile() {
  if (size_ > 0) {
    Unguard(data_);
    munmap(const_cast<char*>(data_), size_);
  }
  if (fd_ >= 0) close(fd_);
}

void MappedFile::Forget(std::size_t up_to) {
  constexpr std::size_t kBlock = 256u << 10;
  const std::size_t to = up_to / kBlock * kBlock;
  if (to <= forgotten_) return;
  madvise(const_cast<char*>(data_) + forgotten_, to - forgotten_, MADV_DONTNEED);
  forgotten_ = to;
}

void GiveBack(std::string_view part) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto from = (reinterpret_cast<std::uintptr_t>(part.data()) + page - 1) / page * page;
  const auto to = reinterpret_cast<std::uintptr_t>(part.data() + part.size()) / page * page;
  if (from < to) madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
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
  std::string text(file->bytes());
  if (!file->Settled(path, diagnostics)) return std::nullopt;
  return text;
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
