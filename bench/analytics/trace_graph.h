// A made-up application of services that call each other, and its traces. One service after the
// other has a fault for some minutes: it is slow for all requests, very slow for few, or fails for
// some. Everything is known, so each span that a fault has touched is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "random.h"

namespace pingloom::bench {

struct Span {
  std::size_t service = 0;
  double seconds = 0;  // with those of what it calls
  bool failed = false;
  bool touched = false;  // by the fault of its service
};

struct Fault {
  enum class Kind { kSlow, kSlowForFew, kFails };
  static constexpr std::size_t kKinds = 3;
  std::size_t service = 0;
  Kind kind = Kind::kSlow;
};

class TraceGraph {
 public:
  static constexpr std::size_t kServices = 24;

  explicit TraceGraph(Random& random);

  // Makes one trace: appends its spans, those of a called service before its caller's. `fault` is
  // nullptr if there is none.
  void trace(const Fault* fault, Random& random, std::vector<Span>& spans) const;
  // The services that requests reach.
  const std::vector<std::size_t>& reached() const { return reached_; }

 private:
  struct Call {
    std::size_t service = 0;
    double often = 0;  // of its caller's requests
  };
  struct Service {
    double seconds = 0;  // the median of its own part
    double spread = 0;   // of its logarithm
    std::vector<Call> calls;
  };
  Span request(std::size_t number, const Fault* fault, Random& random,
               std::vector<Span>& spans) const;

  std::vector<Service> services_;
  std::vector<std::size_t> reached_;
};

}  // namespace pingloom::bench
