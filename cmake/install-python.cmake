# Installs PINGLOOM_MODULES below the prefix where a python3 looks for modules: with Debian's that is lib/python3/dist-packages
# below /usr, and a folder with Python's version below /usr/local. Below another prefix, without a python3, and after a cross
# build they go to lib/python3/dist-packages. `cmake --install` runs this.
set(folder ${CMAKE_INSTALL_PREFIX}/lib/python3/dist-packages)
set(pythons python3 /usr/bin/python3)
if(CMAKE_CROSSCOMPILING)
  set(pythons)
endif()
set(found FALSE)
foreach(python ${pythons})
  execute_process(COMMAND ${python} -c "import site; print(';'.join(site.getsitepackages()))"
                  OUTPUT_VARIABLE searched OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  foreach(candidate ${searched})
    string(FIND "${candidate}" "${CMAKE_INSTALL_PREFIX}/lib/" at)
    if(at EQUAL 0 AND NOT found)
      set(folder ${candidate})
      set(found TRUE)
    endif()
  endforeach()
endforeach()
file(INSTALL DESTINATION "${folder}" TYPE FILE FILES ${PINGLOOM_MODULES})
