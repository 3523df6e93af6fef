// Writes the shadow into the collector's store: one RC endpoint, its requests in flight, and the
// order in which things leave. What was in flight when the endpoint fails is written again by the
// next one, which is harmless, because every WRITE carries whole slots, sums or blocks. Into a
// shared store it adds by FETCH_ADD instead: what was in flight is then added once more, so at most
// kAtomicsInFlight sums count twice for each endpoint that fails. One thread: the device's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/error.h"
#include "common/time.h"
#include "rdma/device.h"
#include "store/store_messages.h"
#include "store/writer_status.h"
#include "translator/counters.h"
#include "translator/shadow.h"

namespace pingloom::translator {

class StoreWriter {
 public:
  static constexpr std::uint32_t kDepth = 1024;           // requests in flight
  static constexpr std::uint32_t kSignalEvery = 32;       // WRITEs
  static constexpr std::uint32_t kReadBytes = 64 * 1024;  // of one READ
  // Requests behind these have not left, so they cannot have been carried out.
  static constexpr std::uint8_t kAtomicsInFlight = 16;

  // REQUIRES: the domain and the counters outlive this.
  static Result<std::unique_ptr<StoreWriter>> create(rdma::Domain& domain, Counters& counters);
  // Marks in the shadow what is not known to have arrived. REQUIRES: the shadow exists.
  ~StoreWriter();
  StoreWriter(const StoreWriter&) = delete;
  StoreWriter& operator=(const StoreWriter&) = delete;

  const rdma::RcAddress& address() const { return endpoint_->address(); }
  Status connect(const store::Connected& to);
  bool connecting() const { return endpoint_->state() == rdma::RcState::kConnecting; }

  // Sets what is written. With `restore` the shadow's content is read from the store first,
  // unless the store is shared.
  // REQUIRES: connected; the shadow outlives this.
  void serve(Shadow& shadow, bool restore);
  bool restoring() const { return restoring_; }

  // Asks that everything changed so far, and then the status, be written. A status that still waits
  // at the next call goes first, so readers see a beat however much there is to write.
  void flush(const store::WriterStatus& status);
  // Asks that blocks of lists be written before everything else.
  void flushLists(store::ListFlush which);

  // Never blocks. An error means that the endpoint has failed.
  Status poll();
  Nanos nextWake() const { return endpoint_->nextWake(); }
  int descriptor() const { return endpoint_->descriptor(); }

 private:
  StoreWriter(rdma::Domain& domain, Counters& counters);
  Status open();
  void take(const rdma::RcDone& done);
  bool postWrite(const Piece& piece, const rdma::MemoryRegion& region, bool signalled);
  bool postBlock(const Piece& piece);
  bool postList(const Piece& piece, bool unfinished);
  void pumpLists();
  void postStatus();
  void pumpSums();
  bool postAtomic(rdma::RcRequest request, const Piece& piece);
  void postBeat();
  void postReads();
  void endRestore();
  void pump();
  void postLast();

  static constexpr std::size_t kNoTable = SIZE_MAX;

  rdma::Domain& domain_;
  Counters& counters_;
  std::vector<std::uint8_t> status_bytes_;
  std::unique_ptr<rdma::MemoryRegion> status_region_;
  std::vector<std::uint64_t> results_;  // of atomics: that of request n is at n modulo kDepth
  std::unique_ptr<rdma::MemoryRegion> results_region_;
  std::unique_ptr<rdma::RcEndpoint> endpoint_;
  std::uint64_t remote_ = 0;  // the address of the store's first byte that may be written
  std::uint32_t rkey_ = 0;
  Shadow* shadow_ = nullptr;
  bool restoring_ = false;
  std::size_t read_table_ = 0;  // the next READ is from this table and offset
  std::uint64_t read_offset_ = 0;
  std::uint32_t reads_ = 0;  // in flight
  bool full_lists_due_ = false;
  bool lists_due_ = false;
  bool flush_due_ = false;
  bool status_due_ = false;
  bool status_late_ = false;
  Nanos flush_began_ = 0;                    // 0: none is under way
  std::optional<std::uint64_t> flush_last_;  // the last request of the one under way
  std::vector<Piece> in_flight_;             // a ring: request n is at n modulo kDepth
  std::uint64_t posted_ = 0;
  std::uint64_t done_ = 0;
  // The time that was last seen in a shared store, and the one that we last wanted there.
  std::uint64_t beat_seen_ = 0;
  std::uint64_t beat_wanted_ = 0;
  std::optional<std::uint64_t> beat_;  // the request that brings it there
  rdma::RcEvents events_;
};

}  // namespace pingloom::translator
