# Installs PINGLOOM_MODULES below the prefix where a python3 looks for modules: with Debian's that is lib/python3/dist-packages
# below /usr, and a folder with Python's version below /usr/local. Below another prefix, or without a python3, they go to
# lib/python3/dist-packages. `cmake --install` runs this.
set(folder ${CMAKE_INSTALL_PREFIX}/lib/python3/dist-packages)
foreach(python python3 /usr/bin/python3)
  execute_process(COMMAND ${python} -c "import site; print(';'.join(site.getsitepackages()))"
                  OUTPUT_VARIABLE searched OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  list(FILTER searched INCLUDE REGEX "^${CMAKE_INSTALL_PREFIX}/lib/")
  if(searched)
    list(GET searched 0 folder)
    break()
  endif()
endforeach()
file(INSTALL DESTINATION ${folder} TYPE FILE FILES ${PINGLOOM_MODULES})
