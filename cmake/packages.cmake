# `cpack --config build/release/CPackConfig.cmake` makes Debian packages of install.cmake's components. scripts/package.sh also
# builds what goes into them.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME pingloom)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL cli agent controller collector translator pages pages-python pages-dev report report-python report-dev)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "pingloom maintainers <maintainers@pingloom.invalid>")
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/packaging/debian/finish.cmake)
string(TIMESTAMP CPACK_PINGLOOM_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)

# pingloom_package(COMPONENT NAME SUMMARY TEXT DEPENDS CONTROL_FILE...) describes a component's package.
macro(pingloom_package component name summary long depends)
  string(TOUPPER ${component} upper)
  string(REPLACE "\n" "\n " text "${long}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n ${text}")
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}\n ${text}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${ARGN})
endmacro()

set(same_version "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(debian ${CMAKE_SOURCE_DIR}/packaging/debian)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated/debian/cli)
foreach(script postinst postrm)
  configure_file(${debian}/cli.${script} generated/debian/cli/${script} COPYONLY)
endforeach()
pingloom_package(cli pingloom-cli "mesh probing of RDMA fabrics: command line and users"
  "The command pingloom, which shows a mesh, checks configurations and\nmeasures by hand, and the users and folders of the daemons."
  "systemd, passwd" ${CMAKE_BINARY_DIR}/generated/debian/cli/postinst ${CMAKE_BINARY_DIR}/generated/debian/cli/postrm)

# The daemons' packages do not depend on each other's version, because they are upgraded and rolled back one by one.
set(agent_text "Runs on every host: probes others by the controller's plan over RDMA,\nUDP and TCP, and answers their probes.")
set(controller_text "Hands the pinglist to the agents, keeps their results in Redis and a\nhistory, and serves dashboard and API.")
set(collector_text "Reads the metric pages of agents by RDMA and serves them to Prometheus, and\nkeeps the tables that translators write, with a page that shows them.")
set(translator_text "Takes reports of telemetry and writes them into a collector's memory by\nRDMA.")
set(agent_needs "")
# The agent's unit has RuntimeDirectoryPreserve, so systemd leaves /run/pingloom when the agent stops.
set(agent_leaves "if [ \"$1\" = remove ]; then rm -rf /run/pingloom; fi\n")
set(controller_needs ", redis-server")
set(collector_needs "")
set(translator_needs "")
foreach(role agent controller collector translator)
  set(ROLE ${role})
  set(MORE_TO_REMOVE "${${role}_leaves}")
  set(control)
  foreach(script postinst prerm postrm)
    configure_file(${debian}/role.${script}.in generated/debian/${role}/${script} @ONLY)
    list(APPEND control ${CMAKE_BINARY_DIR}/generated/debian/${role}/${script})
  endforeach()
  set(conffiles "/etc/pingloom/${role}.yaml\n")
  if(role STREQUAL controller)
    string(APPEND conffiles "/etc/pingloom/pinglist.yaml\n")
  endif()
  file(WRITE ${CMAKE_BINARY_DIR}/generated/debian/${role}/conffiles "${conffiles}")
  pingloom_package(${role} pingloom-${role} "mesh probing of RDMA fabrics: ${role}" "${${role}_text}"
    "pingloom-cli (>= ${PROJECT_VERSION})${${role}_needs}" ${control} ${CMAKE_BINARY_DIR}/generated/debian/${role}/conffiles)
endforeach()
# libibverbs loads the NIC drivers' user-space halves at run time, so no library depends on them.
set(CPACK_DEBIAN_AGENT_PACKAGE_RECOMMENDS ibverbs-providers)
set(CPACK_DEBIAN_COLLECTOR_PACKAGE_RECOMMENDS ibverbs-providers)
set(CPACK_DEBIAN_TRANSLATOR_PACKAGE_RECOMMENDS ibverbs-providers)

# pingloom_library_packages(LIBRARY SOVERSION SUMMARY TEXT) describes the packages of a library of applications.
macro(pingloom_library_packages library soversion summary long)
  set(name libpingloom-${library})
  string(TOUPPER ${library} upper_library)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated/debian/${library})
  file(WRITE ${CMAKE_BINARY_DIR}/generated/debian/${library}/shlibs
       "${name} ${soversion} ${name}${soversion} (>= ${PROJECT_VERSION})\n")
  pingloom_package(${library} ${name}${soversion} "${summary}: library" "${long}" ""
    ${debian}/triggers ${CMAKE_BINARY_DIR}/generated/debian/${library}/shlibs)
  set(CPACK_DEBIAN_${upper_library}_PACKAGE_SECTION libs)
  pingloom_package(${library}-python python3-pingloom-${library} "${summary}: module for Python" "${long}"
    "${name}${soversion} ${same_version}, python3:any")
  set(CPACK_DEBIAN_${upper_library}-PYTHON_PACKAGE_ARCHITECTURE all)
  set(CPACK_DEBIAN_${upper_library}-PYTHON_PACKAGE_SECTION python)
  pingloom_package(${library}-dev ${name}-dev "${summary}: development files"
    "Headers for C and C++, the static library, and what CMake and\npkg-config need to find them."
    "${name}${soversion} ${same_version}")
  set(CPACK_DEBIAN_${upper_library}-DEV_PACKAGE_SECTION libdevel)
endmacro()
pingloom_library_packages(pages 0 "metrics that are read by RDMA"
  "Applications write counters, gauges and histograms into memory that a\ncollector reads by RDMA.")
pingloom_library_packages(report 0 "reports of telemetry by RDMA"
  "Applications report latest values, counts, events and paths to a\ntranslator, which writes them into a collector's memory by RDMA.")
include(CPack)
