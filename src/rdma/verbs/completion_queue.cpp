#include "rdma/verbs/completion_queue.h"

#include <arpa/inet.h>
#include <fcntl.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "common/log.h"

namespace pingloom::rdma::verbs {
namespace {

constexpr std::uint64_t kWanted = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_SRC_QP |
                                  IBV_WC_EX_WITH_SLID | IBV_WC_EX_WITH_SL |
                                  IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;

// Returns nullptr if the driver has no such queue, even if the device claims support.
ibv_cq_ex* createExtended(ibv_context* context, ibv_comp_channel* channel, std::uint32_t entries) {
  ibv_cq_init_attr_ex attributes{};
  attributes.cqe = entries;
  attributes.channel = channel;
  attributes.wc_flags = kWanted;
  return ibv_create_cq_ex(context, &attributes);
}

Completion readExtended(ibv_cq_ex* queue) {
  Completion completion;
  completion.work_request = queue->wr_id;
  completion.status = queue->status;
  if (queue->status != IBV_WC_SUCCESS) return completion;
  completion.received = (ibv_wc_read_opcode(queue) & IBV_WC_RECV) != 0;
  completion.ticks = ibv_wc_read_completion_ts(queue);
  if (completion.received) {
    completion.flags = ibv_wc_read_wc_flags(queue);
    completion.bytes = ibv_wc_read_byte_len(queue);
    completion.source_qpn = ibv_wc_read_src_qp(queue);
    completion.source_lid = static_cast<std::uint16_t>(ibv_wc_read_slid(queue));
    completion.service_level = ibv_wc_read_sl(queue);
  }
  return completion;
}

Completion fromPlain(const ibv_wc& work, std::uint64_t ticks) {
  Completion completion;
  completion.work_request = work.wr_id;
  completion.status = work.status;
  if (work.status != IBV_WC_SUCCESS) return completion;
  completion.received = (work.opcode & IBV_WC_RECV) != 0;
  completion.flags = work.wc_flags;
  completion.bytes = work.byte_len;
  completion.source_qpn = work.src_qp;
  completion.source_lid = work.slid;
  completion.service_level = work.sl;
  completion.immediate = ntohl(work.imm_data);
  completion.ticks = ticks;
  return completion;
}

}  // namespace

Result<CompletionQueue> CompletionQueue::create(ibv_context* context, const DeviceDetails& device,
                                                std::uint32_t entries, bool hardware,
                                                const std::string& entity) {
  auto channel = createCompletionChannel(context, entity);
  if (!channel) return tl::unexpected(channel.error());
  const int fd = (*channel)->fd;
  if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) != 0) {
    return makeErrnoError(entity, "completion channel", errno);
  }
  if (hardware && device.hasHardwareTimestamps()) {
    if (ibv_cq_ex* made = createExtended(context, channel->get(), entries)) {
      return CompletionQueue(
          std::move(*channel), {ibv_cq_ex_to_cq(made), {"completion queue"}}, made,
          TickClock(ClockSource::kHardware, device.core_clock_khz, device.timestamp_mask));
    }
    if (errno == ENOMEM) return makeVerbsError(entity, "cannot make a completion queue", errno);
    log::warning(
        "{}: no completion queue with hardware timestamps: {}; software timestamps are used",
        entity, std::generic_category().message(errno));
  }
  ibv_cq* plain = ibv_create_cq(context, static_cast<int>(entries), nullptr, channel->get(), 0);
  if (plain == nullptr) return makeVerbsError(entity, "cannot make a completion queue", errno);
  return CompletionQueue(std::move(*channel), {plain, {"completion queue"}}, nullptr,
                         TickClock::nanoseconds(ClockSource::kSoftware));
}

int CompletionQueue::take(std::span<Completion, kBatch> into) {
  return extended_ != nullptr ? takeExtended(into) : takePlain(into);
}

int CompletionQueue::takePlain(std::span<Completion, kBatch> into) {
  std::array<ibv_wc, kBatch> work;
  const int got = ibv_poll_cq(queue_.get(), static_cast<int>(kBatch), work.data());
  if (got <= 0) return got;
  const auto now = static_cast<std::uint64_t>(monotonicNow());
  for (std::size_t i = 0; i < static_cast<std::size_t>(got); ++i) into[i] = fromPlain(work[i], now);
  return got;
}

int CompletionQueue::takeExtended(std::span<Completion, kBatch> into) {
  ibv_poll_cq_attr attributes{};
  int state = ibv_start_poll(extended_, &attributes);
  // ibv_start_poll() found nothing, so ibv_end_poll() must not be called
  if (state == ENOENT) return 0;
  if (state != 0) return -1;
  int got = 0;
  while (state == 0) {
    into[static_cast<std::size_t>(got++)] = readExtended(extended_);
    if (got == static_cast<int>(kBatch)) break;
    state = ibv_next_poll(extended_);
  }
  ibv_end_poll(extended_);
  return state == 0 || state == ENOENT ? got : -1;
}

Status CompletionQueue::arm() {
  const int failed = ibv_req_notify_cq(queue_.get(), 0);
  if (failed != 0) return makeErrnoError("", "cannot ask for completion events", failed);
  return {};
}

void CompletionQueue::takeEvents() {
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  unsigned taken = 0;
  while (ibv_get_cq_event(channel_.get(), &queue, &context) == 0) ++taken;
  // All taken events are acknowledged, because destroying the queue waits for that.
  if (taken != 0) ibv_ack_cq_events(queue_.get(), taken);
}

}  // namespace pingloom::rdma::verbs
