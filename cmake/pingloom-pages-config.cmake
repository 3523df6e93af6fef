# find_package(pingloom-pages): pingloom::pages, and pingloom::pages-static.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/pingloom-pages-targets.cmake)
