// The machine's own limits: to write the same rows into Redis and do nothing else, and to
// move the same bytes through ZeroMQ and do nothing with them.
#pragma once

#include <string>

#include "common/error.h"
#include "scene.h"

namespace pingloom::bench {

struct Limit {
  double rows_per_second = 0;
  double cpu_seconds_per_million_rows = 0;  // sender and receiver together
};

// Writes HSETs of all destinations of a source, pipelined and with values as the controller does.
Result<Limit> redisAlone(const Shape& shape);
// Sends from DEALERs to a ROUTER in another process, which drops what it gets.
Result<Limit> zeromqAlone(const Shape& shape);

}  // namespace pingloom::bench
