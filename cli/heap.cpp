// glibc's heap grows at the break; what is made of huge pages is the stretch behind it that a command can
// need.

#include "cli/heap.hpp"

#include <cstdint>
#include <cstdlib>  // tells by __GLIBC__ whose library this is

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace backreach {

#if defined(__GLIBC__) && defined(MADV_HUGEPAGE)
void LayOutHeap() {
  constexpr std::size_t kHuge = 2u << 20, kStretch = 64u << 20;
  const auto from = reinterpret_cast<std::uintptr_t>(sbrk(0));
  mallopt(M_TOP_PAD, kStretch);
  mallopt(M_TRIM_THRESHOLD, 2 * kStretch);
  void* volatile grown = std::malloc(127u << 10);  // a little less than what malloc maps by itself
  std::free(grown);
  const auto to = reinterpret_cast<std::uintptr_t>(sbrk(0));
  const std::uintptr_t first = (from + kHuge - 1) / kHuge * kHuge;
  if (to > first) madvise(reinterpret_cast<void*>(first), to - first, MADV_HUGEPAGE);
}
#else
void LayOutHeap() {}
#endif

}  // namespace backreach
