// An RC endpoint on a libibverbs device. The contract is rdma::RcEndpoint's.
//
// A queue pair can be in error without a word: Soft-RoCE says nothing when a peer's request was
// refused, and a device may lose a completion. So each request has a deadline beyond all retries of
// the device, and while requests are under way the queue pair is asked every kLookApart whether it
// still works; every kIdleLookApart where there are none. When an endpoint fails, its queue pair is
// destroyed: nothing is written to the memory of its requests from then on.
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
  // A request's deadline has room for a transfer at this speed beside all retries...
  static constexpr std::uint64_t kSlowestBytesPerSecond = 1'000'000;
  static constexpr Nanos kDeadlineSlack = kSecond;      // ... and for the device
  static constexpr Nanos kReceiverSlack = 5 * kSecond;  // a peer names its RNR timer: to 0.66 s

  // `port` is one of the domain's device.
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
    std::uint64_t send = 0;        // a SEND, which nobody asked the peer for
    std::uint64_t completion = 0;  // of nothing that is under way
  };

  VerbsRcEndpoint(std::shared_ptr<RcParts> parts, const RcOptions& options,
                  const PathDefaults& path, std::uint32_t most_reads, const RcAddress& address,
                  UniqueFd events);

  const RcDomain& domain() const { return *parts_->domain; }
  ibv_qp* queuePair() const { return parts_->queue_pair.get(); }  // nullptr: it has failed
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
  // Ends everything; the oldest request with `first`, unless the device has said what became of it.
  void fail(const std::string& reason, RcStatus first, RcEvents& events);

  std::shared_ptr<RcParts> parts_;
  RcOptions options_;
  PathDefaults path_;
  std::uint32_t most_reads_;  // of this device, as a requester
  RcAddress address_;
  RcSendQueue sends_;
  RcReceiveQueue receives_;
  std::shared_ptr<RcConnecting> connecting_;  // nullptr: its thread does not have the queue pair
  UniqueFd events_;  // an epoll of completion channel, asynchronous events and connecting_

  RcState state_ = RcState::kNew;
  bool armed_ = false;
  std::uint32_t polls_ = 0;
  bool more_ = false;  // completions are left
  Nanos look_at_ = 0;
  Nanos ask_at_ = 0;  // the queue pair, whether it works
  Nanos deadline_ = kNever;
  int refused_ = 0;  // why the device did not take a request; 0: it took all
  std::string bad_completion_;
  std::string failure_;
  Drops drops_;
};

}  // namespace pingloom::rdma::verbs
