// A UD endpoint on a libibverbs device; follows the contract of rdma::UdEndpoint. Memory: 512 sends
// of one MTU and, within 6 MiB, 512 to 4,096 receive buffers. Each buffer has room for the largest
// packet that the link carries, because a larger datagram would put the queue pair into the error
// state. If that happens, or another completion fails, poll() returns an error, and the owner has
// to create a new endpoint.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/fd.h"
#include "rdma/device.h"
#include "rdma/device_details.h"
#include "rdma/soft/trace_sockets.h"
#include "rdma/verbs/address_handles.h"
#include "rdma/verbs/completion_queue.h"
#include "rdma/verbs/quirks.h"
#include "rdma/verbs/receive_ring.h"
#include "rdma/verbs/send_ring.h"

namespace pingloom::rdma::verbs {

class VerbsUdEndpoint final : public UdEndpoint {
 public:
  static constexpr std::uint32_t kSends = 512;
  static constexpr std::size_t kReceiveBytes = 6U << 20;
  static constexpr std::uint32_t kMinReceives = 512;
  static constexpr std::uint32_t kMaxReceives = 4096;
  static constexpr std::size_t kMaxPerPoll = 256;  // completions
  // Some drivers (kernel Soft-RoCE) report nothing when their device is removed, and the removal
  // waits until it is closed. Therefore the endpoint checks at this interval whether the device
  // still exists.
  static constexpr Nanos kLookApart = kSecond / 2;

  // REQUIRES: `port` and `gid` belong to `details`.
  static Result<std::unique_ptr<UdEndpoint>> create(ibv_device* device,
                                                    const DeviceDetails& details,
                                                    const PortDetails& port, const GidDetails& gid,
                                                    const UdOptions& options);

  const UdAddress& address() const override { return address_; }
  const TickClock& clock() const override { return completions_.clock(); }
  std::size_t maxPayload() const override { return mtu_; }
  void prepare(const UdPath& path) override;
  void recheck(const UdPath& path) override;
  std::optional<std::uint16_t> sourcePort(const UdPath& path) const override;
  PostResult post(const UdMessage& message) override;
  void flush() override;
  int descriptor() const override { return events_.get(); }
  Status poll(UdEvents& events) override;
  Nanos nextWake() const override;
  std::vector<DropCount> drops() const override;

 private:
  struct Place {
    std::string entity;  // names it in errors, e.g. "mlx5_0 port 1"
    std::uint8_t port = 1;
    bool roce = true;
    GidDetails gid;
    PortChoice port_choice = PortChoice::kUnknown;
    std::uint32_t flow_label = 0;  // of messages that set none
  };
  struct Drops {
    std::uint64_t truncated = 0;
    std::uint64_t no_header = 0;
    std::uint64_t not_posted = 0;
    std::uint64_t invalid = 0;
  };

  VerbsUdEndpoint(std::shared_ptr<OpenedDevice> device, Place place, const PathDefaults& defaults,
                  const UdAddress& address, std::uint32_t mtu, bool busy,
                  CompletionQueue completions, SendRing sends, ReceiveRing receives,
                  QueuePairHandle queue_pair, std::unique_ptr<soft::TraceSockets> traces,
                  UniqueFd events);

  PostResult postLimited(const UdMessage& message);
  std::uint32_t labelOf(const UdPath& path) const {
    return path.flow_label != 0 ? path.flow_label : place_.flow_label;
  }
  std::uint32_t ipv6LabelOf(const UdPath& path) const;
  Status takeEvents();
  Status look(Nanos now_mono);
  Status takeCompletions(UdEvents& events);
  void handle(const Completion& completion, UdEvents& events);
  void handleReceived(const Completion& completion, UdEvents& events);
  void handleFailed(const Completion& completion, UdEvents& events);

  // The members are in this order because they must be destroyed in reverse.
  std::shared_ptr<OpenedDevice> device_;
  Place place_;
  UdAddress address_;
  std::uint32_t mtu_;
  bool busy_;
  AddressHandles handles_;
  CompletionQueue completions_;
  SendRing sends_;
  ReceiveRing receives_;
  QueuePairHandle queue_pair_;
  std::unique_ptr<soft::TraceSockets> traces_;  // nullptr where no source port is known
  UniqueFd events_;  // epoll of the completion channel, asynchronous events, and `traces_`

  bool armed_ = false;
  std::uint32_t polls_ = 0;
  Nanos look_at_ = 0;
  int refused_ = 0;  // the device's error number for a refused message, or 0
  // What the next poll() reports: messages that the device refused, or that `traces_` has sent.
  std::vector<UdSent> ended_;
  std::optional<Error> failure_;
  Drops drops_;
};

}  // namespace pingloom::rdma::verbs
