// A viewer of a controller's live WebSocket, as a browser with the dashboard is one: it watches the
// fleet's probe, and notes when a source's row arrives whose first pair is not ok.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

#include "common/error.h"
#include "common/time.h"

namespace pingloom::bench {

class LiveViewer {
 public:
  // `url` is the controller's, http://HOST:PORT. Each source has this many destinations.
  LiveViewer(std::string url, std::size_t destinations);
  LiveViewer(const LiveViewer&) = delete;
  LiveViewer& operator=(const LiveViewer&) = delete;
  ~LiveViewer();

  bool inSync() const { return in_sync_; }  // whether it has all rows of the present plan
  // Begins to wait for a row of this source whose first pair is not ok.
  void expectLoss(std::uint32_t source);
  // Returns when the row arrived, by CLOCK_MONOTONIC, or 0.
  Nanos seen() const { return seen_mono_; }

 private:
  void run();
  void take(const std::string& frame);

  const std::string url_;
  const std::size_t destinations_;
  std::atomic<bool> in_sync_ = false;
  std::atomic<std::int64_t> expected_ = -1;  // the source; -1: none
  std::atomic<Nanos> seen_mono_ = 0;
  std::atomic<bool> ending_ = false;
  std::atomic<int> socket_ = -1;  // what the destructor shuts down
  std::thread thread_;
};

}  // namespace pingloom::bench
