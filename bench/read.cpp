// The floor of reading a file: map it, and look once at every byte for a line break. Prints seconds.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>

int main(int, char** argv) {
  const auto start = std::chrono::steady_clock::now();
  const int fd = open(argv[1], O_RDONLY);
  struct stat info {};
  if (fd < 0 || fstat(fd, &info) != 0 || info.st_size == 0) return 1;
  const char* p = static_cast<const char*>(mmap(nullptr, info.st_size, PROT_READ, MAP_PRIVATE, fd, 0));
  std::size_t lines = 0;
  for (const char* at = p; (at = static_cast<const char*>(std::memchr(at, '\n', p + info.st_size - at)));
       ++at)
    ++lines;
  std::printf("%.6f %zu\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
              lines);
}
