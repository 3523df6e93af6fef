#include "translator/store_writer.h"

#include <algorithm>

namespace pingloom::translator {
namespace {

// A silent collector counts as gone after half a second.
constexpr std::uint8_t kWriterTimeout = 14;  // 67 ms

std::span<std::uint8_t> bytesOf(std::span<std::uint64_t> words) {
  return {reinterpret_cast<std::uint8_t*>(words.data()), words.size_bytes()};
}

}  // namespace

StoreWriter::StoreWriter(rdma::Domain& domain, Counters& counters)
    : domain_(domain),
      counters_(counters),
      status_bytes_(store::kStatusBytes),
      results_(kDepth),
      in_flight_(kDepth) {}

Result<std::unique_ptr<StoreWriter>> StoreWriter::create(rdma::Domain& domain, Counters& counters) {
  std::unique_ptr<StoreWriter> made(new StoreWriter(domain, counters));
  if (auto opened = made->open(); !opened) return tl::unexpected(opened.error());
  return made;
}

Status StoreWriter::open() {
  auto region = domain_.registerMemory(status_bytes_, rdma::Access::kNone);
  if (!region) return tl::unexpected(region.error());
  status_region_ = std::move(*region);
  auto results = domain_.registerMemory(bytesOf(results_), rdma::Access::kNone);
  if (!results) return tl::unexpected(results.error());
  results_region_ = std::move(*results);
  rdma::RcOptions options;
  options.timeout = kWriterTimeout;
  options.reads = kAtomicsInFlight;
  options.depth = kDepth;
  auto endpoint = domain_.createRc(options);
  if (!endpoint) return tl::unexpected(endpoint.error());
  endpoint_ = std::move(*endpoint);
  return {};
}

StoreWriter::~StoreWriter() {
  if (shadow_ == nullptr || restoring_) return;
  for (; done_ < posted_; ++done_) {
    const Piece& piece = in_flight_[done_ % kDepth];
    if (piece.table == kNoTable) continue;
    shadow_->tables()[piece.table]->failed(piece);
  }
}

Status StoreWriter::connect(const store::Connected& to) {
  remote_ = to.address;
  rkey_ = to.rkey;
  return endpoint_->startConnect(to.endpoint);
}

void StoreWriter::serve(Shadow& shadow, bool restore) {
  shadow_ = &shadow;
  // What others have added to a shared store is no concern of ours.
  restoring_ = restore && !shadow.tables().empty() && !shadow.head().isShared();
  pump();
}

void StoreWriter::flush(const store::WriterStatus& status) {
  if (shadow_ == nullptr || restoring_) return;
  const auto block = store::encodeStatus(status);
  std::copy(block.begin(), block.end(), status_bytes_.begin());
  beat_wanted_ = static_cast<std::uint64_t>(status.utc);
  status_late_ = status_due_;
  if (flush_began_ == 0) flush_began_ = monotonicNow();
  lists_due_ = flush_due_ = status_due_ = true;
  pump();
}

void StoreWriter::flushLists(store::ListFlush which) {
  if (shadow_ == nullptr || restoring_) return;
  (which == store::ListFlush::kFullBlocks ? full_lists_due_ : lists_due_) = true;
  pump();
}

Status StoreWriter::poll() {
  events_.clear();
  auto polled = endpoint_->poll(events_);
  for (const rdma::RcDone& done : events_.done) take(done);
  if (!polled) return polled;
  if (shadow_ != nullptr) pump();
  return {};
}

// Requests are done in order, so one that is done shows that those before it are.
void StoreWriter::take(const rdma::RcDone& done) {
  if (done.status != rdma::RcStatus::kOk || done.id < done_ || done.id >= posted_) return;
  for (; done_ <= done.id; ++done_) {
    const Piece& piece = in_flight_[done_ % kDepth];
    if (restoring_) --reads_;
    if (flush_last_ == done_) {
      ++counters_.flushes;
      counters_.flush_time += monotonicNow() - flush_began_;
      flush_began_ = 0;
      flush_last_.reset();
    }
    if (beat_ == done_) {
      beat_seen_ = results_[done_ % kDepth];
      beat_.reset();
    }
    if (piece.table == kNoTable) continue;
    ShadowTable& table = *shadow_->tables()[piece.table];
    if (restoring_) {
      table.took(piece.offset - table.table().offset, piece.bytes);
    } else {
      table.arrived(piece.bytes);
    }
  }
}

void StoreWriter::pump() {
  if (endpoint_->state() != rdma::RcState::kConnected) return;
  const std::uint64_t before = posted_;
  if (restoring_) {
    postReads();
  } else if (shadow_->head().isShared()) {
    pumpSums();
  } else {
    if (status_late_) postStatus();
    pumpLists();
    if (flush_due_) {
      const auto post = [this](const Piece& piece) { return postBlock(piece); };
      flush_due_ = !(shadow_->take(ShadowTable::Take::kBlocks, post) &&
                     shadow_->take(ShadowTable::Take::kSlots, post));
    }
    if (!flush_due_ && !lists_due_ && status_due_) postLast();
  }
  if (posted_ != before) endpoint_->flush();
}

// Posts what ends a flush: when it has arrived, so has everything before it.
void StoreWriter::postLast() {
  const std::uint64_t before = posted_;
  if (shadow_->head().isShared()) {
    postBeat();
  } else {
    postStatus();
  }
  if (posted_ != before) flush_last_ = before;
}

void StoreWriter::pumpLists() {
  if (lists_due_) {
    lists_due_ = !shadow_->take(ShadowTable::Take::kListBlocks,
                                [this](const Piece& piece) { return postList(piece, true); });
    full_lists_due_ = false;
  } else if (full_lists_due_) {
    full_lists_due_ = !shadow_->take(ShadowTable::Take::kFullListBlocks,
                                     [this](const Piece& piece) { return postList(piece, false); });
  }
}

bool StoreWriter::postBlock(const Piece& piece) {
  return postWrite(piece, shadow_->tables()[piece.table]->region(), false);
}

// A list drops entries if it does not learn that its blocks have arrived. A short one has too few
// blocks to wait for others to be signalled, and behind unfinished ones there may be no others.
bool StoreWriter::postList(const Piece& piece, bool unfinished) {
  const ShadowTable& table = *shadow_->tables()[piece.table];
  const bool is_short = table.table().units < 2 * kSignalEvery;
  return postWrite(piece, table.region(), unfinished || is_short);
}

bool StoreWriter::postWrite(const Piece& piece, const rdma::MemoryRegion& region, bool signalled) {
  if (posted_ - done_ == kDepth) return false;
  __builtin_prefetch(piece.bytes.data());  // the packet is built once more WRITEs are posted
  const rdma::LocalPiece local{&region, piece.bytes};
  rdma::RcRequest request;
  request.operation = rdma::RcOperation::kWrite;
  request.id = posted_;
  request.signalled = signalled || posted_ % kSignalEvery == kSignalEvery - 1;
  request.local = {&local, 1};
  request.remote_address = remote_ + (piece.offset - store::kRegionOffset);
  request.rkey = rkey_;
  if (endpoint_->post(request) != rdma::PostResult::kPosted) return false;
  in_flight_[posted_ % kDepth] = piece;
  ++posted_;
  ++counters_.writes;
  counters_.write_bytes += piece.bytes.size();
  return true;
}

// The status is signalled, so it confirms the WRITEs before it.
void StoreWriter::postStatus() {
  const Piece piece{store::kStatusOffset, status_bytes_, kNoTable};
  if (postWrite(piece, *status_region_, true)) status_due_ = status_late_ = false;
}

void StoreWriter::pumpSums() {
  if (status_late_) postBeat();
  if (flush_due_) {
    flush_due_ = !shadow_->takeSums([this](const Piece& piece) {
      rdma::RcRequest request;
      request.operation = rdma::RcOperation::kFetchAdd;
      request.add_or_swap = piece.amount;
      return postAtomic(request, piece);
    });
  }
  if (!flush_due_ && status_due_) postLast();
}

// Writers of a shared store cannot WRITE, so they show that they are alive by setting the time. A
// writer that does not know the present one learns it, and succeeds the next time; in the meantime
// somebody else has set it.
void StoreWriter::postBeat() {
  if (beat_) return;
  rdma::RcRequest request;
  request.operation = rdma::RcOperation::kCompareSwap;
  request.compare = beat_seen_;
  request.add_or_swap = beat_wanted_;
  beat_ = posted_;
  if (postAtomic(request, {store::kBeatOffset, {}, kNoTable})) {
    status_due_ = status_late_ = false;
  } else {
    beat_.reset();
  }
}

bool StoreWriter::postAtomic(rdma::RcRequest request, const Piece& piece) {
  if (posted_ - done_ == kDepth) return false;
  const auto result = std::span(results_).subspan(posted_ % kDepth, 1);
  const rdma::LocalPiece local{results_region_.get(), bytesOf(result)};
  request.id = posted_;
  request.signalled = beat_ == posted_ || posted_ % kSignalEvery == kSignalEvery - 1;
  request.local = {&local, 1};
  request.remote_address = remote_ + (piece.offset - store::kRegionOffset);
  request.rkey = rkey_;
  if (endpoint_->post(request) != rdma::PostResult::kPosted) return false;
  in_flight_[posted_ % kDepth] = piece;
  ++posted_;
  ++counters_.writes;
  counters_.write_bytes += rdma::kAtomicBytes;
  return true;
}

void StoreWriter::postReads() {
  const auto tables = shadow_->tables();
  while (read_table_ < tables.size() && reads_ < tables[read_table_]->readsAtOnce()) {
    ShadowTable& table = *tables[read_table_];
    const std::uint64_t offset = table.table().offset + read_offset_;
    const auto into = table.room(read_offset_, kReadBytes);
    const rdma::LocalPiece local{&table.region(), into};
    rdma::RcRequest request;
    request.id = posted_;
    request.local = {&local, 1};
    request.remote_address = remote_ + (offset - store::kRegionOffset);
    request.rkey = rkey_;
    if (endpoint_->post(request) != rdma::PostResult::kPosted) return;
    in_flight_[posted_ % kDepth] = {offset, into, read_table_};
    ++posted_;
    ++reads_;
    read_offset_ += into.size();
    if (read_offset_ == table.table().bytes) {
      ++read_table_;
      read_offset_ = 0;
    }
  }
  if (read_table_ == tables.size() && reads_ == 0) endRestore();
}

void StoreWriter::endRestore() {
  for (const auto& table : shadow_->tables()) table->endRestore();
  restoring_ = false;
}

}  // namespace pingloom::translator
