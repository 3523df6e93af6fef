# `cmake --install build/release --prefix PREFIX --component COMPONENT` installs a component, and cmake/packages.cmake makes a
# package of each. The command `pingloom` and each daemon are a component; only the pages of controller and collector need Node to
# be built. Applications with metric pages are built with `pages-dev` and run with `pages` or `pages-python`, and those that report
# with `report-dev`, `report` or `report-python`. Units and users are meant for the prefix /usr, and scripts/install.sh adapts them to another prefix.
include(GNUInstallDirs)
set(share ${CMAKE_INSTALL_DATADIR}/pingloom)
install(TARGETS pingloom RUNTIME COMPONENT cli)
foreach(role agent controller collector translator)
  install(TARGETS pingloom-${role} RUNTIME COMPONENT ${role})
  install(FILES config/${role}.yaml DESTINATION ${share}/config COMPONENT ${role})
  install(FILES systemd/pingloom-${role}.service DESTINATION lib/systemd/system COMPONENT ${role})
  # install.sh and the package's postinst make this file a drop-in where systemd knows its keys.
  install(FILES systemd/restart-steps.conf DESTINATION ${share}/systemd/pingloom-${role}.service.d COMPONENT ${role})
endforeach()
# The target `man` needs scdoc, so it is not part of `all`.
add_custom_target(man ${CMAKE_SOURCE_DIR}/packaging/man/build.sh $<TARGET_FILE:pingloom> ${CMAKE_BINARY_DIR}/man DEPENDS pingloom VERBATIM)
function(pingloom_man component)
  foreach(page ${ARGN})
    string(REGEX REPLACE ".*\\." "" section ${page})
    install(FILES ${CMAKE_BINARY_DIR}/man/man${section}/${page}.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section}
            COMPONENT ${component} OPTIONAL)
  endforeach()
endfunction()
pingloom_man(cli pingloom.1 pingloom-dta.1)
pingloom_man(report-dev pingloom-report.3)
foreach(role agent controller collector translator)
  pingloom_man(${role} pingloom-${role}.8 pingloom-${role}.yaml.5)
endforeach()
pingloom_man(controller pingloom-pinglist.5)
install(FILES config/pinglist.yaml DESTINATION ${share}/config COMPONENT controller)
install(FILES systemd/pingloom.sysusers.conf DESTINATION lib/sysusers.d RENAME pingloom.conf COMPONENT cli)
install(FILES systemd/pingloom.tmpfiles.conf DESTINATION lib/tmpfiles.d RENAME pingloom.conf COMPONENT cli)
install(DIRECTORY packaging/wireshark DESTINATION ${share} COMPONENT cli)
install(DIRECTORY packaging/grafana packaging/prometheus DESTINATION ${share} COMPONENT controller)
# The daemons look for their pages there. Without its page a daemon serves the API only.
install(DIRECTORY ${CMAKE_BINARY_DIR}/web/ DESTINATION ${share}/web COMPONENT controller OPTIONAL)
install(DIRECTORY ${CMAKE_BINARY_DIR}/web-collector/ DESTINATION ${share}/web-collector COMPONENT collector OPTIONAL)

function(pingloom_python component)
  list(TRANSFORM ARGN PREPEND ${CMAKE_SOURCE_DIR}/python/)
  install(CODE "set(PINGLOOM_MODULES \"${ARGN}\")\ninclude(\"${CMAKE_SOURCE_DIR}/cmake/install-python.cmake\")"
          COMPONENT ${component})
endfunction()

# Each library of applications is found by CMake and by pkg-config, below any prefix.
include(CMakePackageConfigHelpers)
file(RELATIVE_PATH library_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
function(pingloom_library library)
  set(name pingloom-${library})
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/${name})
  install(TARGETS ${name} EXPORT ${name} LIBRARY COMPONENT ${library} NAMELINK_COMPONENT ${library}-dev)
  install(TARGETS ${name}-static EXPORT ${name} ARCHIVE COMPONENT ${library}-dev)
  pingloom_python(${library}-python pingloom_${library}.py)
  install(FILES ${ARGN} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/pingloom COMPONENT ${library}-dev)
  install(EXPORT ${name} NAMESPACE pingloom:: FILE ${name}-targets.cmake DESTINATION ${package} COMPONENT ${library}-dev)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/${name}-config-version.cmake COMPATIBILITY SameMinorVersion)
  configure_file(cmake/${name}.pc.in generated/${name}.pc @ONLY)
  install(FILES cmake/${name}-config.cmake ${CMAKE_BINARY_DIR}/generated/${name}-config-version.cmake DESTINATION ${package}
          COMPONENT ${library}-dev)
  install(FILES ${CMAKE_BINARY_DIR}/generated/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${library}-dev)
endfunction()
pingloom_library(pages include/pingloom/page_format.h include/pingloom/pages.h include/pingloom/pages.hpp
                include/pingloom/opentelemetry_cpp.hpp include/pingloom/pages_mirror.hpp
                include/pingloom/prometheus_cpp.hpp include/pingloom/prometheus_cpp_collectable.hpp)
pingloom_python(pages-python pingloom_pages_library.py pingloom_pages_mirror.py pingloom_pages_opentelemetry.py
                pingloom_pages_prometheus.py pingloom_pages_prometheus_keeper.py pingloom_pages_prometheus_values.py)
install(DIRECTORY go/pingloompages DESTINATION ${CMAKE_INSTALL_DATADIR}/gocode/src/pingloom COMPONENT pages-dev
        PATTERN "*_test.go" EXCLUDE)
pingloom_library(report include/pingloom/report.h include/pingloom/report.hpp)
