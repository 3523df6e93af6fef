# find_package(pingloom-report): pingloom::report, and pingloom::report-static.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/pingloom-report-targets.cmake)
