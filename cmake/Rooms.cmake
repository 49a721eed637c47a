# One static library per room; includes are written from the root ("graph/span.hpp").
function(backreach_options target)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  # Those that are switched off are false alarms of GCC 12 inside the standard library and Boost's small_vector.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow=local -Wno-restrict -Wno-array-bounds -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-stringop-overread)
  # Headers of the standard library and fmt, read once a room: they are most of what a small file costs.
  target_precompile_headers(${target} PRIVATE <algorithm> <functional> <map> <memory> <optional> <set> <string> <unordered_map> <variant> <vector> <boost/container/small_vector.hpp> <fmt/format.h>)
  if(BACKREACH_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -O0 -g1)
    target_link_options(${target} PUBLIC -fsanitize=address,undefined)
  endif()
endfunction()

# backreach_room(NAME sources... ) with every .cpp below the folder.
function(backreach_room name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  foreach(excluded ${ARGN})
    list(FILTER sources EXCLUDE REGEX ${excluded})
  endforeach()
  add_library(backreach_${name} STATIC ${sources})
  backreach_options(backreach_${name})
endfunction()
