// What the tracers of an agent's applications are told about sampling (docs/collector.md). The
// watcher sets it, and the agent's session tells the agent. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "pages/trace_advice.h"

namespace pingloom::collector {

class SamplingAdvice {
 public:
  void set(pages::TraceAdvice advice) {
    const std::lock_guard lock(mutex_);
    if (advice == advice_) return;
    advice_ = std::move(advice);
    ++version_;
  }
  pages::TraceAdvice get() const {
    const std::lock_guard lock(mutex_);
    return advice_;
  }
  std::uint64_t version() const { return version_; }  // grows with every change

 private:
  mutable std::mutex mutex_;
  pages::TraceAdvice advice_;
  std::atomic<std::uint64_t> version_ = 0;
};

}  // namespace pingloom::collector
