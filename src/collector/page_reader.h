// Reads an agent's range one-sidedly, round by round, into a copy of it. A grouped page's header is
// read before and after the page, each READ begun after the one before has ended, because one READ
// orders nothing; a page that changed meanwhile is read again, a few times. One thread, the
// device's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "collector/page_directory.h"
#include "collector/read_plan.h"
#include "common/error.h"
#include "common/time.h"
#include "pages/range_head.h"
#include "pingloom/page_format.h"
#include "rdma/device.h"

namespace pingloom::collector {

struct ReadCounters {
  // From post to completion, in nanoseconds: 1 us .. 1 s, two buckets an octave.
  static constexpr pingloom_histogram_shape kLatencyShape = {10, 30, 1};

  std::uint64_t reads = 0;
  std::uint64_t bytes = 0;         // read
  std::uint64_t useful_bytes = 0;  // of them values of metrics
  std::uint64_t torn_retries = 0;  // a grouped page read again
  std::uint64_t latency_sum = 0;
  std::array<std::uint64_t, 42> latency{};
};

class PageReader {
 public:
  static constexpr int kTries = 4;  // of a torn page, in a round
  static constexpr std::uint32_t kDepth = 64;

  // The device outlives the reader.
  static Result<std::unique_ptr<PageReader>> create(rdma::Device& device);

  const rdma::RcAddress& address() const { return endpoint_->address(); }
  // Never waits; where it takes time the reader is connecting, and poll() says what became of it.
  Status connect(const rdma::RcAddress& peer) { return endpoint_->startConnect(peer); }
  bool connecting() const { return endpoint_->state() == rdma::RcState::kConnecting; }

  // From the next round on. REQUIRES: no round is under way. The directory may change afterwards.
  Status follow(const PageDirectory& directory);

  // REQUIRES: connected, and a directory followed.
  void begin(Nanos now);
  bool reading() const { return phase_ != Phase::kIdle; }
  // Never waits. True: a round has ended. An error: the endpoint has failed, and the reader with
  // it.
  Result<bool> poll(Nanos now);
  Nanos nextWake() const { return endpoint_->nextWake(); }
  int descriptor() const { return endpoint_->descriptor(); }

  // After a round, until the next one begins. The content is the applications' and hostile.
  const pages::RangeHead& head() const;
  const pingloom_page& page(std::uint32_t place) const;
  // A grouped page of which no undivided copy was got. By its index in the directory followed.
  bool torn(std::size_t index) const { return torn_[index]; }
  const std::vector<std::shared_ptr<const PageInfo>>& followed() const { return pages_; }
  std::uint64_t epoch() const { return epoch_; }  // of the range that is read

  const ReadCounters& counters() const { return counters_; }

 private:
  enum class Phase : std::uint8_t { kIdle, kBefore, kPages, kAfter };
  struct Read {
    std::uint64_t offset = 0;  // in the range
    rdma::LocalPiece to;
    Nanos posted = 0;
  };

  explicit PageReader(rdma::Device& device) : device_(device) {}
  void enter(Phase phase);
  void readHeaders(std::vector<pingloom_page_header>& into);
  void postSome(Nanos now);
  void take(const rdma::RcDone& done, Nanos now);
  bool phaseEnded();  // true: the round has too
  void judge();

  rdma::Device& device_;
  std::vector<std::shared_ptr<const PageInfo>> pages_;
  std::uint64_t epoch_ = 0;
  std::uint64_t remote_ = 0;
  std::uint32_t rkey_ = 0;
  std::vector<Segment> plan_;
  std::size_t useful_ = 0;  // bytes of values in a round

  std::vector<std::uint8_t> copy_;  // of the range
  std::unique_ptr<rdma::MemoryRegion> copy_region_;
  std::vector<pingloom_page_header> before_, after_;  // of the grouped pages, in their order
  std::unique_ptr<rdma::MemoryRegion> before_region_, after_region_;
  std::unique_ptr<rdma::RcEndpoint> endpoint_;  // ends before what it reads into
  std::vector<std::size_t> grouped_;            // indices in pages_
  std::vector<std::size_t> wanted_;             // places in grouped_ that are read in this try
  std::vector<bool> torn_;

  Phase phase_ = Phase::kIdle;
  int try_ = 0;
  std::vector<Read> reads_;  // of this phase
  std::size_t posted_ = 0;
  std::size_t done_ = 0;
  rdma::RcEvents events_;
  ReadCounters counters_;
};

}  // namespace pingloom::collector
