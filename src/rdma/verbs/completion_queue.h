// A completion queue with its channel, and with the NIC's timestamps if the device has them. One
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "common/tick_clock.h"
#include "rdma/device_details.h"
#include "rdma/verbs/handles.h"

namespace pingloom::rdma::verbs {

struct Completion {
  std::uint64_t work_request = 0;
  ibv_wc_status status = IBV_WC_SUCCESS;
  // The fields below are valid only if it succeeded.
  bool received = false;
  unsigned flags = 0;       // IBV_WC_GRH, IBV_WC_WITH_IMM
  std::uint32_t bytes = 0;  // received bytes, including the 40 of the header
  std::uint32_t source_qpn = 0;
  std::uint16_t source_lid = 0;
  std::uint8_t service_level = 0;
  std::uint32_t immediate = 0;  // host byte order; only from queues with software timestamps
  std::uint64_t ticks = 0;      // on clock()
};

class CompletionQueue {
 public:
  static constexpr std::size_t kBatch = 16;

  // Uses hardware timestamps if `device` has them and `hardware` is set.
  static Result<CompletionQueue> create(ibv_context* context, const DeviceDetails& device,
                                        std::uint32_t entries, bool hardware,
                                        const std::string& entity);

  ibv_cq* get() const { return queue_.get(); }
  const TickClock& clock() const { return clock_; }
  int descriptor() const { return channel_->fd; }

  // Takes up to kBatch completions; it takes fewer only if there are no more. A negative result
  // means that the queue is broken. A software timestamp is the time of this call.
  int take(std::span<Completion, kBatch> into);
  // Makes the descriptor readable at the next completion. Earlier completions may not do so; call
  // take() again afterwards.
  Status arm();
  // Takes the events that made the descriptor readable.
  void takeEvents();

 private:
  CompletionQueue(CompletionChannel channel, CompletionQueueHandle queue, ibv_cq_ex* extended,
                  const TickClock& clock)
      : channel_(std::move(channel)),
        queue_(std::move(queue)),
        extended_(extended),
        clock_(clock) {}

  int takePlain(std::span<Completion, kBatch> into);
  int takeExtended(std::span<Completion, kBatch> into);

  CompletionChannel channel_;
  CompletionQueueHandle queue_;
  ibv_cq_ex* extended_;  // the same queue if it has timestamps, otherwise nullptr
  TickClock clock_;
};

}  // namespace pingloom::rdma::verbs
