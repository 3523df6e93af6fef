# Warnings are errors in our own code; sanitizers by PINGLOOM_SANITIZE.
# hiredis wants it defined, and shared headers want it the same everywhere.
add_compile_definitions(_FILE_OFFSET_BITS=64)
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Werror)
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  # -g1 keeps symbolised backtraces at a third of the link time of -g.
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
endif()
if(PINGLOOM_SANITIZE STREQUAL "address")
  set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")
  # Without null (AddressSanitizer stops there as well), object-size and vptr: they are a quarter of the compiler's time.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=null,object-size,vptr -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined -fuse-ld=lld)  # three times as fast over so much
elseif(PINGLOOM_SANITIZE STREQUAL "thread")
  set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")
  # It says of each fence that it does not understand fences. Ours stand between atomics, so that nothing is reported for want of them.
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
  # Coverage in the libraries too, so that the fuzzer sees their branches.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
