#include "agent/counter_thread.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace pingloom::agent {

CounterThread::CounterThread(std::vector<IpAddress> addresses)
    : addresses_(std::move(addresses)), thread_([this] { run(); }) {}

CounterThread::~CounterThread() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void CounterThread::setAddresses(std::vector<IpAddress> addresses) {
  const std::lock_guard lock(mutex_);
  addresses_ = std::move(addresses);
  find_ = true;
}

std::shared_ptr<const NicPorts> CounterThread::newest() const {
  const std::lock_guard lock(mutex_);
  return newest_;
}

void CounterThread::run() {
  CounterReader reader;
  Nanos found_mono = 0;
  std::unique_lock lock(mutex_);
  while (!stop_) {
    const Nanos began = monotonicNow();
    const bool find = std::exchange(find_, false) || began - found_mono >= kFindInterval;
    const std::vector<IpAddress> addresses = addresses_;
    lock.unlock();
    if (find) {
      reader.find(interfacesOf(addresses));
      found_mono = began;
    }
    NicPorts ports = reader.read();
    const Nanos took = monotonicNow() - began;
    lock.lock();
    if (newest_ == nullptr || *newest_ != ports) {
      newest_ = std::make_shared<const NicPorts>(std::move(ports));
    }
    const Nanos pause = std::max(kInterval - took, kRestAfterReading * took);
    wake_.wait_for(lock, std::chrono::nanoseconds(pause), [this] { return stop_; });
  }
}

}  // namespace pingloom::agent
