#include "fleet_processes.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <new>
#include <string>
#include <thread>

#include "common/duration.h"
#include "controller/model/report_reader.h"
#include "fleet.h"

namespace pingloom::bench {
namespace {

// How often a process looks for orders and tells how far its agents are.
constexpr Nanos kTurn = 5 * kMillisecond;
constexpr Nanos kMaxOrder = 120 * kSecond;
// Controllers refuse windows that end later. What is left is for the way to them.
constexpr Nanos kMaxAhead = controller::kMaxAhead - 10 * kSecond;

}  // namespace

struct FleetOrder {
  enum class Kind : std::uint8_t { kStart, kKill, kCloseAll, kLoseOne, kKeepClosing, kStopClosing };
  Kind kind = Kind::kStart;
  std::uint64_t window_index = 0;
  std::uint32_t agent = 0;
};

struct FleetControl {
  FleetOrder order;                        // written before `ordered` grows
  std::array<char, 200> error{};           // written before `done` grows; "": none
  std::atomic<std::uint64_t> ordered = 0;  // orders that were given
  std::atomic<std::uint64_t> done = 0;     // of these
  std::atomic<std::uint64_t> batches_closed = 0;
  std::atomic<std::uint32_t> ready = 0;    // agents that are registered and have taken a plan
  std::atomic<std::uint32_t> waiting = 0;  // agents with batches that are not acknowledged
};

namespace {

using Kind = FleetOrder::Kind;

// Obeys orders in the process of `count` agents from `first` on, for ever.
class FleetServer {
 public:
  FleetServer(const FleetShape& shape, std::uint32_t first, std::uint32_t count, FleetControl& at)
      : window_(shape.window),
        fleet_(shape, count, first),
        first_(first),
        count_(count),
        control_(at) {}

  [[noreturn]] void serve() {
    for (;;) {
      const std::uint64_t ordered = control_.ordered.load(std::memory_order_acquire);
      const bool due = ordered != control_.done.load(std::memory_order_relaxed);
      if (due) {
        const auto status = obey(control_.order);
        control_.error.fill('\0');
        if (!status) status.error().text().copy(control_.error.data(), control_.error.size() - 1);
      } else if (started_) {
        fleet_.serveFor(kTurn);
      } else {
        std::this_thread::sleep_for(std::chrono::nanoseconds(kTurn));
      }
      if (const auto newest = newestWindow(window_); closing_ && newest > closed_) {
        closed_ = newest;
        closeAll(newest);
      }
      count();
      if (due) control_.done.store(ordered, std::memory_order_release);
    }
  }

 private:
  void closeAll(std::uint64_t window_index) {
    fleet_.closeWindows(window_index);
    control_.batches_closed += count_;
  }

  void count() {
    std::uint32_t ready = 0;
    std::uint32_t waiting = 0;
    for (const auto& agent : fleet_.agents()) {
      ready += started_ && agent->registered() && agent->plansTaken() > 0 ? 1 : 0;
      waiting += agent->waiting() > 0 ? 1 : 0;
    }
    control_.ready = ready;
    control_.waiting = waiting;
  }

  Status obey(const FleetOrder& order) {
    switch (order.kind) {
      case Kind::kStart:
        started_ = true;
        return fleet_.startAll();
      case Kind::kKill:
        fleet_.killAll();
        started_ = false;
        break;
      case Kind::kCloseAll:
        closeAll(order.window_index);
        break;
      case Kind::kLoseOne:
        if (order.agent >= first_ && order.agent < first_ + count_) {
          fleet_.loseWindow(order.agent - first_, order.window_index);
          ++control_.batches_closed;
        }
        break;
      case Kind::kKeepClosing:
        closing_ = true;
        closed_ = newestWindow(window_);
        break;
      case Kind::kStopClosing:
        closing_ = false;
        break;
    }
    return {};
  }

