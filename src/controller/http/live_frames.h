// The messages of the live WebSocket; docs/http-api.md has their layout. Any thread.
#pragma once

#include <cstdint>
#include <string>

#include "controller/board.h"

namespace pingloom::controller {

constexpr std::uint8_t kLiveVersion = 1;
constexpr std::uint8_t kLiveRow = 1;  // type of message
constexpr std::size_t kLiveHeaderBytes = 24;
constexpr std::size_t kLiveBytesPerCell = 17;  // four float32 and a state
constexpr std::uint8_t kLiveNotAPair = 255;

// JSON: the shape that row messages refer to.
std::string livePlan(const GridPlan& plan);

// Binary: one source of one probe. `snapshot` may be nullptr.
std::string liveRow(const GridPlan& plan, std::uint32_t probe, std::uint32_t source,
                    const SourceSnapshot* snapshot);

}  // namespace pingloom::controller
