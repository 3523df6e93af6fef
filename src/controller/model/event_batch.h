// Collects the changes of state and severity of about a second for the history, so that an event
// storm stays small. A host that dies yields one line for its column and one for its row; a rack of
// 1,000 in a mesh is 10^6 changed pairs and one line. A pair's first change (pending to ok or
// stale) is left out. The control thread owns it. Bounds: kMaxPairs pairs are kept individually (8
// bytes each), further ones only as a number; kMaxHosts lines for each probe and change; on average
// kLinesPerSecond lines plus one for each probe and change.
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

// A change of one pair, or of many pairs that may differ in source, destination or both.
struct KeptEvent {
  Nanos utc = 0;         // when the controller noticed it
  Nanos window_utc = 0;  // start of the newest window that shows it; 0 if none does
  std::string probe;
  std::optional<IpAddress> source;       // nullopt stands for several
  std::optional<IpAddress> destination;  // nullopt stands for several
  PairState from = PairState::kPending;
  PairState to = PairState::kPending;
  std::uint64_t pairs = 1;
  Severity severity_from = Severity::kNone;
  Severity severity_to = Severity::kNone;

  bool operator==(const KeptEvent&) const = default;
};

class EventBatch {
 public:
  static constexpr std::size_t kMaxSingle = 16;  // maximum pairs of a change with a line each
  static constexpr std::size_t kMaxHosts = 64;
  static constexpr std::uint32_t kMinPerHost = 4;  // minimum pairs that are merged into one line
  static constexpr std::size_t kMaxPairs = 1 << 20;
  static constexpr double kLinesPerSecond = 10;
  static constexpr double kMaxBurst = 2000;  // lines

  void add(const StateEvent& event);
  bool empty() const { return changes_.empty(); }
  // Returns everything added since the last call, ordered by time.
  std::vector<KeptEvent> take(Nanos now_utc);

 private:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;  // indexes into addresses_
  struct Change {
    Nanos utc = 0;
    Nanos window_utc = 0;
    std::vector<Pair> pairs;
    std::uint64_t more = 0;  // number of pairs that are not in `pairs`
  };
  // probe, from, to, severity_from, severity_to
  using Key = std::tuple<std::string, PairState, PairState, Severity, Severity>;

  Change& changeOf(const StateEvent& event);
  std::uint32_t numberOf(const IpAddress& address);
  void appendLines(const Key& key, const Change& change, std::vector<KeptEvent>& lines) const;

  std::map<Key, Change> changes_;
  std::map<Key, Change>::iterator last_ = changes_.end();  // the change of the previous event
  std::vector<IpAddress> addresses_;
  std::unordered_map<IpAddress, std::uint32_t, IpAddressHash> numbers_;
  std::size_t pairs_ = 0;
  double allowance_ = kMaxBurst;
  Nanos allowed_utc_ = 0;
};

}  // namespace pingloom::controller
