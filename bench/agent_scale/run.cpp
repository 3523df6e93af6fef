#include "run.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "common/fd.h"
#include "probe/udp/udp_transport.h"

namespace pingloom::bench {
namespace {

constexpr Nanos kWarmUp = 3 * kSecond;

void sleepFor(Nanos duration) { std::this_thread::sleep_for(std::chrono::nanoseconds(duration)); }

// Takes closed windows as the agent's control thread does.
class Consumer {
 public:
  explicit Consumer(probe::WindowQueue& queue) : queue_(queue), thread_([this] { run(); }) {}
  void finish() {
    done_ = true;
    thread_.join();
    take();
  }
  ProberFigures figures;
  Distribution network;

 private:
  void run() {
    while (!done_) {
      pollfd wait{queue_.descriptor(), POLLIN, 0};
      poll(&wait, 1, 50);
      take();
    }
  }
  void take() {
    for (probe::ClosedWindow& window : queue_.takeAll()) {
      ++figures.windows;
      for (const probe::PairWindow& pair : window.pairs) {
        figures.counted_sent += pair.sent;
        figures.received += pair.received;
        figures.lost += pair.lost;
        figures.ack_lost += pair.ack_lost;
        for (const std::uint32_t count : pair.anomalous) figures.anomalous += count;
        network.merge(pair.network);
      }
      queue_.recycle(std::move(window.pairs));
    }
  }
  probe::WindowQueue& queue_;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

std::shared_ptr<const plan::Assignment> assignmentOf(const Load& load) {
  auto made = std::make_shared<plan::Assignment>();
  made->probe.name = "scale";
  made->probe.interval = load.interval;
  made->probe.window = load.window;
  made->probe.port = static_cast<std::uint16_t>(load.port + 1);
  made->source = IpAddress::fromV4(0x7F000001);
  const IpAddress first = IpAddress::fromV4(0x7F010000);
  for (std::uint32_t i = 0; i < load.targets; ++i) made->destinations.push_back(*first.plus(i));
  return made;
}

struct Agent {
  probe::WindowClock clock{utcNow() - monotonicNow()};
  probe::WindowQueue queue;
  probe::AgentContext context;
  std::unique_ptr<probe::Transport> transport;

  Status open(std::vector<IpAddress> listen, std::uint16_t port) {
    context.listen = std::move(listen);
    context.port = port;
    context.phase_seed = 1;
    context.clock = &clock;
    context.windows = &queue;
    auto made = probe::makeUdpTransport(context);
    if (!made) return tl::unexpected(made.error());
    transport = std::move(*made);
    return {};
  }
};

// The parent kills it.
int respond(const Load& load, int ready) {
  Agent agent;
  if (!agent.open({IpAddress()}, static_cast<std::uint16_t>(load.port + 1))) return 1;
  const auto known = std::make_shared<const plan::AddressList>(1, IpAddress::fromV4(0x7F000001));
  agent.transport->setWork({{}, known});
  if (write(ready, "r", 1) != 1) return 1;
  for (;;) pause();
}

// Writes a byte when the measurement begins, the figures when it ends, and waits to be killed.
int probe(const Load& load, int out) {
  Agent agent;
  if (!agent.open({IpAddress::fromV4(0x7F000001)}, load.port)) return 1;
  Consumer consumer(agent.queue);
  agent.transport->setWork({{assignmentOf(load)}, nullptr});
  sleepFor(kWarmUp);
  const auto before = agent.transport->counters();
  const Nanos begin = monotonicNow();
  if (write(out, "b", 1) != 1) return 1;
  sleepFor(load.duration);
  const auto after = agent.transport->counters();
  const Nanos took = monotonicNow() - begin;
  if (write(out, "e", 1) != 1) return 1;
  sleepFor(2 * kSecond);  // the last exchanges get their verdicts
  agent.transport->flush();
  consumer.finish();
  ProberFigures figures = consumer.figures;
  figures.wanted =
      static_cast<std::uint64_t>(static_cast<double>(load.targets) * static_cast<double>(took) /
                                 static_cast<double>(load.interval));
  figures.sent = after.pings_sent - before.pings_sent;
  figures.lateness = after.send_lateness.summary();
  figures.network_p50 = consumer.network.summary().p50;
  if (write(out, &figures, sizeof figures) != sizeof figures) return 1;
  for (;;) pause();
}

// A process that dies with this one.
class Child {
 public:
  explicit Child(const std::function<int(int)>& body) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), 0) != 0) return;
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      close(ends[0]);
      _exit(getppid() == parent ? body(ends[1]) : 1);
    }
    close(ends[1]);
    in_.reset(ends[0]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  bool read(void* out, std::size_t size) {
    return ::read(in_.get(), out, size) == static_cast<ssize_t>(size);
  }
  bool await(char what) {
    char got = 0;
    return read(&got, 1) && got == what;
  }
  Nanos cpu() const {
    clockid_t clock{};
    timespec time{};
    if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
    return time.tv_sec * kSecond + time.tv_nsec;
  }
  std::uint64_t mostResident() const {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    std::string word;
    std::uint64_t kilobytes = 0;
    while (status >> word) {
      if (word == "VmHWM:" && status >> kilobytes) break;
    }
    return kilobytes * 1024;
  }

 private:
  pid_t pid_ = -1;
  UniqueFd in_;
};

}  // namespace

Result<RunFigures> runAgents(const Load& load) {
  Child responder([&](int out) { return respond(load, out); });
  if (!responder.await('r')) return makeError("responder", "did not start; is the port free?");
  Child prober([&](int out) { return probe(load, out); });
  if (!prober.await('b')) return makeError("prober", "did not start; is the port free?");
  RunFigures made;
  const Nanos prober_before = prober.cpu();
  const Nanos responder_before = responder.cpu();
  if (!prober.await('e')) return makeError("prober", "ended early");
  made.prober_cpu = prober.cpu() - prober_before;
  made.responder_cpu = responder.cpu() - responder_before;
  if (!prober.read(&made.prober, sizeof made.prober)) return makeError("prober", "ended early");
  made.prober_resident_bytes = prober.mostResident();
  made.responder_resident_bytes = responder.mostResident();
  return made;
}

}  // namespace pingloom::bench
