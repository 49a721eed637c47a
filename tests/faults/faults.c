/* Faults in the calls that change files, for tests: preloaded into a program, it counts the calls on files under
 * one folder and lets the n-th fail, or kills the program there.
 *   FAULTS_UNDER   the folder; calls on other files pass and are not counted
 *   FAULTS_AT      n, from 1 on; 0 or nothing: only count
 *   FAULTS_KIND    fail: that call fails, once; full: that call and all later ones that need room fail;
 *                  kill: killed before it; torn: half of what is to be written is, then killed
 *   FAULTS_COUNT   a file outside the folder that the number of calls is written to at the end */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { kMostFiles = 4096 };
static char under[PATH_MAX];
static long at, calls;
static const char *kind = "fail";
static char watched[kMostFiles];

#define REAL(type, name, ...)                                   \
  static type (*real)(__VA_ARGS__);                             \
  if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

__attribute__((constructor)) static void Begin(void) {
  const char *folder = getenv("FAULTS_UNDER"), *number = getenv("FAULTS_AT"), *word = getenv("FAULTS_KIND");
  if (!folder || !realpath(folder, under)) under[0] = 0;
  if (number) at = atol(number);
  if (word) kind = word;
}

__attribute__((destructor)) static void End(void) {
  const char *file = getenv("FAULTS_COUNT");
  if (!file) return;
  FILE *out = fopen(file, "w");
  if (!out) return;
  fprintf(out, "%ld\n", calls);
  fclose(out);
}

static int Inside(const char *path) {
  char folder[PATH_MAX], real_folder[PATH_MAX];
  if (!under[0] || !path || strlen(path) >= sizeof folder) return 0;
  strcpy(folder, path);
  char *slash = strrchr(folder, '/');
  if (slash == folder) return 0;
  if (slash) *slash = 0; else strcpy(folder, ".");
  if (!realpath(folder, real_folder)) return 0;
  const size_t n = strlen(under);
  return strncmp(real_folder, under, n) == 0 && (real_folder[n] == 0 || real_folder[n] == '/');
}

static int Watched(int fd) { return fd >= 0 && fd < kMostFiles && watched[fd]; }

static void Die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

/* True if this call is to fail. `needs_room`: a full disk refuses it. */
static int Fault(int needs_room, int error) {
  const long n = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
  if (at == 0 || n < at) return 0;
  if (strcmp(kind, "full") == 0) {
    if (!needs_room) return 0;
    errno = ENOSPC;
    return 1;
  }
  if (n != at) return 0;
  if (strcmp(kind, "fail") != 0) Die();
  errno = error;
  return 1;
}

static int Opened(int fd, int inside) {
  if (fd >= 0 && fd < kMostFiles) watched[fd] = (char)inside;
  return fd;
}

#define OPEN(name)                                                                       \
  int name(const char *path, int flags, ...) {                                           \
    REAL(int, #name, const char *, int, ...);                                            \
    va_list more;                                                                        \
    va_start(more, flags);                                                               \
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, mode_t) : 0;      \
    va_end(more);                                                                        \
    const int inside = Inside(path);                                                     \
    if (inside && Fault(flags & O_CREAT, (flags & O_CREAT) ? ENOSPC : EIO)) return -1;   \
    return Opened(real(path, flags, mode), inside);                                      \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                     \
  int name(int folder, const char *path, int flags, ...) {                               \
    REAL(int, #name, int, const char *, int, ...);                                       \
    va_list more;                                                                        \
    va_start(more, flags);                                                               \
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, mode_t) : 0;      \
    va_end(more);                                                                        \
    const int inside = (folder == AT_FDCWD || path[0] == '/') && Inside(path);           \
    if (inside && Fault(flags & O_CREAT, (flags & O_CREAT) ? ENOSPC : EIO)) return -1;   \
    return Opened(real(folder, path, flags, mode), inside);                              \
  }
OPENAT(openat)
OPENAT(openat64)

int close(int fd) {
  REAL(int, "close", int);
  if (fd >= 0 && fd < kMostFiles) watched[fd] = 0;
  return real(fd);
}

static int Torn(void) { return at != 0 && calls + 1 == at && strcmp(kind, "torn") == 0; }

ssize_t write(int fd, const void *bytes, size_t n) {
  REAL(ssize_t, "write", int, const void *, size_t);
  if (Watched(fd)) {
    if (Torn()) real(fd, bytes, n / 2);
    if (Fault(1, ENOSPC)) return -1;
  }
  return real(fd, bytes, n);
}

#define PWRITE(name, offset_type)                                              \
  ssize_t name(int fd, const void *bytes, size_t n, offset_type offset) {      \
    REAL(ssize_t, #name, int, const void *, size_t, offset_type);              \
    if (Watched(fd)) {                                                         \
      if (Torn()) real(fd, bytes, n / 2, offset);                              \
      if (Fault(1, ENOSPC)) return -1;                                         \
    }                                                                          \
    return real(fd, bytes, n, offset);                                         \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define ON_FILE(name, room, error, parameters, arguments, ...)  \
  int name parameters {                                         \
    REAL(int, #name, __VA_ARGS__);                              \
    if (Watched(fd) && Fault(room, error)) return -1;           \
    return real arguments;                                      \
  }
ON_FILE(fsync, 0, EIO, (int fd), (fd), int)
ON_FILE(fdatasync, 0, EIO, (int fd), (fd), int)
ON_FILE(ftruncate, 0, EIO, (int fd, off_t n), (fd, n), int, off_t)
ON_FILE(ftruncate64, 0, EIO, (int fd, off64_t n), (fd, n), int, off64_t)
ON_FILE(flock, 0, ENOLCK, (int fd, int operation), (fd, operation), int, int)

#define MMAP(name, offset_type)                                                        \
  void *name(void *at_, size_t n, int rights, int flags, int fd, offset_type offset) { \
    REAL(void *, #name, void *, size_t, int, int, int, offset_type);                   \
    if (Watched(fd) && Fault(0, ENOMEM)) return MAP_FAILED;                            \
    return real(at_, n, rights, flags, fd, offset);                                    \
  }
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

int unlink(const char *path) {
  REAL(int, "unlink", const char *);
  return Inside(path) && Fault(0, EIO) ? -1 : real(path);
}
int mkdir(const char *path, mode_t mode) {
  REAL(int, "mkdir", const char *, mode_t);
  return Inside(path) && Fault(1, ENOSPC) ? -1 : real(path, mode);
}
int rename(const char *from, const char *to) {
  REAL(int, "rename", const char *, const char *);
  return Inside(to) && Fault(1, ENOSPC) ? -1 : real(from, to);
}
int link(const char *from, const char *to) {
  REAL(int, "link", const char *, const char *);
  return Inside(to) && Fault(1, ENOSPC) ? -1 : real(from, to);
}
int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
  REAL(int, "linkat", int, const char *, int, const char *, int);
  return Inside(to) && Fault(1, ENOSPC) ? -1 : real(from_folder, from, to_folder, to, flags);
}
