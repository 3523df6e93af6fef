// The other side of a real ibv_ud_pingpong, on a soft device: exchanges addresses over TCP as that
// program does, then answers its messages (server) or sends it some and checks what comes back
// (client). Runs in the lab's guest.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "common/fd.h"
#include "common/log.h"
#include "common/time.h"
#include "rdma/soft/soft_device.h"

namespace {

using namespace pingloom;
using namespace pingloom::rdma;

constexpr std::uint32_t kQKey = 0x11111111;  // the one that ibv_ud_pingpong has
constexpr Nanos kMaxSilence = 10 * kSecond;

[[noreturn]] void fail(const std::string& why) {
  std::printf("FAILED: %s\n", why.c_str());
  std::exit(1);
}
void require(bool holds, const std::string& why) {
  if (!holds) fail(why);
}

// The TCP connection: each side says "LID:QPN:PSN:GID" in hexadecimal, the client first; then the
// client says "done". Terminating zeros are sent too.
class Greeting {
 public:
  static constexpr std::size_t kBytes =
      sizeof("0000:000000:000000:00000000000000000000000000000000");
  static constexpr std::string_view kDone{"done", 5};

  explicit Greeting(UniqueFd connection) : connection_(std::move(connection)) {
    const timeval limit{10, 0};
    ::setsockopt(connection_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  }
  void tell(const UdAddress& own) {
    std::string text = fmt::format("0000:{:06x}:{:06x}:", own.qpn, 0);
    for (const std::uint8_t byte : own.gid.bytes) text += fmt::format("{:02x}", byte);
    send({text.c_str(), text.size() + 1});
  }
  UdAddress hear() {
    const std::string text = receive(kBytes);
    UdAddress peer;
    peer.qpn = static_cast<std::uint32_t>(std::stoul(text.substr(5, 6), nullptr, 16));
    peer.q_key = kQKey;
    for (std::size_t i = 0; i < peer.gid.bytes.size(); ++i) {
      peer.gid.bytes[i] =
          static_cast<std::uint8_t>(std::stoul(text.substr(19 + 2 * i, 2), nullptr, 16));
    }
    return peer;
  }
  void done() { send(kDone); }
  void waitForDone() { receive(kDone.size()); }

 private:
  void send(std::string_view bytes) {
    require(::send(connection_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(bytes.size()),
            "the TCP connection takes nothing");
  }
  std::string receive(std::size_t size) {
    std::string bytes(size, '\0');
    require(
        ::recv(connection_.get(), bytes.data(), size, MSG_WAITALL) == static_cast<ssize_t>(size),
        "the TCP connection ended, or stayed silent");
    return bytes;
  }
  UniqueFd connection_;
};

sockaddr_in tcpAddress(const char* address, int port) {
  sockaddr_in made{};
  made.sin_family = AF_INET;
  made.sin_port = htons(static_cast<std::uint16_t>(port));
  require(::inet_pton(AF_INET, address, &made.sin_addr) == 1, "an IPv4 address for TCP");
  return made;
}

UniqueFd accept(int port) {
  UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in any = tcpAddress("0.0.0.0", port);
  const bool listens =
      ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&any), sizeof(any)) == 0 &&
      ::listen(listener.get(), 1) == 0;
  require(listens, std::string("cannot listen: ") + std::strerror(errno));
  UniqueFd connection(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  require(connection.valid(), "nobody came");
  return connection;
}

UniqueFd connect(const char* server, int port) {
  UniqueFd connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in to = tcpAddress(server, port);
  require(::connect(connection.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0,
          std::string("cannot connect: ") + std::strerror(errno));
  return connection;
}

class Peer {
 public:
  explicit Peer(const char* address) {
    auto opened = soft::openSoftDevice(IpAddress::parse(address).value());
    if (!opened) fail(opened.error().text());
    device_ = std::move(*opened);
    UdOptions options;
    options.q_key = kQKey;
    auto made = device_->createUd(options);
    if (!made) fail(made.error().text());
    endpoint_ = std::move(*made);
  }
  const UdAddress& address() const { return endpoint_->address(); }

  void send(const UdAddress& to, std::span<const std::uint8_t> payload) {
    UdMessage message;
    message.path.gid = to.gid;
    message.qpn = to.qpn;
    message.q_key = to.q_key;
    message.payload = payload;
    require(endpoint_->post(message) == PostResult::kPosted, "not posted");
    endpoint_->flush();
  }
  // The payload of the next message from this peer.
  std::vector<std::uint8_t> receive(const UdAddress& from) {
    const Nanos end = monotonicNow() + kMaxSilence;
    while (monotonicNow() < end) {
      pollfd readable{endpoint_->descriptor(), POLLIN, 0};
      ::poll(&readable, 1, endpoint_->nextWake() <= monotonicNow() ? 0 : 100);
      if (auto polled = endpoint_->poll(events_); !polled) fail(polled.error().text());
      for (const UdReceived& got : events_.received) {
        require(got.from.gid == from.gid && got.qpn == from.qpn, "a message from somebody else");
        return {got.payload.begin(), got.payload.end()};
      }
    }
    std::string drops;
    for (const DropCount& drop : endpoint_->drops()) {
      if (drop.count != 0) drops += fmt::format(" {} {}", drop.reason, drop.count);
    }
    fail("no message; dropped:" + drops);
  }

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<UdEndpoint> endpoint_;
  UdEvents events_;
};

void serve(Peer& peer, int port, int rounds, std::size_t size) {
  Greeting greeting(accept(port));
  const UdAddress client = greeting.hear();
  greeting.tell(peer.address());
  greeting.waitForDone();
  for (int round = 0; round < rounds; ++round) {
    const auto message = peer.receive(client);
    require(message.size() == size, fmt::format("{} bytes", message.size()));
    peer.send(client, message);
  }
}

// That program sends back what it was sent. With -c it wants the first byte to be 0.
void ask(Peer& peer, const char* server, int port, int rounds, std::size_t size) {
  Greeting greeting(connect(server, port));
  greeting.tell(peer.address());
  const UdAddress at = greeting.hear();
  greeting.done();
  std::vector<std::uint8_t> message(size);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 1; i < size; ++i) message[i] = static_cast<std::uint8_t>(i * 7 + round);
    peer.send(at, message);
    require(peer.receive(at) == message, "what came back is not what was sent");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5 || argc > 6) {
    std::printf("usage: ud_pingpong_peer ADDRESS TCP_PORT ROUNDS SIZE [SERVER]\n");
    return 2;
  }
  log::init("ud_pingpong_peer", log::Level::kInfo);
  Peer peer(argv[1]);
  const int port = std::atoi(argv[2]);
  const int rounds = std::atoi(argv[3]);
  const auto size = static_cast<std::size_t>(std::atoi(argv[4]));
  require(port > 0 && rounds > 0 && size > 0, "numbers above 0");
  if (argc == 5) {
    serve(peer, port, rounds, size);
  } else {
    ask(peer, argv[5], port, rounds, size);
  }
  std::printf("%d rounds of %zu bytes\n", rounds, size);
  return 0;
}
