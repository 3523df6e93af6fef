# What nearly every file includes is parsed once. Only where nothing but the programs is built: they are there in half the
# time. Tests and clang-tidy see every file with what it includes itself.
function(pingloom_precompile)
  foreach(target ${ARGN})
    if(TARGET ${target})
      target_precompile_headers(${target} PRIVATE
        <algorithm> <array> <chrono> <cstdint> <filesystem> <functional> <map> <memory> <mutex> <optional> <span> <string>
        <string_view> <thread> <unordered_map> <utility> <variant> <vector> <fmt/format.h>
        ${CMAKE_SOURCE_DIR}/src/common/error.h ${CMAKE_SOURCE_DIR}/src/common/log.h)
    endif()
  endforeach()
endfunction()
