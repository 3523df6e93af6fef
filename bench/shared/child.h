// A part of a benchmark in a process of its own, so that its CPU time and memory are its alone.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>

#include "common/fd.h"
#include "common/time.h"
#include "shared/process_usage.h"
#include "shared/wait.h"

namespace pingloom::bench {

// Runs `body` in a child process, which ends with this one. Call it before any thread is started.
// `body` gets the descriptor of a pipe that read() and await() read; its result is the exit code.
class Child {
 public:
  explicit Child(const std::function<int(int)>& body);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();  // kills it

  // Reads exactly `size` bytes. False if the child ended, or wrote less within `patience`.
  bool read(void* out, std::size_t size, Nanos patience = kPatience);
  // Whether the child's next byte is `what`.
  bool await(char what, Nanos patience = kPatience);
  bool ended();  // Whether it has ended by itself.
  Usage usage() const { return usageOf(pid_); }

 private:
  pid_t pid_ = -1;
  UniqueFd in_;
};

}  // namespace pingloom::bench
