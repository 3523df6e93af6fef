// A thread that reads the counters of NICs and ports once a second, because a device may take long
// to answer, and the threads that probe must not wait for it. The agent's control thread owns it.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "agent/counter_reader.h"
#include "common/address.h"
#include "common/time.h"

namespace pingloom::agent {

class CounterThread {
 public:
  static constexpr Nanos kInterval = kSecond;
  // Devices and interfaces that appear later are found within this time.
  static constexpr Nanos kFindInterval = 30 * kSecond;
  // Reading takes at most this share of the time, however slow the devices are.
  static constexpr Nanos kRestAfterReading = 20;

  explicit CounterThread(std::vector<IpAddress> addresses);
  ~CounterThread();
  CounterThread(const CounterThread&) = delete;
  CounterThread& operator=(const CounterThread&) = delete;

  void setAddresses(std::vector<IpAddress> addresses);
  // Returns the newest reading; nullptr before the first. The object changes only if a value does.
  std::shared_ptr<const NicPorts> newest() const;

 private:
  void run();

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<IpAddress> addresses_;
  bool find_ = true;
  bool stop_ = false;
  std::shared_ptr<const NicPorts> newest_;
  std::thread thread_;
};

}  // namespace pingloom::agent
