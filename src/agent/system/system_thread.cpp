#include "agent/system/system_thread.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "agent/system/readings.h"
#include "agent/system/shown_readings.h"
#include "agent/system/system_reader.h"

namespace pingloom::agent::system {
namespace {

constexpr Family kRounds = {"pingloom_system_rounds_total",
                            "Times that the host's own metrics were read.", Kind::kCounter};
constexpr Family kMalformed = {"pingloom_system_malformed_total",
                               "Lines of the kernel's files that could not be understood.",
                               Kind::kCounter};
constexpr Family kRefused = {"pingloom_system_refused",
                             "Metrics that are left out, because pages do not take them."};

// Everything that the thread owns while it runs.
class Rounds {
 public:
  explicit Rounds(const std::filesystem::path& socket) : host_("pingloom-system", socket) {}

  void run(Nanos now) {
    readings_.clear();
    reader_.readHost(readings_);
    readings_.count(kRounds, ++rounds_);
    readings_.count(kMalformed, readings_.malformed);
    readings_.gauge(kRefused, static_cast<double>(host_.refused()));
    host_.show(readings_, now);
  }

 private:
  SystemReader reader_;
  ShownReadings host_;
  Readings readings_;
  std::uint64_t rounds_ = 0;
};

}  // namespace

SystemThread::SystemThread(std::filesystem::path socket)
    : socket_(std::move(socket)), thread_([this] { run(); }) {}

SystemThread::~SystemThread() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void SystemThread::run() {
  Rounds rounds(socket_);
  std::unique_lock lock(mutex_);
  while (!stop_) {
    lock.unlock();
    const Nanos began = monotonicNow();
    rounds.run(began);
    const Nanos took = monotonicNow() - began;
    lock.lock();
    const Nanos pause = std::max(kInterval - took, kRestAfterReading * took);
    wake_.wait_for(lock, std::chrono::nanoseconds(pause), [this] { return stop_; });
  }
}

}  // namespace pingloom::agent::system