  const Nanos window_;
  Fleet fleet_;
  const std::uint32_t first_;
  const std::uint32_t count_;
  FleetControl& control_;
  bool started_ = false;
  bool closing_ = false;      // by itself
  std::uint64_t closed_ = 0;  // the newest window that it has closed by itself
};

}  // namespace

FleetProcesses::FleetProcesses(const FleetShape& shape, std::uint32_t agents)
    : shape_(shape), agents_(agents) {
  for (std::uint32_t first = 0; first < agents; first += kAgentsEach) {
    void* memory = ::mmap(nullptr, sizeof(FleetControl), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    auto* control = controls_.emplace_back(new (memory) FleetControl);
    const std::uint32_t count = std::min(kAgentsEach, agents - first);
    children_.push_back(std::make_unique<Child>([&shape, first, count, control](int) -> int {
      FleetServer(shape, first, count, *control).serve();
    }));
  }
}

FleetProcesses::~FleetProcesses() {
  children_.clear();
  for (FleetControl* control : controls_) ::munmap(control, sizeof *control);
}

Status FleetProcesses::order(const FleetOrder& what) {
  for (FleetControl* control : controls_) {
    control->order = what;
    control->ordered.fetch_add(1, std::memory_order_release);
  }
  const auto took = waitUntil("all processes of the fleet obeyed", kMaxOrder, [&] {
    return std::all_of(controls_.begin(), controls_.end(), [](const FleetControl* control) {
      return control->done.load(std::memory_order_acquire) == control->ordered;
    });
  });
  if (!took) return tl::unexpected(took.error());
  for (const FleetControl* control : controls_) {
    if (control->error[0] != '\0') return makeError("the fleet", control->error.data());
  }
  return {};
}

Status FleetProcesses::startAll() { return order({FleetOrder::Kind::kStart}); }

Status FleetProcesses::killAll() { return order({FleetOrder::Kind::kKill}); }

std::uint64_t FleetProcesses::nextWindow() const {
  return std::max(last_window_ + 1, newestWindow(shape_.window));
}

Status FleetProcesses::closeWindows() {
  last_window_ = std::max(nextWindow(), lost_window_ + 1);
  const Nanos end = static_cast<Nanos>(last_window_ + 1) * shape_.window;
  const auto due =
      waitUntil("the window has ended", kMaxOrder, [end] { return end <= utcNow() + kMaxAhead; });
  if (!due) return tl::unexpected(due.error());
  return order({FleetOrder::Kind::kCloseAll, last_window_});
}

Status FleetProcesses::loseWindow(std::uint32_t agent) {
  lost_window_ = nextWindow();
  return order({FleetOrder::Kind::kLoseOne, lost_window_, agent});
}

Status FleetProcesses::keepClosing(bool keep) {
  last_window_ = std::max(last_window_, newestWindow(shape_.window) + 1);
  return order({keep ? FleetOrder::Kind::kKeepClosing : FleetOrder::Kind::kStopClosing});
}

std::uint64_t FleetProcesses::batchesClosed() const {
  std::uint64_t closed = 0;
  for (const FleetControl* control : controls_) closed += control->batches_closed;
  return closed;
}

Result<Nanos> FleetProcesses::waitUntil(const char* what, Nanos patience,
                                        const std::function<bool()>& done) {
  const Nanos start = monotonicNow();
  while (!done()) {
    if (monotonicNow() - start > patience) {
      return makeError(what, fmt::format("not reached within {}: {} agents of {} are ready, and {} "
                                         "have batches that are not acknowledged",
                                         formatDuration(patience), ready(), agents_, waiting()));
    }
    for (const auto& child : children_) {
      if (child->ended()) return makeError("a process of the fleet", "has ended");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return monotonicNow() - start;
}

std::uint32_t FleetProcesses::ready() const {
  std::uint32_t ready = 0;
  for (const FleetControl* control : controls_) ready += control->ready;
  return ready;
}

std::uint32_t FleetProcesses::waiting() const {
  std::uint32_t waiting = 0;
  for (const FleetControl* control : controls_) waiting += control->waiting;
  return waiting;
}

}  // namespace pingloom::bench
