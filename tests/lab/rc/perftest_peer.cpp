// The other side of a real ib_read_lat, ib_write_lat or ib_atomic_lat, on a soft device: speaks
// what perftest's two sides say to each other over TCP, as its server, and answers its requests
// until it is done. Runs in the lab's guest.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "check.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/poll_set.h"
#include "common/time.h"
#include "rdma/soft/soft_device.h"

namespace {

using namespace pingloom;
using namespace pingloom::lab;
using namespace pingloom::rdma;

constexpr Nanos kMaxSilence = 60 * kSecond;
constexpr std::uint8_t kReads = 16;
constexpr int kConnectedGreetings = 3;  // the client has connected its queue pair before the third

// What each side says about its queue pair, colons between fixed numbers of hexadecimal digits:
// LID, READs at a time, QPN, PSN, rkey, address, the GID's bytes, SRQN, and a terminating zero.
struct Keys {
  static constexpr std::size_t kBytes = 108;
  static constexpr std::size_t kReadsAt = 5;
  static constexpr std::size_t kQpnAt = 10;
  static constexpr std::size_t kPsnAt = 17;
  static constexpr std::size_t kRkeyAt = 24;
  static constexpr std::size_t kAddressAt = 33;
  static constexpr std::size_t kGidAt = 50;

  RcAddress address;
  std::uint32_t rkey = 0;
  std::uint64_t memory = 0;

  std::string text() const {
    std::string made = fmt::format("{:04x}:{:04x}:{:06x}:{:06x}:{:08x}:{:016x}:", 0, address.reads,
                                   address.qpn, address.psn, rkey, memory);
    for (const std::uint8_t byte : address.gid.bytes) made += fmt::format("{:02x}:", byte);
    made += fmt::format("{:08x}:", 0);
    made.push_back('\0');
    require(made.size() == kBytes, "wrong length of keys");
    return made;
  }
  static Keys parse(const std::string& text, std::uint32_t mtu) {
    const auto number = [&](std::size_t at, std::size_t digits) {
      return std::stoull(text.substr(at, digits), nullptr, 16);
    };
    Keys keys;
    keys.address.mtu = mtu;
    keys.address.reads = static_cast<std::uint8_t>(number(kReadsAt, 4));
    keys.address.qpn = static_cast<std::uint32_t>(number(kQpnAt, 6));
    keys.address.psn = static_cast<std::uint32_t>(number(kPsnAt, 6));
    keys.rkey = static_cast<std::uint32_t>(number(kRkeyAt, 8));
    keys.memory = number(kAddressAt, 16);
    for (std::size_t i = 0; i < keys.address.gid.bytes.size(); ++i) {
      keys.address.gid.bytes[i] = static_cast<std::uint8_t>(number(kGidAt + 3 * i, 2));
    }
    return keys;
  }
};

UniqueFd accept(int port) {
  UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_port = htons(static_cast<std::uint16_t>(port));
  require(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&any), sizeof(any)) == 0 &&
              ::listen(listener.get(), 1) == 0,
          std::string("cannot listen: ") + std::strerror(errno));
  UniqueFd connection(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  require(connection.valid(), "nobody came");
  return connection;
}

class Server {
 public:
  // `writes`: how many messages it writes itself, each but the first in answer to one.
  Server(const std::string& address, std::uint32_t mtu, std::size_t size, std::uint64_t writes)
      : mtu_(mtu),
        size_(size),
        writes_(writes),
        memory_(std::max<std::size_t>(size, 8)),
        answer_(memory_.size()) {
    auto opened = soft::openSoftDevice(IpAddress::parse(address).value());
    if (!opened) fail(opened.error().text());
    device_ = std::move(*opened);
    domain_ = taken(device_->createDomain());
    const Access all = Access::kRead | Access::kWrite | Access::kAtomic;
    region_ = taken(domain_->registerMemory(memory_, all));
    answer_region_ = taken(domain_->registerMemory(answer_, Access::kNone));
    RcOptions options;
    options.access = all;
    options.mtu = mtu;
    options.reads = kReads;
    endpoint_ = taken(domain_->createRc(options));
  }

