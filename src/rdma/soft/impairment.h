// Faults that a soft device adds to the packets it sends, for tests and demonstrations: loss, delay
// and duplication, as if the fabric caused them.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "common/address.h"
#include "common/error.h"
#include "common/time.h"

namespace pingloom::rdma::soft {

struct Impairment {
  static constexpr Nanos kMaxDelay = 10 * kSecond;

  double loss = 0;       // probability, 0 .. 1
  double duplicate = 0;  // probability that a packet that is not lost is sent twice
  Nanos delay = 0;       // 0 .. kMaxDelay
  Nanos jitter = 0;      // a random time up to this is added to the delay; 0 .. kMaxDelay

  bool none() const { return loss == 0 && duplicate == 0 && delay == 0 && jitter == 0; }
};

struct Impairments {
  Impairment everywhere;  // applies to all addresses that the map does not contain
  std::unordered_map<IpAddress, Impairment, IpAddressHash> towards;
  // 0 chooses a random seed.
  std::uint64_t seed = 0;
};

// Returns an error if a probability or a time is out of its range.
Status check(const Impairments& impairments);

// What happens to one packet.
struct Fate {
  bool lost = false;
  bool duplicated = false;
  bool delayed = false;  // true even with delay 0 if the random jitter is 0
  Nanos delay = 0;
  Nanos duplicate_delay = 0;
};

// Draws the fate of each packet at random. One thread.
class FateOfPackets {
 public:
  // REQUIRES: check() accepts the impairments.
  explicit FateOfPackets(Impairments impairments);
  Fate decide(const IpAddress& destination) { return none_ ? Fate{} : roll(destination); }

 private:
  Fate roll(const IpAddress& destination);
  bool happens(double probability);
  Nanos delayOf(const Impairment& impairment);
  std::uint64_t next();  // returns 64 uniformly distributed bits

  Impairments impairments_;
  bool none_;
  std::uint64_t state_;
};

}  // namespace pingloom::rdma::soft
