// What the programs with a fleet have in common once their options are read.
#pragma once

#include <iostream>

#include "common/error.h"
#include "common/fd.h"
#include "common/log.h"

namespace pingloom::bench {

// Runs it with as many descriptors as agents may need, and returns the exit code.
template <typename Run>
int runFleet(const char* program, const Run& run) {
  log::init(program, log::Level::kError);
  raiseDescriptorLimit();
  const Status status = run();
  if (status) return 0;
  std::cerr << program << ": " << status.error().text() << "\n";
  return 1;
}

}  // namespace pingloom::bench
