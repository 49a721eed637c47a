# A static library per room: backreach_room(NAME FOLDER libraries...) takes every .cpp of a folder below this
# CMakeLists.txt. Libraries from outside stand behind PRIVATE. Includes are written from the root.
function(backreach_options target)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  # Those that are switched off are false alarms of GCC 12 inside the standard library and Boost's small_vector.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow=local -Wno-restrict -Wno-array-bounds -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-stringop-overread)
  # Of the compiler that this was written with: a newer one warns of things that nobody has looked at yet.
  if(BACKREACH_WERROR AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  # Headers of the standard library and fmt, read once for all rooms, are most of what a small file costs; readers of
  # outside formats share a second set that has the JSON libraries.
  set(standard <algorithm> <functional> <map> <memory> <optional> <set> <string> <unordered_map> <variant> <vector> <boost/container/small_vector.hpp> <fmt/format.h>)
  if(target STREQUAL backreach_base)
    target_precompile_headers(${target} PRIVATE ${standard})
  elseif(target STREQUAL backreach_read)
    target_precompile_headers(${target} PRIVATE ${standard} <nlohmann/json.hpp> <simdjson.h>)
  elseif(target MATCHES "^backreach_ingest_")
    target_precompile_headers(${target} REUSE_FROM backreach_read)
  else()
    target_precompile_headers(${target} REUSE_FROM backreach_base)
  endif()
  if(BACKREACH_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -O0 -g1)
    target_link_options(${target} PUBLIC -fsanitize=address,undefined)
  endif()
endfunction()

function(backreach_room name folder)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
  add_library(backreach_${name} STATIC ${sources})
  backreach_options(backreach_${name})
  target_link_libraries(backreach_${name} ${ARGN})
endfunction()
