# Warnings are errors in our own code. PINGLOOM_SANITIZE chooses sanitizers.
# hiredis needs _FILE_OFFSET_BITS, and precompiled headers need the same definitions everywhere.
add_compile_definitions(_FILE_OFFSET_BITS=64)
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Werror)
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  # -g1 keeps symbolised backtraces and links faster than -g.
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
endif()
if(PINGLOOM_SANITIZE STREQUAL "address")
  set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")
  # The checks null, object-size and vptr are left out, because they would take a quarter of the compiler's time. AddressSanitizer
  # stops at null pointers as well.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=null,object-size,vptr -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # lld links this much code several times as fast as ld.
  add_link_options(-fsanitize=address,undefined -fuse-ld=lld)
elseif(PINGLOOM_SANITIZE STREQUAL "thread")
  set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")
  # gcc warns that ThreadSanitizer does not understand fences. Ours stand between atomics, so ThreadSanitizer reports nothing
  # wrongly because of them.
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer -Wno-tsan)
  add_link_options(-fsanitize=thread)
elseif(PINGLOOM_SANITIZE)
  message(FATAL_ERROR "PINGLOOM_SANITIZE is '${PINGLOOM_SANITIZE}': use address or thread, or leave it empty")
endif()
if(PINGLOOM_COVERAGE)
  set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g0")
  add_compile_options(--coverage -fprofile-update=atomic)
  # Eigen's prefetch by SSE does not compile without optimization where headers are precompiled.
  add_compile_definitions(EIGEN_DONT_VECTORIZE)
  add_link_options(--coverage)
endif()
if(PINGLOOM_FUZZ)
  # Libraries count coverage too, so that the fuzzer sees their branches.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
