# Headers that many files include, parsed once for all of them.

# pingloom_shared_headers(NAME HEADERS... ): makes them; a target takes them with target_precompile_headers(... REUSE_FROM NAME).
# OPTIONS and LIBRARIES as the targets that take them have.
function(pingloom_shared_headers name)
  cmake_parse_arguments(shared "" "" "OPTIONS;LIBRARIES;HEADERS" ${ARGN})
  file(TOUCH ${CMAKE_BINARY_DIR}/generated/nothing.cpp)
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/generated/nothing.cpp)
  target_link_libraries(${name} PRIVATE ${shared_LIBRARIES})
  target_compile_options(${name} PRIVATE ${shared_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${shared_HEADERS})
endfunction()

# For the libraries named. Not in the build for ThreadSanitizer: there the compiler sees every file with what it includes
# itself, and no more.
function(pingloom_precompile)
  pingloom_shared_headers(shared_headers LIBRARIES pingloom_common HEADERS
    <algorithm> <array> <chrono> <cstdint> <filesystem> <functional> <map> <memory> <mutex> <optional> <span> <string>
    <string_view> <thread> <unordered_map> <utility> <variant> <vector> <fmt/format.h> <common/error.h> <common/log.h>)
  foreach(target ${ARGN})
    if(TARGET ${target})
      target_precompile_headers(${target} REUSE_FROM shared_headers)
    endif()
  endforeach()
  # Several files at a time: no two files of a library may have a name in common in their anonymous namespaces.
  foreach(target pingloom_common pingloom_net pingloom_wire pingloom_http ${ARGN})
    if(TARGET ${target})
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
    endif()
  endforeach()
endfunction()
