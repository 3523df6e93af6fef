#include "agent/system/system_thread.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "agent/system/readings.h"
#include "agent/system/shown_readings.h"
#include "agent/system/system_reader.h"

namespace pingloom::agent::system {
namespace {

constexpr Family kTime = {"node_time_seconds",
                          "The host's clock when its metrics were read, as a Unix time."};
constexpr Family kRounds = {"pingloom_system_rounds_total",
                            "Times that the host's own metrics were read.", Kind::kCounter};
constexpr Family kMalformed = {"pingloom_system_malformed_total",
                               "Lines of the kernel's files that could not be understood.",
                               Kind::kCounter};
constexpr Family kRefused = {"pingloom_system_refused",
                             "Metrics that are left out, because pages do not take them."};

constexpr Family kLeftOut = {"pingloom_system_left_out",
                             "Disks, interfaces, file systems and cgroups beyond the limits."};

// Metrics of one application: what was read last, and how it is shown.
struct Part {
  Part(const std::string& application, const std::filesystem::path& socket)
      : shown(application, socket) {}

  Readings readings;
  ShownReadings shown;
};

// Everything that the thread owns while it runs.
class Rounds {
 public:
  explicit Rounds(const std::filesystem::path& socket)
      : host_("pingloom-system", socket),
        devices_("pingloom-devices", socket),
        cgroups_("pingloom-cgroups", socket) {}

  void run(Nanos now) {
    host_.readings.clear();
    devices_.readings.clear();
    reader_.readHost(host_.readings);
    reader_.readDevices(devices_.readings);
    devices_.shown.show(devices_.readings, now);
    if (now >= cgroups_due_) {
      cgroups_due_ = now + SystemThread::kCgroupInterval;
      cgroups_.readings.clear();
      reader_.readCgroups(cgroups_.readings);
      cgroups_.shown.show(cgroups_.readings, now);
    }
    addOwn();
    host_.shown.show(host_.readings, now);
  }

 private:
  // Adds what is known about the reading itself.
  void addOwn() {
    std::uint64_t malformed = 0;
    std::uint64_t left_out = 0;
    std::size_t refused = 0;
    for (const Part* part : {&host_, &devices_, &cgroups_}) {
      malformed += part->readings.malformed;
      left_out += part->readings.left_out;
      refused += part->shown.refused();
    }
    host_.readings.gauge(kTime, static_cast<double>(utcNow()) / kSecond);
    host_.readings.count(kRounds, ++rounds_);
    host_.readings.count(kMalformed, malformed);
    host_.readings.gauge(kLeftOut, static_cast<double>(left_out));
    host_.readings.gauge(kRefused, static_cast<double>(refused));
  }

  SystemReader reader_;
  Part host_, devices_, cgroups_;
  Nanos cgroups_due_ = 0;
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
    const Nanos rest = std::min(kRestAfterReading * took, kMaxRest);
    const Nanos pause = std::max(kInterval - took, rest);
    wake_.wait_for(lock, std::chrono::nanoseconds(pause), [this] { return stop_; });
  }
}

}  // namespace pingloom::agent::system
