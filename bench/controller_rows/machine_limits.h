// What the machine itself allows: the same rows into Redis with nothing else done, and the same
// bytes through ZeroMQ with nothing done with them.
#pragma once

#include <string>

#include "common/error.h"
#include "scene.h"

namespace pingloom::bench {

struct Limit {
  double rows_per_second = 0;
  double cpu_seconds_per_million_rows = 0;  // sender and receiver together
};

// HSETs of all destinations of a source, pipelined as the controller does, values as it writes
// them.
Result<Limit> redisAlone(const Shape& shape);
// DEALERs to a ROUTER in another process that drops what it gets.
Result<Limit> zeromqAlone(const Shape& shape);

}  // namespace pingloom::bench
