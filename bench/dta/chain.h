// A translator's work from a datagram to the collector's memory, without the kernel's receive path:
// intake, shadow, WRITEs between two soft devices on loopback. Both sides are in one thread that
// never waits, so its CPU time is that of both. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/error.h"
#include "load.h"
#include "rdma/device.h"
#include "store/layout.h"
#include "store/table_spec.h"
#include "translator/intake.h"
#include "translator/store_writer.h"

namespace pingloom::bench {

// Nanoseconds of CPU time for each report.
struct ChainCost {
  double both = 0;
  double collector = 0;  // the part of the collector's soft device; a NIC would take none
};

class Chain {
 public:
  static Result<std::unique_ptr<Chain>> create(const std::vector<store::TableSpec>& tables);
  ~Chain();
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  // Takes the datagrams, and writes what has changed every so many reports and at the end.
  Result<ChainCost> run(const Load& load, std::uint64_t flush_every);

  // The store's memory, as the collector's queries see it.
  const store::Head& head() const { return head_; }
  std::span<const std::uint8_t> tableMemory(const store::Table& table) const {
    return std::span(file_).subspan(table.offset, table.bytes);
  }
  const translator::Counters& counters() const { return counters_; }

 private:
  explicit Chain(store::Head head);
  Status open();
  Status flush();
  Status pollCollector();

  store::Head head_;
  std::vector<std::uint8_t> file_;
  std::unique_ptr<rdma::Device> collector_;
  std::unique_ptr<rdma::Domain> collector_domain_;
  std::unique_ptr<rdma::MemoryRegion> region_;
  std::unique_ptr<rdma::RcEndpoint> collector_endpoint_;
  rdma::RcEvents events_;
  Nanos collector_time_ = 0;

  translator::Counters counters_;
  translator::Intake intake_{counters_, 4 << 20};
  std::unique_ptr<rdma::Device> device_;
  std::unique_ptr<rdma::Domain> domain_;
  std::unique_ptr<translator::Shadow> shadow_;
  std::unique_ptr<translator::StoreWriter> writer_;
  std::uint64_t beat_ = 0;
};

}  // namespace pingloom::bench
