// Runs functions of other threads on an event loop's own thread, so that the loop's state needs no
// locks.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "common/fd.h"

namespace pingloom::probe {

// The loop polls descriptor() and then calls run(). All other threads use call(), which waits until
// the function has run. Bound: one function per calling thread.
class LoopCalls {
 public:
  LoopCalls();

  // Readable while a function waits.
  int descriptor() const { return event_.get(); }
  // Runs the functions that wait. Called by the loop's thread.
  void run();
  // Ends the calls: those that wait and all later ones return without having run.
  void close();

  // Returns false if the loop has ended and the function was not run. Any other thread.
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
