# Headers that many files include are parsed once for all of them.

# pingloom_shared_headers(NAME HEADERS...) precompiles them. A target takes them with target_precompile_headers(... REUSE_FROM
# NAME); OPTIONS and LIBRARIES have to be those of the targets that take them.
function(pingloom_shared_headers name)
  cmake_parse_arguments(shared "" "" "OPTIONS;LIBRARIES;HEADERS" ${ARGN})
  file(TOUCH ${CMAKE_BINARY_DIR}/generated/nothing.cpp)
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/generated/nothing.cpp)
  target_link_libraries(${name} PRIVATE ${shared_LIBRARIES})
  target_compile_options(${name} PRIVATE ${shared_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${shared_HEADERS})
endfunction()

set(PINGLOOM_SHARED_HEADERS
    <algorithm> <array> <chrono> <cstdint> <filesystem> <functional> <map> <memory> <mutex> <optional> <span> <string>
    <string_view> <thread> <unordered_map> <utility> <variant> <vector> <fmt/format.h> <common/error.h> <common/log.h>)
# These libraries use Beast, Asio and nlohmann::json, which are layers of templates. With sanitizers the compiler would spend most
# of its time on optimizing them.
set(PINGLOOM_UNOPTIMIZED pingloom_http pingloom_collector pingloom_controller_http pingloom_cli pingloom_cli_check)

# pingloom_precompile(TARGET...) lets the libraries share headers and compiles several files of each at a time, so no two files
# of a library may have a name in common in their anonymous namespaces. The build for ThreadSanitizer does without: there the
# compiler sees each file with only what the file includes itself.
function(pingloom_precompile)
  pingloom_shared_headers(shared_headers LIBRARIES pingloom_common HEADERS ${PINGLOOM_SHARED_HEADERS})
  set(unoptimized)
  if(PINGLOOM_SANITIZE STREQUAL "address")
    set(unoptimized ${PINGLOOM_UNOPTIMIZED})
    pingloom_shared_headers(unoptimized_headers LIBRARIES pingloom_common OPTIONS -O0 HEADERS ${PINGLOOM_SHARED_HEADERS})
  endif()
  foreach(target ${ARGN})
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
    if(target STREQUAL pingloom_common)
      continue()  # the shared headers depend on it
    endif()
    if(target IN_LIST unoptimized)
      target_compile_options(${target} PRIVATE -O0)
      target_precompile_headers(${target} REUSE_FROM unoptimized_headers)
    else()
      target_precompile_headers(${target} REUSE_FROM shared_headers)
    endif()
  endforeach()
endfunction()
