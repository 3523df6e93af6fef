// A soft device whose interface changes: the loopback interface of a network namespace that each
// case makes for itself, in a process of its own.
#include "rdma/soft/interface_watch.h"

#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "soft_rc_host.h"

namespace pingloom::rdma::soft::interface_watch_test {
namespace {

const IpAddress kOwn = IpAddress::fromV4(0x7F000001);

class Loopback {
 public:
  bool setUp(bool up) {
    ifreq request = named();
    if (ioctl(socket_.get(), SIOCGIFFLAGS, &request) != 0) return false;
    request.ifr_flags =
        static_cast<short>(up ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP);
    return ioctl(socket_.get(), SIOCSIFFLAGS, &request) == 0;
  }
  bool setMtu(int mtu) {
    ifreq request = named();
    request.ifr_mtu = mtu;
    return ioctl(socket_.get(), SIOCSIFMTU, &request) == 0;
  }

 private:
  static ifreq named() {
    ifreq request{};
    std::string("lo").copy(request.ifr_name, sizeof request.ifr_name - 1);
    return request;
  }
  UniqueFd socket_{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
};

constexpr int kNotPermitted = 77;

// Runs `story` in a child with a network of its own, whose loopback interface is up. The story
// returns what is wrong, or "".
void inOwnNetwork(const std::function<std::string(Loopback&)>& story) {
  const pid_t child = fork();
  if (child == 0) {
    const int user = geteuid() == 0 ? 0 : CLONE_NEWUSER;
    if (unshare(CLONE_NEWNET | user) != 0) _exit(kNotPermitted);
    Loopback loopback;
    if (!loopback.setUp(true)) _exit(kNotPermitted);
    const std::string wrong = story(loopback);
    if (!wrong.empty()) fprintf(stderr, "%s\n", wrong.c_str());
    _exit(wrong.empty() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNotPermitted) GTEST_SKIP() << "no network namespaces here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Polls the endpoint until it fails. Returns why it did, or "".
template <typename Endpoint, typename Events>
std::string failureOf(Endpoint& endpoint, Events& events) {
  const Nanos deadline = monotonicNow() + kSecond;
  while (monotonicNow() < deadline) {
    if (const Status polled = endpoint.poll(events); !polled) return polled.error().reason;
    usleep(1000);
  }
  return "";
}

std::string failsWhen(const std::function<bool(Loopback&)>& change, const std::string& word) {
  auto device = openSoftDevice(kOwn);
  if (!device) return device.error().text();
  auto endpoint = (*device)->createUd({});
  if (!endpoint) return endpoint.error().text();
  UdEvents events;
  if (const Status polled = (*endpoint)->poll(events); !polled) return polled.error().text();
  Loopback loopback;
  if (!change(loopback)) return "the interface cannot be changed";
  const std::string why = failureOf(**endpoint, events);
  return why.find(word) != std::string::npos ? "" : "it failed with '" + why + "'";
}

TEST(SoftInterface, ALinkThatGoesDownEndsTheEndpoint) {
  inOwnNetwork([](Loopback& loopback) -> std::string {
    const auto down = [](Loopback& own) { return own.setUp(false); };
    if (std::string wrong = failsWhen(down, "link of lo is down"); !wrong.empty()) return wrong;
    if (openSoftDevice(kOwn)) return "a device opens on a link that is down";
    loopback.setUp(true);
    return openSoftDevice(kOwn) ? "" : "no device opens once the link is up";
  });
}

TEST(SoftInterface, AnotherMtuEndsTheEndpointAndTheNextOneHasIt) {
  inOwnNetwork([](Loopback&) -> std::string {
    const auto smaller = [](Loopback& own) { return own.setMtu(1500); };
    if (std::string wrong = failsWhen(smaller, "has changed from 65536 to 1500"); !wrong.empty()) {
      return wrong;
    }
    auto device = openSoftDevice(kOwn);
    return device && (*device)->info().mtu == 1024 ? "" : "the next one has another MTU";
  });
}

TEST(SoftInterface, AConnectionSurvivesAnMtuThatFitsIt) {
  inOwnNetwork([](Loopback& loopback) -> std::string {
    auto device = openSoftDevice(kOwn);
    if (!device) return device.error().text();
    const auto domain = std::move(*(*device)->createDomain());
    auto small = domain->createRc(permitting(kAll, 1024));
    auto large = domain->createRc(permitting(kAll, 4096));
    if (!small || !large) return "no endpoints";
    RcAddress peer = (*small)->address();
    peer.mtu = 4096;
    if (!(*small)->connect(peer) || !(*large)->connect(peer)) return "not connected";
    loopback.setMtu(1500);
    RcEvents events;
    if (failureOf(**large, events).find("MTU is smaller") == std::string::npos) {
      return "the large one goes on";
    }
    if (!(*small)->poll(events)) return "the small one ends";
    if (domain->createRc(permitting(kAll, 2048))) return "what does not fit is made";
    return domain->createRc(permitting(kAll)) ? "" : "nothing can be made any more";
  });
}

}  // namespace
}  // namespace pingloom::rdma::soft::interface_watch_test
