// State changes on their way into history: those of about a second together, so that a storm stays
// small. A host that dies is a line for its column and one for its row; a rack of 1,000 in a mesh
// is 10^6 changed pairs and one line. Nothing is said of a pair's beginning (pending to ok or
// stale).
//
// The control thread. Bounds: kMaxPairs pairs are remembered one by one (8 bytes each; of more only
// their number), kMaxHosts lines for each probe and change, and in the long run kLinesPerSecond
// beside one line for each probe and change.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/address.h"
#include "common/time.h"
#include "common/vocabulary.h"
#include "controller/model/board.h"

namespace pingloom::controller {

// A change of one pair, or of many that have no source, no destination or neither in common.
struct KeptEvent {
  Nanos utc = 0;         // when the controller knew
  Nanos window_utc = 0;  // start of the newest window that shows it; 0: none does
  std::string probe;
  std::optional<IpAddress> source;       // nullopt: several
  std::optional<IpAddress> destination;  // nullopt: several
  PairState from = PairState::kPending;
  PairState to = PairState::kPending;
  std::uint64_t pairs = 1;

  bool operator==(const KeptEvent&) const = default;
};

class EventBatch {
 public:
  static constexpr std::size_t kMaxSingle = 16;  // pairs of a change that have a line each
  static constexpr std::size_t kMaxHosts = 64;
  static constexpr std::uint32_t kMinPerHost = 4;  // pairs that become one line
  static constexpr std::size_t kMaxPairs = 1 << 20;
  static constexpr double kLinesPerSecond = 10;
  static constexpr double kMaxBurst = 2000;  // lines

  void add(const StateEvent& event);
  bool empty() const { return changes_.empty(); }
  // All that was added since, by time.
  std::vector<KeptEvent> take(Nanos now_utc);

 private:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;  // of addresses_
  struct Change {
    Nanos utc = 0;
    Nanos window_utc = 0;
    std::vector<Pair> pairs;
    std::uint64_t more = 0;  // that are not in `pairs`
  };
  using Key = std::tuple<std::string, PairState, PairState>;  // probe, from, to

  Change& changeOf(const StateEvent& event);
  std::uint32_t numberOf(const IpAddress& address);
  void appendLines(const Key& key, const Change& change, std::vector<KeptEvent>& lines) const;

  std::map<Key, Change> changes_;
  std::map<Key, Change>::iterator last_ = changes_.end();  // what the event before belonged to
  std::vector<IpAddress> addresses_;
  std::unordered_map<IpAddress, std::uint32_t, IpAddressHash> numbers_;
  std::size_t pairs_ = 0;
  double allowance_ = kMaxBurst;
  Nanos allowed_utc_ = 0;
};

}  // namespace pingloom::controller
