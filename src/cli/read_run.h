// Reads a remote region over a connected endpoint, measures the time and checks the contents. One
// thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/read_client.h"
#include "common/distribution.h"
#include "common/error.h"
#include "common/time.h"
#include "rdma/device.h"

namespace pingloom::cli {

struct ReadJob {
  std::uint32_t bytes = 0;  // length of one READ; at most the region's length
  std::uint64_t count = 0;  // number of READs
  std::uint32_t depth = 1;  // maximum number of READs in flight
  bool busy = false;        // spins instead of waiting for events
};

// The result of a number of READs with `depth` in flight.
struct ReadPhase {
  static constexpr std::size_t kStatuses = 8;

  std::uint32_t depth = 1;
  std::uint64_t done = 0;                         // READs that succeeded
  std::array<std::uint64_t, kStatuses> failed{};  // READs that failed, by rdma::RcStatus
  std::uint64_t checked = 0;                      // READs whose contents were compared
  std::uint64_t wrong = 0;                        // READs whose contents were wrong
  Nanos elapsed = 0;                              // from the first request to the last answer
  Distribution latency;                           // from a request to its completion
  std::string failure;                            // why it ended early; "" if it did not
  bool stopped = false;                           // whether the user stopped it

  bool complete() const { return failure.empty() && !stopped; }
};

class ReadRun {
 public:
  // REQUIRES: `endpoint` is of the domain, and the domain's device outlives the run.
  static Result<std::unique_ptr<ReadRun>> create(std::unique_ptr<rdma::Domain> domain,
                                                 const ReadJob& job,
                                                 std::unique_ptr<rdma::RcEndpoint> endpoint,
                                                 RemoteRegion remote, int stop);

  // With depth 1 the contents of each READ are checked. Otherwise only the last READ into each
  // buffer is checked, so that checking costs no throughput.
  ReadPhase run(std::uint32_t depth);
  const RemoteRegion& remote() const { return remote_; }

 private:
  struct Place {
    Nanos posted = 0;
    std::uint64_t offset = 0;  // offset into the region
    bool filled = false;       // whether the READ has completed
  };

  ReadRun(const ReadJob& job, RemoteRegion remote, int stop)
      : job_(job), remote_(std::move(remote)), stop_(stop) {}
  void post(std::uint32_t place);
  void wait(ReadPhase& phase);
  void take(ReadPhase& phase, std::vector<std::uint32_t>& free);
  void check(ReadPhase& phase, std::uint32_t place);
  std::span<std::uint8_t> memoryOf(std::uint32_t place);

  ReadJob job_;
  RemoteRegion remote_;
  int stop_;
  std::vector<std::uint8_t> memory_;
  std::unique_ptr<rdma::Domain> domain_;
  std::unique_ptr<rdma::MemoryRegion> region_;
  std::unique_ptr<rdma::RcEndpoint> endpoint_;  // destroyed before the memory it writes to
  rdma::RcEvents events_;
  std::vector<Place> places_;
  std::uint64_t next_ = 0;  // READs posted in all phases
  Nanos begin_ = 0;         // when the phase began
  std::uint32_t rounds_ = 0;
};

}  // namespace pingloom::cli
