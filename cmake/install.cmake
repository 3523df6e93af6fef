# `cmake --install build/release --prefix PREFIX`. Hosts need `--component agent` only, and no Node for it; `--component
# controller` is the rest.
include(GNUInstallDirs)
set(share ${CMAKE_INSTALL_DATADIR}/pingloom)
install(TARGETS pingloom pingloom-agent RUNTIME COMPONENT agent)
install(FILES config/agent.yaml DESTINATION ${share}/config COMPONENT agent)
install(TARGETS pingloom-controller RUNTIME COMPONENT controller)
install(FILES config/controller.yaml config/pinglist.yaml DESTINATION ${share}/config COMPONENT controller)
install(DIRECTORY packaging/grafana packaging/prometheus DESTINATION ${share} COMPONENT controller)
# Where the controller looks for the page. Where it is not built, there is the API only.
install(DIRECTORY ${CMAKE_BINARY_DIR}/web/ DESTINATION ${share}/web COMPONENT controller OPTIONAL)
