// A thread that reads the host's own metrics once a second and shows them on metric pages, for
// collectors. The agent's control thread owns it.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

#include "common/time.h"

namespace pingloom::agent::system {

class SystemThread {
 public:
  static constexpr Nanos kInterval = kSecond;
  static constexpr Nanos kCgroupInterval = 10 * kSecond;
  // After a slow reading the thread rests for so many times as long, but not for ever.
  static constexpr Nanos kRestAfterReading = 20;
  static constexpr Nanos kMaxRest = 10 * kSecond;

  // `socket` belongs to this agent's page service, which runs already and outlives this.
  explicit SystemThread(std::filesystem::path socket);
  ~SystemThread();
  SystemThread(const SystemThread&) = delete;
  SystemThread& operator=(const SystemThread&) = delete;

 private:
  void run();

  const std::filesystem::path socket_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace pingloom::agent::system