  void run(UniqueFd connection) {
    connection_ = std::move(connection);
    Nanos heard = monotonicNow();
    while (!ended_) {
      require(monotonicNow() - heard < kMaxSilence, "the other side is silent");
      PollSet<Wake> wakes;
      wakes.watch(Wake::kConnection, connection_.get());
      wakes.watch(Wake::kEndpoint, endpoint_->descriptor());
      wakes.wait(std::min(endpoint_->nextWake() - monotonicNow(), kSecond));
      if (auto polled = endpoint_->poll(events_); !polled) fail(polled.error().text());
      if (written_ < writes_ && isItsTurn()) write();
      if (wakes.ready(Wake::kConnection)) converse();
      if (wakes.ready(Wake::kConnection) || wakes.ready(Wake::kEndpoint)) heard = monotonicNow();
    }
    require(written_ == writes_, fmt::format("{} of {} messages written", written_, writes_));
    std::printf("%llu messages written, dropped:", static_cast<unsigned long long>(written_));
    for (const DropCount& drop : endpoint_->drops()) {
      if (drop.count != 0)
        std::printf(" %s %llu", std::string(drop.reason).c_str(),
                    static_cast<unsigned long long>(drop.count));
    }
    std::printf("\n");
  }

 private:
  enum class Wake { kConnection, kEndpoint, kCount };

  template <typename Made>
  static Made taken(Result<Made> made) {
    if (!made) fail(made.error().text());
    return std::move(*made);
  }

  // The client speaks first and waits for an answer each time. Versions, buffer sizes and MTUs are
  // to be equal, so they are given back; keys are exchanged several times, the first time counts.
  void converse() {
    std::array<char, 512> buffer{};
    const ssize_t got = ::recv(connection_.get(), buffer.data(), buffer.size(), 0);
    std::string message(buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    ended_ = message.empty() || message.starts_with("done");
    if (ended_) return;
    if (message.size() == Keys::kBytes) {
      ++greetings_;
      if (endpoint_->state() == RcState::kNew) connect(Keys::parse(message, mtu_));
      message = Keys{endpoint_->address(), region_->rkey(), region_->address()}.text();
    }
    require(::send(connection_.get(), message.data(), message.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(message.size()),
            "the TCP connection takes nothing");
  }

  void connect(const Keys& peer) {
    peer_ = peer;
    if (auto connected = endpoint_->connect(peer.address); !connected) {
      fail(connected.error().text());
    }
  }

  // ib_write_lat: the n-th message of each side ends with n, and the server's comes first.
  bool isItsTurn() const {
    return greetings_ >= kConnectedGreetings &&
           memory_[size_ - 1] == static_cast<std::uint8_t>(written_);
  }

  void write() {
    answer_[size_ - 1] = static_cast<std::uint8_t>(++written_);
    const LocalPiece piece{answer_region_.get(), std::span(answer_).first(size_)};
    RcRequest request;
    request.operation = RcOperation::kWrite;
    request.signalled = false;
    request.local = {&piece, 1};
    request.remote_address = peer_.memory;
    request.rkey = peer_.rkey;
    require(endpoint_->post(request) == PostResult::kPosted, "not posted");
    endpoint_->flush();
  }

  std::uint32_t mtu_;
  std::size_t size_;
  std::uint64_t writes_;
  std::vector<std::uint8_t> memory_;
  std::vector<std::uint8_t> answer_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Domain> domain_;
  std::unique_ptr<MemoryRegion> region_;
  std::unique_ptr<MemoryRegion> answer_region_;
  std::unique_ptr<RcEndpoint> endpoint_;
  UniqueFd connection_;
  Keys peer_;
  RcEvents events_;
  int greetings_ = 0;
  std::uint64_t written_ = 0;
  bool ended_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::printf("usage: perftest_peer ADDRESS TCP_PORT MTU SIZE WRITES\n");
    return 2;
  }
  log::init("perftest_peer", log::Level::kWarning);
  Server server(argv[1], static_cast<std::uint32_t>(std::stoul(argv[3])), std::stoul(argv[4]),
                std::stoull(argv[5]));
  server.run(accept(std::stoi(argv[2])));
  return 0;
}
