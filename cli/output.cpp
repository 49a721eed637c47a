// A file is written beside its place under a name that nobody can foretell, and moved there once it is whole.

#include "cli/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

namespace backreach {

namespace {

[[noreturn]] void Fail(const std::string& path, int code, const char* advice = "") {
  std::string what = fmt::format("{}: error: cannot be written: {}", path, std::strerror(code));
  if (code == ENOENT || code == ENOTDIR) what += "\n  make its folder first";
  if (code == ENOSPC || code == EDQUOT) what += "\n  make room and try again";
  if (*advice) what += std::string("\n  ") + advice;
  throw Error(what);
}

// A file descriptor that closes itself where an error is on its way.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  // Some file systems tell of a full disk only here.
  bool Close() { return close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

// 0, or why not all of it could be written.
int WriteAll(int fd, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    done += static_cast<std::size_t>(n);
  }
  return 0;
}

bool SameFile(const struct stat& a, const std::string& path) {
  struct stat b {};
  return stat(path.c_str(), &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

void RefuseStore(const std::string& path, const struct stat& info, const std::string& store) {
  if (store.empty()) return;
  for (const char* part : {"", "-wal", "-shm", "-journal"})
    if (SameFile(info, store + part))
      throw Error(
          fmt::format("{}: error: this is the store itself: nothing was written\n  name another file", path));
}

// A pipe, a terminal or /dev/null: written to as it is. A pipe that nobody reads would make us wait for ever.
void WriteThrough(const std::string& path, const std::string& text) {
  const Descriptor out(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (!out.ok()) Fail(path, errno, errno == ENXIO ? "nobody reads from this pipe" : "");
  fcntl(out.get(), F_SETFL, fcntl(out.get(), F_GETFL) & ~O_NONBLOCK);
  if (const int code = WriteAll(out.get(), text)) Fail(path, code);
}

// What a new file's rights are by the process's mask.
mode_t NewMode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

// The file that a chain of links names in the end; a link to nothing is refused rather than followed blindly.
std::string FollowLinks(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  if (!real) Fail(path, errno, "it is a link to something that is not there");
  std::string out = real;
  std::free(real);
  return out;
}

void ReplaceFile(const std::string& path, const std::string& text, const std::optional<struct stat>& old) {
  std::string beside = path + ".XXXXXX";
  Descriptor out(mkostemp(beside.data(), O_CLOEXEC));
  if (!out.ok()) Fail(path, errno);
  const auto give_up = [&](int code) {
    unlink(beside.c_str());
    Fail(path, code);
  };
  if (const int code = WriteAll(out.get(), text)) give_up(code);
  // Who may not give a file away keeps it as his own: the rights count.
  if (old && fchown(out.get(), old->st_uid, old->st_gid) != 0) (void)errno;
  if (fchmod(out.get(), old ? old->st_mode & 07777 : NewMode()) != 0) give_up(errno);
  if (!out.Close()) give_up(errno);
  if (rename(beside.c_str(), path.c_str()) != 0) give_up(errno);
}

}  // namespace

void WriteFile(const std::string& path, const std::string& text, const std::string& store) {
  if (path.empty()) throw Error("backreach: error: --out '' names no file");
  struct stat link {
  }, info{};
  if (lstat(path.c_str(), &link) != 0) return ReplaceFile(path, text, std::nullopt);
  if (stat(path.c_str(), &info) != 0) Fail(path, errno, "it is a link to something that is not there");
  RefuseStore(path, info, store);
  if (S_ISDIR(info.st_mode)) throw Error(path + ": error: is a folder\n  name a file in it");
  if (!S_ISREG(info.st_mode)) return WriteThrough(path, text);
  if (access(path.c_str(), W_OK) != 0) Fail(path, errno);
  ReplaceFile(S_ISLNK(link.st_mode) ? FollowLinks(path) : path, text, info);
}

void WriteStandardOutput(const std::string& text) {
  if (const int code = WriteAll(STDOUT_FILENO, text))
    throw Error(
        fmt::format("backreach: error: standard output cannot be written: {}\n"
                    "  what was printed is not whole",
                    std::strerror(code)));
}

void WriteOut(const Arguments& arguments, const std::string& text) {
  if (const auto out = arguments.value("out"); out && *out != "-")
    return WriteFile(*out, text, StorePath(arguments));
  WriteStandardOutput(text);
}

}  // namespace backreach
