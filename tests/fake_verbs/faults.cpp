// Faults, one a line, applied while programs run:
//
//   port_down DEVICE PORT, port_up DEVICE PORT    with their events
//   gid_gone DEVICE PORT ADDRESS                  with its event
//   remove DEVICE                                 gone, and those who have it open are told
//   vanish DEVICE                                 gone without a word
//   pair_error DEVICE                             all its queue pairs into error, without an event
//   fail_sends DEVICE N, fail_posts DEVICE N      the next N complete in error, or are not taken
//   lose DEVICE N                                 the next N packets that it sends
//   hang DEVICE                                   requests of reliable connections are never done
//   mute DEVICE                                   its reliable connections into error, silently
//   race DEVICE N                                 what arrives waits for an armed queue, N times
//   handle_errno DEVICE ADDRESS N                 there is no way there, errno N; 0: works again
//   handle_delay DEVICE ADDRESS MILLISECONDS      and looking for it takes so long
//   hold_lookup DEVICE ADDRESS 1                  and does not end; 0: it does
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "fake_verbs.h"
#include "objects.h"

namespace fake {
namespace {

void tell(Device& device, ibv_event_type type, int port) {
  ibv_async_event event{};
  event.event_type = type;
  event.element.port_num = port;
  for (Context* context : device.contexts) context->raise(event);
}

void setPort(Device& device, int number, bool active) {
  if (PortConfig* port = device.port(static_cast<std::uint8_t>(number))) port->active = active;
  tell(device, active ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR, number);
}

void takeGid(Device& device, int number, const std::string& address) {
  const GidBytes gid = parseAddress(address);
  if (PortConfig* port = device.port(static_cast<std::uint8_t>(number))) {
    std::erase_if(port->gids, [&](const GidConfig& one) { return one.gid == gid; });
  }
  tell(device, IBV_EVENT_GID_CHANGE, number);
}

void silencePairs(Device& device) {
  for (Context* context : device.contexts) {
    for (QueuePair* pair : context->pairs) {
      if (pair->qp_type != IBV_QPT_RC) continue;
      pair->mute = true;
      pair->state = IBV_QPS_ERR;
    }
  }
}

void breakPairs(Device& device) {
  for (Context* context : device.contexts) {
    for (QueuePair* pair : context->pairs) pair->breakDown(IBV_WC_LOC_QP_OP_ERR);
  }
}

}  // namespace

void applyFault(const std::string& line) {
  const Lock lock(bigLock());
  std::istringstream words(line);
  std::string what;
  std::string name;
  std::string address;
  int number = 0;
  if (!(words >> what >> name)) return;
  Device* device = deviceNamed(name);
  if (device == nullptr) return;
  if (what == "port_down" || what == "port_up") {
    words >> number;
    setPort(*device, number, what == "port_up");
  } else if (what == "gid_gone") {
    words >> number >> address;
    takeGid(*device, number, address);
  } else if (what == "remove") {
    device->removed = true;
    tell(*device, IBV_EVENT_DEVICE_FATAL, 0);
  } else if (what == "vanish") {
    device->removed = true;
    std::strcpy(device->dev_path, "/nowhere");
  } else if (what == "pair_error") {
    breakPairs(*device);
  } else if (what == "fail_sends") {
    words >> device->failing_sends;
  } else if (what == "fail_posts") {
    words >> device->failing_posts;
  } else if (what == "lose") {
    words >> device->lost_packets;
  } else if (what == "hang") {
    device->hangs = true;
  } else if (what == "mute") {
    silencePairs(*device);
  } else if (what == "race") {
    words >> device->racing;
  } else if (what == "handle_errno") {
    words >> address >> number;
    device->handle_errno[parseAddress(address)] = number;
  } else if (what == "handle_delay") {
    words >> address >> number;
    device->handle_delay_ms[parseAddress(address)] = number;
  } else if (what == "hold_lookup") {
    words >> address >> number;
    if (number != 0) {
      device->held_lookups.insert(parseAddress(address));
    } else {
      device->held_lookups.erase(parseAddress(address));
    }
  } else {
    std::fprintf(stderr, "fake verbs: unknown fault: %s\n", line.c_str());
    std::abort();
  }
}

}  // namespace fake

void fakeVerbsFault(const char* line) { fake::applyFault(line); }
