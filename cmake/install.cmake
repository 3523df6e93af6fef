# `cmake --install build/release --prefix PREFIX --component COMPONENT` installs a component, and cmake/packages.cmake makes a
# package of each. The command `pingloom` and each daemon are a component; only the controller's needs Node to be built.
# Applications with metric pages are built with `pages-dev` and run with `pages` or `pages-python`. Units and users are meant
# for the prefix /usr, and scripts/install.sh adapts them to another prefix.
include(GNUInstallDirs)
set(share ${CMAKE_INSTALL_DATADIR}/pingloom)
install(TARGETS pingloom RUNTIME COMPONENT cli)
foreach(role agent controller collector)
  install(TARGETS pingloom-${role} RUNTIME COMPONENT ${role})
  install(FILES config/${role}.yaml DESTINATION ${share}/config COMPONENT ${role})
  install(FILES systemd/pingloom-${role}.service DESTINATION lib/systemd/system COMPONENT ${role})
  # install.sh and the package's postinst make this file a drop-in where systemd knows its keys.
  install(FILES systemd/restart-steps.conf DESTINATION ${share}/systemd/pingloom-${role}.service.d COMPONENT ${role})
endforeach()
# The translator has neither a man page nor a package yet.
install(TARGETS pingloom-translator RUNTIME COMPONENT translator)
install(FILES config/translator.yaml DESTINATION ${share}/config COMPONENT translator)
install(FILES systemd/pingloom-translator.service DESTINATION lib/systemd/system COMPONENT translator)
install(FILES systemd/restart-steps.conf DESTINATION ${share}/systemd/pingloom-translator.service.d COMPONENT translator)
# The target `man` needs scdoc, so it is not part of `all`.
add_custom_target(man ${CMAKE_SOURCE_DIR}/packaging/man/build.sh $<TARGET_FILE:pingloom> ${CMAKE_BINARY_DIR}/man DEPENDS pingloom VERBATIM)
function(pingloom_man component)
  foreach(page ${ARGN})
    string(REGEX REPLACE ".*\\." "" section ${page})
    install(FILES ${CMAKE_BINARY_DIR}/man/man${section}/${page}.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section}
            COMPONENT ${component} OPTIONAL)
  endforeach()
endfunction()
pingloom_man(cli pingloom.1)
foreach(role agent controller collector)
  pingloom_man(${role} pingloom-${role}.8 pingloom-${role}.yaml.5)
endforeach()
pingloom_man(controller pingloom-pinglist.5)
install(FILES config/pinglist.yaml DESTINATION ${share}/config COMPONENT controller)
install(FILES systemd/pingloom.sysusers.conf DESTINATION lib/sysusers.d RENAME pingloom.conf COMPONENT cli)
install(FILES systemd/pingloom.tmpfiles.conf DESTINATION lib/tmpfiles.d RENAME pingloom.conf COMPONENT cli)
install(DIRECTORY packaging/grafana packaging/prometheus DESTINATION ${share} COMPONENT controller)
# The controller looks for the dashboard there. Without it the controller serves the API only.
install(DIRECTORY ${CMAKE_BINARY_DIR}/web/ DESTINATION ${share}/web COMPONENT controller OPTIONAL)

install(TARGETS pingloom-pages EXPORT pingloom-pages LIBRARY COMPONENT pages NAMELINK_COMPONENT pages-dev)
install(FILES python/pingloom_pages.py DESTINATION lib/python3/dist-packages COMPONENT pages-python)
install(TARGETS pingloom-pages-static EXPORT pingloom-pages ARCHIVE COMPONENT pages-dev)
install(FILES include/pingloom/page_format.h include/pingloom/pages.h include/pingloom/pages.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pingloom COMPONENT pages-dev)
set(pages_package ${CMAKE_INSTALL_LIBDIR}/cmake/pingloom-pages)
install(EXPORT pingloom-pages NAMESPACE pingloom:: FILE pingloom-pages-targets.cmake DESTINATION ${pages_package}
        COMPONENT pages-dev)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/pingloom-pages-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH pages_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)  # the package works below any prefix
configure_file(cmake/pingloom-pages.pc.in generated/pingloom-pages.pc @ONLY)
install(FILES cmake/pingloom-pages-config.cmake ${CMAKE_BINARY_DIR}/generated/pingloom-pages-config-version.cmake
        DESTINATION ${pages_package} COMPONENT pages-dev)
install(FILES ${CMAKE_BINARY_DIR}/generated/pingloom-pages.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT pages-dev)

# The report library is installed as the page library is; it has no CMake package.
install(TARGETS pingloom-report LIBRARY COMPONENT report NAMELINK_COMPONENT report-dev)
install(TARGETS pingloom-report-static ARCHIVE COMPONENT report-dev)
install(FILES python/pingloom_report.py DESTINATION lib/python3/dist-packages COMPONENT report-python)
install(FILES include/pingloom/report.h include/pingloom/report.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pingloom COMPONENT report-dev)
configure_file(cmake/pingloom-report.pc.in generated/pingloom-report.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/generated/pingloom-report.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT report-dev)
