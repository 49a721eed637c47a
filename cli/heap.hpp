// How the process lays out its heap: a matter of speed alone.
#pragma once

namespace backreach {

// Asks for pages of 2 MB where the C library and the kernel offer them: a graph is built from millions of
// small pieces, and a page fault for every 4 kB was a tenth of a plan. To be called once, before any other
// thread.
void LayOutHeap();

}  // namespace backreach
