// The functions that libibverbs exports, those of them that pingloom and ibv_devices use, and the
// ones behind the inline functions of verbs.h.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "fake_verbs.h"
#include "objects.h"

#undef ibv_query_port
#undef ibv_reg_mr

namespace fake {
namespace {

std::atomic<int> live_objects = 0;
std::atomic<int> doorbells = 0;

template <typename T>
T* fail(int error_number) {
  errno = error_number;
  return nullptr;
}

int queryPort(ibv_context* context, std::uint8_t number, ibv_port_attr* into, std::size_t bytes) {
  const Lock lock(bigLock());
  const PortConfig* port = Context::of(context).device.port(number);
  if (port == nullptr) return EINVAL;
  ibv_port_attr attributes{};
  attributes.state = port->active ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
  attributes.max_mtu = IBV_MTU_4096;
  attributes.active_mtu = IBV_MTU_256;
  for (std::uint32_t mtu = 256; mtu < port->mtu; mtu *= 2) {
    attributes.active_mtu = static_cast<ibv_mtu>(attributes.active_mtu + 1);
  }
  attributes.gid_tbl_len = 256;
  attributes.pkey_tbl_len = 1;
  attributes.lid = port->lid;
  attributes.active_width = 2;   // 4X
  attributes.active_speed = 32;  // EDR
  attributes.link_layer = port->ethernet ? IBV_LINK_LAYER_ETHERNET : IBV_LINK_LAYER_INFINIBAND;
  std::memcpy(into, &attributes, std::min(bytes, sizeof attributes));
  return 0;
}

int queryDevice(ibv_context* context, const ibv_query_device_ex_input* /*input*/,
                ibv_device_attr_ex* into, std::size_t bytes) {
  const Lock lock(bigLock());
  const DeviceConfig& config = Context::of(context).device.config;
  ibv_device_attr_ex attributes{};
  std::strcpy(attributes.orig_attr.fw_ver, "1.2.3");
  attributes.orig_attr.vendor_id = config.vendor;
  attributes.orig_attr.vendor_part_id = config.part;
  attributes.orig_attr.phys_port_cnt = static_cast<std::uint8_t>(config.ports.size());
  attributes.orig_attr.max_qp_wr = 16384;
  attributes.orig_attr.max_cqe = 32767;
  attributes.orig_attr.max_sge = 30;
  attributes.orig_attr.max_qp_rd_atom = static_cast<int>(config.rd_atom);
  attributes.orig_attr.max_qp_init_rd_atom = static_cast<int>(config.rd_atom);
  attributes.orig_attr.atomic_cap = IBV_ATOMIC_HCA;
  attributes.completion_timestamp_mask = config.mask();
  attributes.hca_core_clock = config.said_khz != 0 ? config.said_khz : config.clock_khz;
  std::memcpy(into, &attributes, std::min(bytes, sizeof attributes));
  return 0;
}

// --- completion queues ---

int takeNext(ibv_cq_ex* given) {
  const Lock lock(bigLock());
  CompletionQueue& queue = CompletionQueue::of(given);
  if (!queue.pop(queue.current)) return ENOENT;
  queue.wr_id = queue.current.wc.wr_id;
  queue.status = queue.current.wc.status;
  return 0;
}

const ibv_wc& currentOf(ibv_cq_ex* queue) { return CompletionQueue::of(queue).current.wc; }

std::unique_ptr<CompletionQueue> makeQueue(ibv_context* context, int entries, void* cookie,
                                           ibv_comp_channel* channel) {
  auto queue = std::make_unique<CompletionQueue>();
  ibv_cq_ex& base = *queue;
  base.context = context;
  base.channel = channel;
  base.cq_context = cookie;
  base.cqe = entries;
  base.start_poll = [](ibv_cq_ex* given, ibv_poll_cq_attr*) { return takeNext(given); };
  base.next_poll = takeNext;
  base.end_poll = [](ibv_cq_ex*) {};
  base.read_opcode = [](ibv_cq_ex* given) { return currentOf(given).opcode; };
  base.read_vendor_err = [](ibv_cq_ex* given) { return currentOf(given).vendor_err; };
  base.read_byte_len = [](ibv_cq_ex* given) { return currentOf(given).byte_len; };
  base.read_qp_num = [](ibv_cq_ex* given) { return currentOf(given).qp_num; };
  base.read_src_qp = [](ibv_cq_ex* given) { return currentOf(given).src_qp; };
  base.read_wc_flags = [](ibv_cq_ex* given) { return currentOf(given).wc_flags; };
  base.read_sl = [](ibv_cq_ex* given) { return currentOf(given).sl; };
  base.read_slid = [](ibv_cq_ex* given) { return std::uint32_t{currentOf(given).slid}; };
  base.read_completion_ts = [](ibv_cq_ex* given) {
    return CompletionQueue::of(given).current.ticks;
  };
  if (channel != nullptr) ++channel->refcnt;
  ++live_objects;
  return queue;
}

ibv_cq_ex* createQueue(ibv_context* context, ibv_cq_init_attr_ex* wanted) {
  const Lock lock(bigLock());
  const DeviceConfig& config = Context::of(context).device.config;
  const bool timestamps = (wanted->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP) != 0;
  if (timestamps && (config.mask() == 0 || !config.timestamp_queues)) {
    return fail<ibv_cq_ex>(EOPNOTSUPP);
  }
  auto queue =
      makeQueue(context, static_cast<int>(wanted->cqe), wanted->cq_context, wanted->channel);
  queue->timestamps = timestamps;
  return queue.release();
}

int pollQueue(ibv_cq* given, int entries, ibv_wc* into) {
  const Lock lock(bigLock());
  WorkCompletion completion;
  int taken = 0;
  while (taken < entries && CompletionQueue::of(given).pop(completion)) {
    into[taken++] = completion.wc;
  }
  return taken;
}

int armQueue(ibv_cq* given, int /*solicited_only*/) {
  const Lock lock(bigLock());
  CompletionQueue& queue = CompletionQueue::of(given);
  Device& device = queue.owner().device;
  if (device.racing > 0) {
    --device.racing;
    queue.owner().deliverDue(monotonicNanos());  // just before: no event tells of it
  }
  queue.armed = true;
  return 0;
}

// --- queue pairs ---

int postSend(ibv_qp* given, ibv_send_wr* request, ibv_send_wr** bad) {
  const Lock lock(bigLock());
  ++doorbells;
  for (; request != nullptr; request = request->next) {
    const int failed = QueuePair::of(given).postSend(*request);
    if (failed == 0) continue;
    *bad = request;
    return failed;
  }
  return 0;
}

int postReceive(ibv_qp* given, ibv_recv_wr* request, ibv_recv_wr** bad) {
  const Lock lock(bigLock());
  for (; request != nullptr; request = request->next) {
    const int failed = QueuePair::of(given).postReceive(*request);
    if (failed == 0) continue;
    *bad = request;
    return failed;
  }
  return 0;
}

// As long as the kernel looks up the way there. REQUIRES that the lock is not held.
void lookUp(Device& device, const GidBytes& to) {
  int milliseconds = 0;
  {
    const Lock lock(bigLock());
    const auto delay = device.handle_delay_ms.find(to);
    if (delay != device.handle_delay_ms.end()) milliseconds = delay->second;
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  const auto held = [&] {
    const Lock lock(bigLock());
    return device.held_lookups.contains(to);
  };
  while (held()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace
}  // namespace fake

using namespace fake;

int fakeVerbsLiveObjects() { return live_objects; }
int fakeVerbsDoorbells() { return doorbells; }

extern "C" {
#pragma GCC visibility push(default)

// --- devices ---

ibv_device** ibv_get_device_list(int* count) {
  const std::vector<Device*> devices = currentDevices();
  auto** list = static_cast<ibv_device**>(std::calloc(devices.size() + 1, sizeof(ibv_device*)));
  for (std::size_t i = 0; i < devices.size(); ++i) list[i] = devices[i];
  if (count != nullptr) *count = static_cast<int>(devices.size());
  return list;
}
void ibv_free_device_list(ibv_device** list) { std::free(list); }
const char* ibv_get_device_name(ibv_device* device) { return device->name; }
__be64 ibv_get_device_guid(ibv_device* device) { return std::hash<std::string>()(device->name); }
const char* ibv_port_state_str(ibv_port_state state) {
  return state == IBV_PORT_ACTIVE ? "active" : "down";
}

ibv_context* ibv_open_device(ibv_device* given) {
  const Lock lock(bigLock());
  auto& device = *static_cast<Device*>(given);
  if (device.removed) return fail<ibv_context>(ENODEV);
  if (device.config.open_errno != 0) return fail<ibv_context>(device.config.open_errno);
  auto* opened = new Context(device);
  opened->context.ops.poll_cq = pollQueue;
  opened->context.ops.req_notify_cq = armQueue;
  opened->context.ops.post_send = postSend;
  opened->context.ops.post_recv = postReceive;
  opened->query_port = queryPort;
  opened->query_device_ex = queryDevice;
  opened->create_cq_ex = createQueue;
  ++live_objects;
  return &opened->context;
}
int ibv_close_device(ibv_context* context) {
  {
    const Lock lock(bigLock());
    if (Context::of(context).domains != 0) return EBUSY;
  }
  delete &Context::of(context);
  --live_objects;
  return 0;
}

int ibv_query_device(ibv_context* context, ibv_device_attr* into) {
  ibv_device_attr_ex attributes{};
  queryDevice(context, nullptr, &attributes, sizeof attributes);
  *into = attributes.orig_attr;
  return 0;
}
int ibv_query_port(ibv_context* context, std::uint8_t number, _compat_ibv_port_attr* into) {
  return queryPort(context, number, reinterpret_cast<ibv_port_attr*>(into),
                   offsetof(ibv_port_attr, port_cap_flags2));
}
int ibv_query_gid(ibv_context* context, std::uint8_t number, int index, ibv_gid* into) {
  const Lock lock(bigLock());
  std::memset(into->raw, 0, sizeof into->raw);
  const PortConfig* port = Context::of(context).device.port(number);
  if (port == nullptr) return -1;
  for (const GidConfig& one : port->gids) {
    if (static_cast<int>(one.index) == index) std::memcpy(into->raw, one.gid.data(), 16);
  }
  return 0;
}
ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* into, std::size_t most,
                             std::uint32_t /*flags*/, std::size_t bytes) {
  const Lock lock(bigLock());
  std::size_t count = 0;
  for (const PortConfig& port : Context::of(context).device.config.ports) {
    for (const GidConfig& gid : port.gids) {
      if (count == most || bytes != sizeof *into) return -EINVAL;
      ibv_gid_entry& entry = into[count++];
      entry = {};
      std::memcpy(entry.gid.raw, gid.gid.data(), gid.gid.size());
      entry.gid_index = gid.index;
      entry.port_num = port.number;
      entry.gid_type = gid.type;
    }
  }
  return static_cast<ssize_t>(count);
}

int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  return read(context->async_fd, event, sizeof *event) == sizeof *event ? 0 : -1;
}
void ibv_ack_async_event(ibv_async_event* /*event*/) {}

// --- memory ---

ibv_pd* ibv_alloc_pd(ibv_context* context) {
  const Lock lock(bigLock());
  auto* domain = new Domain;
  domain->context = context;
  ++Context::of(context).domains;
  ++live_objects;
  return domain;
}
int ibv_dealloc_pd(ibv_pd* given) {
  const Lock lock(bigLock());
  Domain& domain = Domain::of(given);
  if (domain.users != 0) return EBUSY;
  --Context::of(domain.context).domains;
  --live_objects;
  delete &domain;
  return 0;
}
ibv_mr* ibv_reg_mr(ibv_pd* domain, void* address, std::size_t length, int access) {
  const Lock lock(bigLock());
  Context& context = Context::of(domain->context);
  if (const int failed = context.device.config.memory_errno; failed != 0) {
    return fail<ibv_mr>(failed);
  }
  auto* region = new ibv_mr{};
  region->context = domain->context;
  region->pd = domain;
  region->addr = address;
  region->length = length;
  region->lkey = context.next_key++;
  static std::uint32_t regions_made = 0;  // no key comes twice, nor is it a local one
  region->rkey = ++regions_made * 2654435761U;
  context.region_access[region->lkey] = access;
  context.regions[region->lkey] = region;
  ++Domain::of(domain).users;
  ++live_objects;
  return region;
}
ibv_mr* ibv_reg_mr_iova2(ibv_pd* domain, void* address, std::size_t length, std::uint64_t /*iova*/,
                         unsigned access) {
  return ibv_reg_mr(domain, address, length, static_cast<int>(access));
}
int ibv_dereg_mr(ibv_mr* region) {
  const Lock lock(bigLock());
  Context::of(region->context).regions.erase(region->lkey);
  Context::of(region->context).region_access.erase(region->lkey);
  --Domain::of(region->pd).users;
  --live_objects;
  delete region;
  return 0;
}

// --- completion queues ---

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return nullptr;
  auto* channel = new Channel;
  channel->context = context;
  channel->fd = ends[0];
  channel->write_fd = ends[1];
  ++live_objects;
  return channel;
}
int ibv_destroy_comp_channel(ibv_comp_channel* given) {
  if (given->refcnt != 0) return EBUSY;
  auto* channel = static_cast<Channel*>(given);
  close(channel->fd);
  close(channel->write_fd);
  delete channel;
  --live_objects;
  return 0;
}
ibv_cq* ibv_create_cq(ibv_context* context, int entries, void* cookie, ibv_comp_channel* channel,
                      int /*vector*/) {
  const Lock lock(bigLock());
  return ibv_cq_ex_to_cq(makeQueue(context, entries, cookie, channel).release());
}
int ibv_destroy_cq(ibv_cq* given) {
  const Lock lock(bigLock());
  CompletionQueue& queue = CompletionQueue::of(given);
  if (queue.users != 0) return EBUSY;
  if (queue.acknowledged != queue.events) {
    std::fprintf(stderr, "fake verbs: a queue goes with %u events of which %u are acknowledged\n",
                 queue.events, queue.acknowledged);
    std::abort();  // the real one would wait for ever
  }
  if (given->channel != nullptr) --given->channel->refcnt;
  --live_objects;
  delete &queue;
  return 0;
}
int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** queue, void** cookie) {
  CompletionQueue* from = nullptr;
  if (read(channel->fd, &from, sizeof from) != sizeof from) return -1;
  const Lock lock(bigLock());
  ++from->events;
  *queue = ibv_cq_ex_to_cq(from);
  *cookie = (*queue)->cq_context;
  return 0;
}
void ibv_ack_cq_events(ibv_cq* queue, unsigned events) {
  const Lock lock(bigLock());
  CompletionQueue::of(queue).acknowledged += events;
}

// --- queue pairs and address handles ---

ibv_qp* ibv_create_qp(ibv_pd* domain, ibv_qp_init_attr* wanted) {
  const Lock lock(bigLock());
  Context& context = Context::of(domain->context);
  const bool timestamps = CompletionQueue::of(wanted->send_cq).timestamps;
  const bool known = wanted->qp_type == IBV_QPT_UD || wanted->qp_type == IBV_QPT_RC;
  if (!known || (timestamps && !context.device.config.timestamp_pairs)) {
    return fail<ibv_qp>(EOPNOTSUPP);
  }
  auto* pair = new QueuePair(*wanted);
  ibv_qp& base = *pair;
  base.context = domain->context;
  base.pd = domain;
  ++CompletionQueue::of(wanted->send_cq).users;
  ++CompletionQueue::of(wanted->recv_cq).users;
  ++Domain::of(domain).users;
  context.pairs.insert(pair);
  context.wake();
  ++live_objects;
  return pair;
}
int ibv_destroy_qp(ibv_qp* given) {
  const Lock lock(bigLock());
  QueuePair& pair = QueuePair::of(given);
  for (const bool receive : {false, true}) {
    CompletionQueue& queue = pair.completions(receive);
    --queue.users;
    std::erase_if(queue.waiting, [&](const WorkCompletion& one) { return one.pair == &pair; });
  }
  --Domain::of(given->pd).users;
  pair.owner().pairs.erase(&pair);
  pair.owner().wake();
  close(pair.socket);
  --live_objects;
  delete &pair;
  return 0;
}
int ibv_modify_qp(ibv_qp* given, ibv_qp_attr* attributes, int mask) {
  if ((mask & IBV_QP_AV) != 0) {
    GidBytes to{};
    std::memcpy(to.data(), attributes->ah_attr.grh.dgid.raw, to.size());
    lookUp(Context::of(given->context).device, to);
  }
  const Lock lock(bigLock());
  QueuePair& pair = QueuePair::of(given);
  if ((mask & IBV_QP_PORT) != 0) {
    if (pair.owner().device.port(attributes->port_num) == nullptr) return EINVAL;
    pair.port = attributes->port_num;
  }
  if ((mask & IBV_QP_PKEY_INDEX) != 0 && attributes->pkey_index != 0) return EINVAL;
  if (pair.qp_type == IBV_QPT_RC) return pair.modifyRc(*attributes, mask);
  if ((mask & IBV_QP_QKEY) != 0) pair.q_key = attributes->qkey;
  if ((mask & IBV_QP_STATE) != 0) pair.state = attributes->qp_state;
  return 0;
}
int ibv_query_qp(ibv_qp* given, ibv_qp_attr* attributes, int /*mask*/, ibv_qp_init_attr* initial) {
  const Lock lock(bigLock());
  *attributes = {};
  *initial = {};
  attributes->qp_state = given->state;
  return 0;
}

ibv_ah* ibv_create_ah(ibv_pd* domain, ibv_ah_attr* attributes) {
  GidBytes to{};
  std::memcpy(to.data(), attributes->grh.dgid.raw, to.size());
  Device* device = &Context::of(domain->context).device;
  lookUp(*device, to);
  const Lock lock(bigLock());
  const auto broken = device->handle_errno.find(to);
  if (broken != device->handle_errno.end() && broken->second != 0) {
    return fail<ibv_ah>(broken->second);
  }
  const PortConfig* port = device->port(attributes->port_num);
  if (port == nullptr || (port->ethernet && attributes->is_global == 0))
    return fail<ibv_ah>(EINVAL);
  auto* handle = new Handle;
  ibv_ah& base = *handle;
  base.context = domain->context;
  base.pd = domain;
  handle->attributes = *attributes;
  ++Domain::of(domain).users;
  ++live_objects;
  return handle;
}
int ibv_destroy_ah(ibv_ah* given) {
  const Lock lock(bigLock());
  --Domain::of(given->pd).users;
  --live_objects;
  delete static_cast<Handle*>(given);
  return 0;
}

const char* ibv_wc_status_str(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_SUCCESS:
      return "success";
    case IBV_WC_LOC_QP_OP_ERR:
      return "local QP operation error";
    case IBV_WC_REM_ACCESS_ERR:
      return "remote access error";
    case IBV_WC_REM_INV_REQ_ERR:
      return "remote invalid request error";
    case IBV_WC_RETRY_EXC_ERR:
      return "transport retry counter exceeded";
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return "RNR retry counter exceeded";
    case IBV_WC_WR_FLUSH_ERR:
      return "Work Request Flushed Error";
    default:
      return "another error";
  }
}

#pragma GCC visibility pop
}
