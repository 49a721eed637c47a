// Process numbers do not tell whose a file is: two containers on one volume have the same ones. So names are
// random, made exclusively, and whoever writes holds a lock of the file, which the system takes from the
// dead.

#include "graph/store/sqlite/new_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>

#include "graph/base/words.hpp"

namespace backreach {

namespace {

constexpr std::string_view kBeside = ".new-";
constexpr std::size_t kRandomDigits = 16;

// True if the name still is that of the open file.
bool IsStill(const std::string& name, int fd) {
  struct stat by_name {
  }, by_file{};
  return fstat(fd, &by_file) == 0 && lstat(name.c_str(), &by_name) == 0 && by_name.st_ino == by_file.st_ino &&
         by_name.st_dev == by_file.st_dev;
}

constexpr const char* kOfSqlite[] = {"-journal", "-wal", "-shm"};

// `g.db.new-0123456789abcdef`; what SQLite keeps beside such a file goes with it.
bool IsLeftover(std::string_view name, std::string_view base) {
  if (!StartsWith(name, base) || !StartsWith(name.substr(base.size()), kBeside)) return false;
  const std::string_view rest = name.substr(base.size() + kBeside.size());
  return !rest.empty() && rest.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// What SQLite keeps beside goes first: without the file nobody would know whose it is.
void RemoveWithOthers(const std::string& name) {
  for (const char* end : kOfSqlite) unlink((name + end).c_str());
  unlink(name.c_str());
}

template <typename F>
void EachLeftover(const std::string& path, F f) {
  const std::filesystem::path place(path);
  const std::filesystem::path folder = place.has_parent_path() ? place.parent_path() : ".";
  std::error_code ec;
  std::vector<std::string> found;
  for (std::filesystem::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
    if (IsLeftover(it->path().filename().string(), place.filename().string()) && it->is_regular_file(ec))
      found.push_back(it->path().string());
  std::sort(found.begin(), found.end());
  for (const std::string& name : found) {
    const int fd = open(name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) continue;
    f(name, fd, flock(fd, LOCK_EX | LOCK_NB) == 0);
    close(fd);
  }
}

}  // namespace

NewFile::NewFile(const std::string& path) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != static_cast<ssize_t>(sizeof random)) return;
    const std::string name = fmt::format("{}{}{:0{}x}", path, kBeside, random, kRandomDigits);
    const int fd = open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0) {
      if (errno == EEXIST) continue;
      return;
    }
    // Who cleans up may have had the lock first, and have taken the file for a dead one's.
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && IsStill(name, fd)) {
      name_ = name, fd_ = fd;
      return;
    }
    if (IsStill(name, fd)) unlink(name.c_str());
    close(fd);
  }
}

NewFile::~NewFile() {
  if (fd_ < 0) return;
  if (IsStill(name_, fd_)) RemoveWithOthers(name_);
  close(fd_);
}

bool NewFile::LinkTo(const std::string& path) {
  if (fdatasync(fd_) != 0 || !IsStill(name_, fd_)) return false;
  const std::string open_file = fmt::format("/proc/self/fd/{}", fd_);
  if (linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0) return true;
  if (errno == EEXIST) return false;
  return link(name_.c_str(), path.c_str()) == 0 && IsStill(path, fd_);
}

Leftovers FindLeftovers(const std::string& path) {
  Leftovers out;
  EachLeftover(
      path, [&](const std::string& name, int, bool dead) { (dead ? out.dead : out.alive).push_back(name); });
  return out;
}

void RemoveLeftovers(const std::string& path) {
  EachLeftover(path, [](const std::string& name, int fd, bool dead) {
    if (dead && IsStill(name, fd)) RemoveWithOthers(name);
  });
}

}  // namespace backreach
