// The owner is woken for each message, at whatever moment of its work it arrives.
#include <poll.h>

#include <atomic>
#include <random>
#include <thread>

#include "control_client_fixture.h"

namespace pingloom::agent::control_wakes_test {
namespace {

// Answers each registration at once, in a thread of its own.
class AnsweringRouter {
 public:
  AnsweringRouter() : address_(router_.address()), thread_([this] { run(); }) {}
  ~AnsweringRouter() {
    ended_ = true;
    thread_.join();
  }
  const std::string& address() const { return address_; }

 private:
  void run() {
    while (!ended_) {
      pollfd descriptor{router_.descriptor(), POLLIN, 0};
      ::poll(&descriptor, 1, 20);
      while (auto message = router_.receive()) {
        if (message->body.has_registration()) router_.send(message->from, registeredMessage());
      }
    }
  }

  ScriptedRouter router_;
  const std::string address_;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

// An answer that arrived between the client's last two looks at its socket used to wait for the
// deadline, which is up to 30 s later.
TEST(ControlWakes, AnAnswerThatArrivesDuringTheLastLookIsNotMissed) {
  constexpr int kRegistrations = 4000;
  constexpr int kMaxRuns = 100;
  constexpr int kPatienceMs = 5000;
  AnsweringRouter router;
  net::ZmqContext context;
  MemoryBatches batches;
  Owner owner;
  ControlOptions options;
  options.controllers = {router.address()};
  options.host = "gpu-001";
  options.incarnation = kIncarnation;
  ControlClient client(context, options, batches, owner);
  Nanos now = 1000 * kSecond;
  ASSERT_TRUE(client.start(now, nullptr));
  std::mt19937 random(1);
  for (int i = 0; i < kRegistrations; ++i) {
    // Other work wakes the owner, too.
    const auto runs = random() % kMaxRuns;
    for (unsigned run = 0; run < runs; ++run) client.run(now);
    while (client.state() != ControlClient::State::kRegistered) {
      pollfd descriptor{client.descriptor(), POLLIN, 0};
      const bool waits = client.deadline() > now;
      ASSERT_TRUE(!waits || ::poll(&descriptor, 1, kPatienceMs) == 1) << "registration " << i;
      client.run(now);
    }
    now += ControlClient::kRegisterPause;
    client.endpointsChanged(now);
  }
}

}  // namespace
}  // namespace pingloom::agent::control_wakes_test
