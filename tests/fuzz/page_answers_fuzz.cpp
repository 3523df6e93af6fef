// Whatever answers an application's page library over the unix socket, it takes it for what was
// asked or hangs up, and comes back. The input is a row of answers, each after a word (u16): its
// length, in the highest bits what comes with it (nothing, a page's memfd, memory that is not
// sealed, or both). An answer's own length, magic and version are given the right values unless its
// first byte is 0, which a fuzzer guesses too seldom. A word of 0 has the application remove a
// metric and make another one.
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "pages/client/session.h"

namespace {

using namespace pingloom;
using namespace pingloom::pages;
using client::PageRequest;

void demand(bool holds) {
  if (!holds) std::abort();
}

struct Socket {
  Socket() : listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    unlink(path.c_str());
    demand(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    demand(listen(listener.get(), 16) == 0);
  }
  std::string path = "/tmp/pingloom-fuzz-answers-" + std::to_string(getpid()) + ".sock";
  UniqueFd listener;
};

class Application {
 public:
  explicit Application(const Socket& socket)
      : socket_(socket), session_(socket.path, "fuzzed", {}) {
    auto page = std::make_unique<client::Page>(1, 0, client::PageMemory::make());
    pages_.push_back(std::move(page));
    for (int i = 0; i < 2; ++i) make();
  }

  void replace() {
    client::Page& page = *pages_[0];
    page.remove(metrics_.front(), now_);
    metrics_.pop_front();
    now_ += client::MetricTable::kRest / 30;
    page.sweep(now_);
    make();
  }

  void receive(std::span<const std::uint8_t> message, std::span<const int> descriptors) {
    step();
    iovec part{const_cast<std::uint8_t*>(message.data()), message.size()};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> control{};
    if (!descriptors.empty()) {
      header.msg_control = control.data();
      header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
      cmsghdr* passed = CMSG_FIRSTHDR(&header);
      passed->cmsg_level = SOL_SOCKET;
      passed->cmsg_type = SCM_RIGHTS;
      passed->cmsg_len = CMSG_LEN(descriptors.size_bytes());
      std::memcpy(CMSG_DATA(passed), descriptors.data(), descriptors.size_bytes());
    }
    if (peer_.valid()) sendmsg(peer_.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    step();
  }

 private:
  void make() {
    const std::string name = "counter_" + std::to_string(++made_);
    pingloom_metric metric{};
    metric.name = name.c_str();
    client::Definition made;
    demand(client::makeDefinition(metric, {PINGLOOM_COUNTER}, {}, {}, &made).ok());
    if (pages_[0]->hasRoom(made)) metrics_.push_back(pages_[0]->add(std::move(made)));
    demand(!metrics_.empty());
  }
  void step() {
    if (session_.fd() < 0) now_ = std::max(now_, session_.nextStep(now_));
    if (!session_.request().waiting() && session_.mayGrant()) session_.request(++number_, 0);
    session_.step(now_, pages_);
    now_ += std::chrono::milliseconds(1);
    UniqueFd accepted(accept4(socket_.listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (accepted.valid()) peer_ = std::move(accepted);
    std::array<std::uint8_t, 1024> heard;
    while (peer_.valid() && recv(peer_.get(), heard.data(), heard.size(), MSG_DONTWAIT) > 0) {
    }
    check();
  }
  void check() {
    const client::Page& page = *pages_[0];
    demand(session_.fd() >= 0 || !session_.registered());
    demand(page.standing() != client::Standing::kKnown || session_.registered());
    demand(page.metrics() == metrics_.size() && page.knownMetrics() <= page.metrics());
    const PageRequest& request = session_.request();
    demand(request.state != PageRequest::State::kGranted || request.memory.page() != nullptr);
    for (const client::Outcome& trouble : session_.takeTroubles())
      demand(trouble.text.size() < 512);
  }

  const Socket& socket_;
  client::Session session_;
  client::PageList pages_;
  client::Instant now_{std::chrono::hours(1)};
  std::uint32_t number_ = 1;
  std::deque<client::MetricNumber> metrics_;  // in the page, the oldest first
  int made_ = 0;
  UniqueFd peer_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Socket socket;
  Application application(socket);
  std::span<const std::uint8_t> left(data, size);
  while (left.size() > 2) {
    const std::size_t word = left[0] | static_cast<std::size_t>(left[1]) << 8;
    left = left.subspan(2);
    if (word == 0) {
      application.replace();
      continue;
    }
    const auto raw = left.first(std::min<std::size_t>(word & 0x3FFF, left.size()));
    left = left.subspan(raw.size());
    std::vector<std::uint8_t> message(raw.begin(), raw.end());
    Head head;
    if (raw.size() >= sizeof head && raw[0] != 0) {
      const Head right;
      std::memcpy(&head, raw.data(), sizeof head);
      head.magic = right.magic;
      head.version = right.version;
      head.length = static_cast<std::uint32_t>(raw.size() - sizeof head);
      std::memcpy(message.data(), &head, sizeof head);
    }
    const client::PageMemory page =
        (word & 0x4000) != 0 ? client::PageMemory::make() : client::PageMemory();
    UniqueFd open((word & 0x8000) != 0 ? memfd_create("open", MFD_CLOEXEC) : -1);
    std::vector<int> descriptors;
    if (page.fd() >= 0) descriptors.push_back(page.fd());
    if (open.valid()) descriptors.push_back(open.get());
    application.receive(message, descriptors);
  }
  return 0;
}
