#include "rdma/verbs/async_events.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace pingloom::rdma::verbs {
namespace {

bool gidIsThere(ibv_context* context, std::uint8_t port, const GidDetails& gid) {
  ibv_gid now{};
  if (ibv_query_gid(context, port, static_cast<int>(gid.index), &now) != 0) return false;
  return std::memcmp(now.raw, gid.gid.bytes.data(), sizeof now.raw) == 0;
}

}  // namespace

std::string meaning(ibv_context* context, const ibv_async_event& event, std::uint8_t port,
                    const GidDetails& gid) {
  const bool ours = event.element.port_num == port;
  switch (event.event_type) {
    case IBV_EVENT_DEVICE_FATAL:
      return "the device failed or was removed";
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
      return "the queue pair failed";
    case IBV_EVENT_CQ_ERR:
      return "the completion queue overran";
    case IBV_EVENT_PORT_ERR:
      return ours ? fmt::format("port {} went down", port) : "";
    case IBV_EVENT_LID_CHANGE:
      return ours ? fmt::format("port {} got another LID", port) : "";
    case IBV_EVENT_PKEY_CHANGE:
      return ours ? fmt::format("the P_Keys of port {} changed", port) : "";
    case IBV_EVENT_GID_CHANGE:
      if (!ours || gidIsThere(context, port, gid)) return "";
      return fmt::format("the address {} left port {}", gid.gid.address().text(), port);
    default:
      return "";
  }
}

Status makeEventsNonBlocking(ibv_context* context) {
  const int fd = context->async_fd;
  if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0) {
    return makeErrnoError("", "descriptor of asynchronous events", errno);
  }
  return {};
}

Status takeAsyncEvents(ibv_context* context, std::uint8_t port, const GidDetails& gid) {
  std::string reason;
  ibv_async_event event{};
  while (ibv_get_async_event(context, &event) == 0) {
    const std::string found = meaning(context, event, port, gid);
    if (reason.empty()) reason = found;
    ibv_ack_async_event(&event);
  }
  if (reason.empty()) return {};
  return makeError("", reason);
}

}  // namespace pingloom::rdma::verbs
