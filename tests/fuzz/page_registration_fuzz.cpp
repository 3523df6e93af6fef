// Whatever an application says over the unix socket, the agent's side serves or refuses it, and
// when the application has gone, so have its pages. The input is a row of messages, each after its
// length (u16); the highest bit of the length passes a page's memfd with it. A message whose own
// length is free is given the right one, which a fuzzer guesses too seldom.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "pages/memfd_page.h"
#include "pages/page_pool.h"
#include "pages/registration_server.h"
#include "pages/registration_socket.h"
#include "plain_device.h"

namespace {

using namespace pingloom;

struct Host {
  Host() {
    pages::PoolLimits limits;
    limits.pages = limits.pages_per_user = 32;
    pool = std::move(*pages::PagePool::create(device, 1, limits));
    pages::RegistrationOptions options;
    options.socket = path;
    server = std::move(*pages::RegistrationServer::create(options, *pool));
  }
  std::string path = "/tmp/pingloom-fuzz-" + std::to_string(getpid()) + ".sock";
  fuzz::PlainDevice device;
  std::unique_ptr<pages::PagePool> pool;
  std::unique_ptr<pages::RegistrationServer> server;
  Nanos now = kSecond;
};

UniqueFd connectTo(const Host& host) {
  UniqueFd made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, host.path.data(), host.path.size());
  if (connect(made.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) std::abort();
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Host host;
  {
    const UniqueFd client = connectTo(host);
    std::span<const std::uint8_t> left(data, size);
    while (left.size() > 2) {
      const std::size_t word = left[0] | static_cast<std::size_t>(left[1]) << 8;
      left = left.subspan(2);
      const auto raw = left.first(std::min<std::size_t>(word & 0x7FFF, left.size()));
      left = left.subspan(raw.size());
      pages::Head head;
      std::vector<std::uint8_t> body(raw.begin(), raw.end());
      if (raw.size() >= sizeof head) {
        std::memcpy(&head, raw.data(), sizeof head);
        body.erase(body.begin(), body.begin() + sizeof head);
        head.length = static_cast<std::uint32_t>(body.size());
      }
      const auto page = (word & 0x8000) != 0 ? pages::makeMemfdPage() : UniqueFd();
      pages::sendDatagram(client.get(), head, body, page ? page->get() : -1);
      host.server->work(host.now += kMillisecond);
      if (!host.pool->work(host.now)) std::abort();
      if (host.pool->retiring()) host.pool->retire();
      std::vector<std::uint8_t> answer(pages::kMaxMessageBytes);
      while (pages::receiveDatagram(client.get(), answer).bytes > 0) {
      }
    }
  }
  // A turn to take it in, where it said nothing, and one to see that it has gone.
  for (int turn = 0; turn < 3; ++turn) host.server->work(host.now += kMillisecond);
  if (host.pool->livePages() != 0 || host.server->connections() != 0) std::abort();
  return 0;
}
