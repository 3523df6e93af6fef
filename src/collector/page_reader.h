// Reads an agent's range one-sidedly, round by round, into a local copy. The header of a grouped
// page is read before and after the page, each READ after the previous one has completed, because a
// READ guarantees no order. A page that changed meanwhile is read again a few times. It runs on the
// device's thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
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
  // Latency from post to completion in nanoseconds: 1 us to 1 s, two buckets per octave.
  static constexpr pingloom_histogram_shape kLatencyShape = {10, 30, 1};

  std::uint64_t reads = 0;
  std::uint64_t bytes = 0;         // bytes read
  std::uint64_t useful_bytes = 0;  // bytes of these that are metric values
  std::uint64_t torn_retries = 0;  // grouped pages read again
  std::uint64_t latency_sum = 0;
  std::array<std::uint64_t, 42> latency{};
};

class PageReader {
 public:
  static constexpr int kTries = 4;  // tries for a torn page in a round
  static constexpr std::uint32_t kDepth = 64;

  // The reader gets a protection domain of its own, so that an agent reaches nothing that others
  // are read into. REQUIRES: the device outlives the reader.
  static Result<std::unique_ptr<PageReader>> create(rdma::Device& device);

  const rdma::RcAddress& address() const { return endpoint_->address(); }
  // Never blocks. If connecting takes time, poll() reports the result.
  Status connect(const rdma::RcAddress& peer) { return endpoint_->startConnect(peer); }
  bool connecting() const { return endpoint_->state() == rdma::RcState::kConnecting; }

  // Sets the directory for the next rounds, which may change afterwards. REQUIRES: no round is in
  // progress.
  Status follow(const PageDirectory& directory);

  // Begins a round. REQUIRES: connected, and follow() was called.
  void begin(Nanos now);
  bool reading() const { return phase_ != Phase::kIdle; }
  // Never blocks. Returns true when a round has ended, and an error when the endpoint has failed;
  // the reader cannot be used after that.
  Result<bool> poll(Nanos now);
  Nanos nextWake() const { return endpoint_->nextWake(); }
  int descriptor() const { return endpoint_->descriptor(); }

  // Valid after a round until the next one begins. Applications wrote the contents, which are
  // hostile.
  const pages::RangeHead& head() const;
  const pingloom_page& page(std::uint32_t place) const;
  // Tells whether a grouped page, given by its index in the directory, has no consistent copy.
  bool torn(std::size_t index) const { return torn_[index]; }
  const std::vector<std::shared_ptr<const PageInfo>>& followed() const { return pages_; }
  std::uint64_t epoch() const { return epoch_; }  // the epoch of the range that is read

  const ReadCounters& counters() const { return counters_; }

 private:
  enum class Phase : std::uint8_t { kIdle, kBefore, kPages, kAfter };
  struct Read {
    std::uint64_t offset = 0;  // offset in the range
    rdma::LocalPiece to;
    Nanos posted = 0;
  };

  explicit PageReader(std::unique_ptr<rdma::Domain> domain) : domain_(std::move(domain)) {}
  void enter(Phase phase);
  void readHeaders(std::vector<pingloom_page_header>& into);
  void postSome(Nanos now);
  void take(const rdma::RcDone& done, Nanos now);
  bool phaseEnded();  // returns true if the round has ended too
  void judge();

  std::unique_ptr<rdma::Domain> domain_;  // destroyed after its regions and its endpoint
  std::vector<std::shared_ptr<const PageInfo>> pages_;
  std::uint64_t epoch_ = 0;
  std::uint64_t remote_ = 0;
  std::uint32_t rkey_ = 0;
  std::vector<Segment> plan_;
  std::size_t useful_ = 0;  // bytes of values in a round

  std::vector<std::uint8_t> copy_;  // the copy of the range
  std::unique_ptr<rdma::MemoryRegion> copy_region_;
  std::vector<pingloom_page_header> before_, after_;  // headers of the grouped pages, in order
  std::unique_ptr<rdma::MemoryRegion> before_region_, after_region_;
  std::unique_ptr<rdma::RcEndpoint> endpoint_;  // destroyed before the memory it writes to
  std::vector<std::size_t> grouped_;            // indices into pages_
  std::vector<std::size_t> wanted_;             // positions in grouped_ that are read in this try
  std::vector<bool> torn_;

  Phase phase_ = Phase::kIdle;
  int try_ = 0;
  std::vector<Read> reads_;  // READs of this phase
  std::size_t posted_ = 0;
  std::size_t done_ = 0;
  rdma::RcEvents events_;
  ReadCounters counters_;
};

}  // namespace pingloom::collector
