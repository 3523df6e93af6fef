// Functions that other threads have run on an event loop's own thread, so that the loop's state
// needs no locks.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "common/fd.h"

namespace pingloom::probe {

// The loop polls descriptor() and then calls run(); everybody else calls call(), which waits until
// the function has run. Bound: one function per calling thread.
class LoopCalls {
 public:
  LoopCalls();

  int descriptor() const { return event_.get(); }  // readable while something waits
  void run();                                      // the loop's thread
  // The loop ends: what waits and all that comes later returns without having run.
  void close();

  // Any other thread. False: the loop has ended, the function was not run.
  bool call(std::function<void()> function);

 private:
  struct Call {
    std::function<void()> function;
    bool done = false;
  };
  UniqueFd event_;  // eventfd
  std::mutex mutex_;
  std::condition_variable finished_;
  std::vector<Call*> waiting_;
  bool closed_ = false;
};

}  // namespace pingloom::probe
