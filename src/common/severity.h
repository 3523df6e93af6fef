// Orders pair states by how much they deserve attention.
#pragma once

#include "common/vocabulary.h"

namespace pingloom {

// 0 is good; faults of the network rank above states that are merely unknown.
constexpr int severity(PairState state) {
  switch (state) {
    case PairState::kUnreachable:
      return 8;
    case PairState::kLoss:
      return 7;
    case PairState::kRefused:
      return 6;
    case PairState::kAgentDown:
      return 5;
    case PairState::kStale:
      return 4;
    case PairState::kMisfit:
      return 3;
    case PairState::kAnomalous:
      return 2;
    case PairState::kPending:
      return 1;
    case PairState::kOk:
      break;
  }
  return 0;
}

}  // namespace pingloom
