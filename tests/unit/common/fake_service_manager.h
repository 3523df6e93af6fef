// Asks what a test asks, from any thread, and keeps what it was told.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <string>

#include "common/service_manager.h"

namespace pingloom::test {

class FakeServiceManager : public ServiceManager {
 public:
  int descriptor() const override { return event_.get(); }
  Asked asked() override {
    std::uint64_t count = 0;
    (void)!::read(event_.get(), &count, sizeof count);
    return asked_.exchange(Asked::kNothing);
  }
  void tell(bool ready, std::string_view status) override {
    const std::lock_guard lock(mutex_);
    ready_ = ready;
    status_ = status;
  }

  void ask(Asked what) {
    asked_ = what;
    const std::uint64_t one = 1;
    (void)!::write(event_.get(), &one, sizeof one);
  }
  bool ready() const {
    const std::lock_guard lock(mutex_);
    return ready_;
  }
  std::string status() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }

 private:
  UniqueFd event_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::atomic<Asked> asked_{Asked::kNothing};
  mutable std::mutex mutex_;
  bool ready_ = false;
  std::string status_;
};

}  // namespace pingloom::test
