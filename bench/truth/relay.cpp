#include "truth/relay.h"

#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <vector>

#include "common/poll_set.h"
#include "truth/packet_socket.h"

namespace pingloom::truth {
namespace {

constexpr std::size_t kMaxFrame = 66'000;  // a veth hands over no more in one piece
constexpr std::size_t kMaxWaiting = 100'000;

struct Frame {
  std::vector<std::uint8_t> bytes;
  int to;
  Nanos leaves_utc;
};

class Relay {
 public:
  Relay(UniqueFd one, UniqueFd other, Nanos delay)
      : one_(std::move(one)), other_(std::move(other)), delay_(delay) {}

  void run(int stop) {
    for (;;) {
      PollSet<Wake> wakes;
      wakes.watch(Wake::kStop, stop);
      wakes.watch(Wake::kOne, one_.get());
      wakes.watch(Wake::kOther, other_.get());
      if (!wakes.wait(waiting_.empty() ? kHour : waiting_.front().leaves_utc - utcNow())) continue;
      if (wakes.ready(Wake::kStop)) return;
      if (wakes.ready(Wake::kOne)) receive(one_.get(), other_.get());
      if (wakes.ready(Wake::kOther)) receive(other_.get(), one_.get());
      send();
    }
  }

 private:
  enum class Wake { kStop, kOne, kOther, kCount };

  void receive(int from, int to) {
    alignas(cmsghdr) std::array<std::uint8_t, 256> control;
    for (;;) {
      sockaddr_ll source{};
      iovec data{buffer_.data(), buffer_.size()};
      msghdr message{&source, sizeof source, &data, 1, control.data(), control.size(), 0};
      const ssize_t got = recvmsg(from, &message, 0);
      if (got < 0) return;
      if (source.sll_pkttype == PACKET_OUTGOING || waiting_.size() >= kMaxWaiting) continue;
      waiting_.push_back(
          {{buffer_.begin(), buffer_.begin() + got}, to, timestampOf(message) + delay_});
    }
  }
  void send() {
    while (!waiting_.empty() && waiting_.front().leaves_utc <= utcNow()) {
      const Frame& frame = waiting_.front();
      // A frame that cannot be sent is lost, as on any network.
      [[maybe_unused]] const auto sent =
          ::send(frame.to, frame.bytes.data(), frame.bytes.size(), 0);
      waiting_.pop_front();
    }
  }

  UniqueFd one_;
  UniqueFd other_;
  Nanos delay_;
  std::vector<std::uint8_t> buffer_ = std::vector<std::uint8_t>(kMaxFrame);
  std::deque<Frame> waiting_;  // frames in both directions, which wait equally long
};

}  // namespace

Status relay(const std::string& one, const std::string& other, Nanos delay, int stop) {
  auto first = openPacketSocket(one, ETH_P_ALL);
  if (!first) return tl::unexpected(first.error());
  auto second = openPacketSocket(other, ETH_P_ALL);
  if (!second) return tl::unexpected(second.error());
  const int on = 1;
  for (const UniqueFd* socket : {&*first, &*second}) {
    if (setsockopt(socket->get(), SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on) != 0) {
      return makeErrnoError(one, "cannot keep checksums as they are", errno);
    }
  }
  prctl(PR_SET_TIMERSLACK, 1UL);
  std::puts("ready");
  std::fflush(stdout);
  Relay(std::move(*first), std::move(*second), delay).run(stop);
  return {};
}

}  // namespace pingloom::truth
