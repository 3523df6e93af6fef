// An RC endpoint on a libibverbs device; follows the contract of rdma::RcEndpoint.
// A queue pair can be in the error state without any event: Soft-RoCE reports nothing when a peer's
// request was refused, and a device may lose a completion. Therefore each request has a deadline
// beyond all retries of the device, and the state of the queue pair is queried every kLookApart
// while requests are in flight, otherwise every kIdleLookApart. When an endpoint fails, its queue
// pair is destroyed, so that the device does not write to the memory of its requests any more.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/fd.h"
#include "rdma/rc_endpoint.h"
#include "rdma/verbs/device_query.h"
#include "rdma/verbs/rc_connecting.h"
#include "rdma/verbs/rc_domain.h"
#include "rdma/verbs/rc_receive_queue.h"
#include "rdma/verbs/rc_send_queue.h"

namespace pingloom::rdma::verbs {

class VerbsRcEndpoint final : public RcEndpoint {
 public:
  static constexpr std::size_t kMaxPerPoll = 256;  // completions
  static constexpr Nanos kLookApart = kSecond / 2;
  static constexpr Nanos kIdleLookApart = 5 * kSecond;
  // A request's deadline allows for all retries, for a transfer at this speed ...
  static constexpr std::uint64_t kSlowestBytesPerSecond = 1'000'000;
  static constexpr Nanos kDeadlineSlack = kSecond;      // ... and for delays of the device
  static constexpr Nanos kReceiverSlack = 5 * kSecond;  // a peer's RNR timer is up to 0.66 s

  // REQUIRES: `port` belongs to the domain's device.
  static Result<std::unique_ptr<RcEndpoint>> create(std::shared_ptr<RcDomain> domain,
                                                    const PortDetails& port, const GidDetails& gid,
                                                    const RcOptions& options);
  ~VerbsRcEndpoint() override;
  VerbsRcEndpoint(const VerbsRcEndpoint&) = delete;
  VerbsRcEndpoint& operator=(const VerbsRcEndpoint&) = delete;

  const RcAddress& address() const override { return address_; }
  RcState state() const override { return state_; }
  Status connect(const RcAddress& peer) override;
  Status startConnect(const RcAddress& peer) override;
  PostResult post(const RcRequest& request) override;
  void flush() override;
  int descriptor() const override { return events_.get(); }
  Status poll(RcEvents& events) override;
  Nanos nextWake() const override;
  std::vector<DropCount> drops() const override;

 private:
  struct Drops {
    std::uint64_t send = 0;        // SENDs, which a peer must not send
    std::uint64_t completion = 0;  // completions of requests that are not in flight
  };

  VerbsRcEndpoint(std::shared_ptr<RcParts> parts, const RcOptions& options,
                  const PathDefaults& path, std::uint32_t most_reads, const RcAddress& address,
                  UniqueFd events);

  const RcDomain& domain() const { return *parts_->domain; }
  ibv_qp* queuePair() const { return parts_->queue_pair.get(); }  // nullptr after a failure
  Status check(const RcAddress& peer) const;
  RcConnection connectionTo(const RcAddress& peer) const;
  Status connected(const Status& result);
  Status takeEvents();
  Status look(Nanos now_mono);
  Status takeCompletions(Nanos now_mono, RcEvents& events);
  void handle(const Completion& completion, RcEvents& events);
  void handleFailed(const Completion& completion, RcEvents& events);
  void handleReceived(const Completion& completion, RcEvents& events);
  void setDeadline(Nanos now_mono);
  void endQueuePair(RcEvents& events);
  // Completes all requests; the oldest one with `first`, unless the device reported its status.
  void fail(const std::string& reason, RcStatus first, RcEvents& events);

  std::shared_ptr<RcParts> parts_;
  RcOptions options_;
  PathDefaults path_;
  std::uint32_t most_reads_;  // this device's limit as a requester
  RcAddress address_;
  RcSendQueue sends_;
  RcReceiveQueue receives_;
  std::shared_ptr<RcConnecting> connecting_;  // nullptr while no thread uses the queue pair
  UniqueFd events_;  // epoll of the completion channel, asynchronous events and connecting_

  RcState state_ = RcState::kNew;
  bool armed_ = false;
  std::uint32_t polls_ = 0;
  bool more_ = false;  // whether completions are left
  Nanos look_at_ = 0;
  Nanos ask_at_ = 0;  // when to query the state of the queue pair
  Nanos deadline_ = kNever;
  int refused_ = 0;  // the device's error number for a refused request, or 0
  std::string bad_completion_;
  std::string failure_;
  Drops drops_;
};

}  // namespace pingloom::rdma::verbs
