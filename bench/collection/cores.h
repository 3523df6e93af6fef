// Chooses the cores on which this process runs.
#pragma once

namespace pingloom::bench {

// Restricts the calling thread, and the threads and processes that it starts from then on, to the
// first `count` of the cores that it had at the first call. Returns false if it had fewer.
bool pinTo(int count);

}  // namespace pingloom::bench
