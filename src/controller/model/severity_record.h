// What was judged of a source's pairs, on its way into the history and back. The grid makes a
// record when a window changes the severity of a pair; it names all pairs of the source, so that
// one record is enough to know what was judged at a time. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/address.h"
#include "common/time.h"
#include "common/vocabulary.h"
#include "controller/model/board.h"

namespace pingloom::controller {

struct SourceSeverities {
  Severity usual = Severity::kNone;                    // of all pairs that `others` does not name
  std::vector<std::pair<IpAddress, Severity>> others;  // ascending by address

  Severity of(const IpAddress& destination) const;

  bool operator==(const SourceSeverities&) const = default;
};

struct SeverityRecord {
  Nanos since_utc = 0;  // start of the window from which on this was judged
  std::string probe;
  IpAddress source;
  std::string content;  // as encodeSeverities() returns it

  bool operator==(const SeverityRecord&) const = default;
};

// Encodes what is judged of a source; it names only pairs whose severity is not the most frequent.
std::string encodeSeverities(const ProbeGrid& probe, const SourceSnapshot& snapshot);
// Encodes that nothing is known of any pair.
std::string encodeNoSeverities();
// nullopt: the bytes are damaged.
std::optional<SourceSeverities> decodeSeverities(std::string_view content);

}  // namespace pingloom::controller
