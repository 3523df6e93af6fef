# `--version` names the release and the revision it was built from.
execute_process(COMMAND git -C ${CMAKE_SOURCE_DIR} describe --always --dirty --abbrev=12
                OUTPUT_VARIABLE PINGLOOM_REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT PINGLOOM_REVISION)
  set(PINGLOOM_REVISION "unknown")
endif()
configure_file(${CMAKE_SOURCE_DIR}/cmake/version.h.in ${CMAKE_BINARY_DIR}/generated/pingloom_version.h @ONLY)
