# CPack runs this in each package's folder before packing. It adds the files that only Debian packages have, so
# cmake --install does not install them.
file(GLOB components LIST_DIRECTORIES true ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*)
foreach(folder ${components})
  if(NOT IS_DIRECTORY ${folder}/usr)
    continue()
  endif()
  get_filename_component(component ${folder} NAME)
  string(TOUPPER ${component} upper)
  set(doc ${folder}/usr/share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  file(COPY ${CMAKE_CURRENT_LIST_DIR}/copyright DESTINATION ${doc})
  # The shipped configuration becomes a conffile, so that users can edit it.
  file(GLOB configs ${folder}/usr/share/pingloom/config/*.yaml)
  if(configs)
    file(COPY ${configs} DESTINATION ${folder}/etc/pingloom)
  endif()
  file(GLOB_RECURSE libraries ${folder}/usr/lib/*.so.*)
  foreach(library ${libraries})
    if(NOT IS_SYMLINK ${library})
      file(CHMOD ${library} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
    endif()
  endforeach()
  set(changelog ${doc}/changelog.Debian)
  file(WRITE ${changelog} "pingloom (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
       "  * Built from the project's own source; its changes are in changelog.gz.\n\n"
       " -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${CPACK_PINGLOOM_DATE}\n")
  configure_file(${CMAKE_CURRENT_LIST_DIR}/../../CHANGELOG.md ${doc}/changelog COPYONLY)
  execute_process(COMMAND gzip -9nf ${changelog} ${doc}/changelog COMMAND_ERROR_IS_FATAL ANY)
endforeach()
