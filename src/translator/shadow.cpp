#include "translator/shadow.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "store/path_change.h"

namespace pingloom::translator {

void Unmap::operator()(std::uint8_t* memory) const { munmap(memory, bytes); }

// Keys are all over a table, so with small pages nearly every report misses the TLB.
Status ShadowTable::map(std::uint64_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return makeErrnoError("the copy of the store", "no memory", errno);
  memory_ = std::unique_ptr<std::uint8_t, Unmap>(static_cast<std::uint8_t*>(memory), Unmap{bytes});
  memory_bytes_ = {memory_.get(), bytes};
  madvise(memory, bytes, MADV_HUGEPAGE);  // advice only
  return {};
}

Result<std::unique_ptr<ShadowTable>> ShadowTable::create(const store::Table& table,
                                                         std::size_t index,
                                                         std::uint64_t list_blocks,
                                                         rdma::Domain& domain) {
  std::unique_ptr<ShadowTable> made(new ShadowTable(table));
  const bool lists = table.kind == store::TableKind::kLists;
  const std::uint64_t bytes = lists ? list_blocks * store::kBlockBytes : table.bytes;
  if (auto mapped = made->map(bytes); !mapped) return tl::unexpected(mapped.error());
  auto region = domain.registerMemory(made->memory_bytes_, rdma::Access::kNone);
  if (!region) return tl::unexpected(region.error());
  made->region_ = std::move(*region);
  if (auto writer = made->makeWriter(index); !writer) return tl::unexpected(writer.error());
  return made;
}

Status ShadowTable::makeWriter(std::size_t index) {
  if (table_.isShared()) {
    return keep(store::SharedCounterWriter::create(table_, index, memory_bytes_));
  }
  switch (table_.kind) {
    case store::TableKind::kKeyed:
      return keep(store::KeyedWriter::create(table_, memory_bytes_));
    case store::TableKind::kLists:
      return keep(store::ListWriter::create(table_, memory_bytes_));
    case store::TableKind::kCounters:
      return keep(store::CounterWriter::create(table_, memory_bytes_));
    case store::TableKind::kPaths:
      return keep(store::PathWriter::create(table_, memory_bytes_));
  }
  return makeError("table " + table_.name, "is of a kind that this version does not write");
}

store::KeyedWriter* ShadowTable::slots() const {
  if (auto* paths = as<store::PathWriter>()) return &paths->slots();
  return as<store::KeyedWriter>();
}

bool ShadowTable::take(Take what, const Visit& visit) {
  if (auto* lists = this->lists()) {
    if (what == Take::kFullListBlocks)
      return lists->takeDirty(store::ListFlush::kFullBlocks, visit);
    return what != Take::kListBlocks || lists->takeDirty(store::ListFlush::kAllBlocks, visit);
  }
  if (shared() != nullptr) return true;  // takeSums() takes them
  if (auto* counters = this->counters()) {
    return what != Take::kBlocks || counters->takeDirty(visit);
  }
  if (what == Take::kBlocks) return slots()->takeBlocks(visit);
  return what != Take::kSlots || slots()->takeSlots(visit);
}

void ShadowTable::arrived(std::span<const std::uint8_t> bytes) {
  if (auto* lists = this->lists()) lists->arrived(bytes);
}

void ShadowTable::failed(const Piece& piece) {
  if (auto* lists = this->lists()) return lists->failed(piece.bytes);
  if (auto* counters = this->counters()) return counters->sendAgain(piece.offset);
  if (auto* shared = this->shared()) return shared->sendAgain(piece.offset, piece.amount);
  slots()->sendAgain(piece.offset, piece.bytes.size());
}

// Blocks of lists are looked at and forgotten, so the memory for them is used in turns.
std::span<std::uint8_t> ShadowTable::room(std::uint64_t offset, std::size_t most) {
  const std::uint64_t left = table_.bytes - offset;
  if (lists() == nullptr) {
    return memory_bytes_.subspan(offset, std::min<std::uint64_t>(left, most));
  }
  const std::uint64_t blocks = memory_bytes_.size() / store::kBlockBytes;
  const std::uint64_t each =
      std::min<std::uint64_t>(blocks / readsAtOnce(), most / store::kBlockBytes) *
      store::kBlockBytes;
  return memory_bytes_.subspan(offset / each % readsAtOnce() * each, std::min(left, each));
}

std::size_t ShadowTable::readsAtOnce() const {
  if (table_.kind != store::TableKind::kLists) return kReadsAtOnce;
  return std::min<std::size_t>(memory_bytes_.size() / store::kBlockBytes, kReadsAtOnce);
}

void ShadowTable::took(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
  auto* lists = this->lists();
  if (lists == nullptr) return;
  for (std::size_t at = 0; at < bytes.size(); at += store::kBlockBytes) {
    lists->saw(offset + at, bytes.subspan(at, store::kBlockBytes));
  }
}

void ShadowTable::endRestore() {
  if (auto* slots = this->slots()) slots->restore();
  if (auto* counters = this->counters()) counters->restore();
}

store::TableFigures ShadowTable::figures() const {
  store::TableFigures figures{0, placed, displaced};
  if (const auto* slots = this->slots()) figures.used = slots->used();
  if (const auto* counters = as<store::CounterWriter>()) figures.total = counters->total();
  return figures;
}

Result<std::unique_ptr<Shadow>> Shadow::create(const store::Head& head, rdma::Domain& domain) {
  std::unique_ptr<Shadow> made(new Shadow(head));
  std::uint64_t lists = 0;
  for (const store::Table& table : head.tables) {
    if (table.kind == store::TableKind::kLists) lists += table.lists;
  }
  for (const store::Table& table : head.tables) {
    // A table of lists gets its share of the blocks, which is at least one for each list.
    const std::uint64_t wanted = std::uint64_t{table.lists} * store::ListWriter::kMaxHeld;
    const std::uint64_t share = lists == 0 ? 0 : kMaxListBlocks * table.lists / lists;
    auto copy = ShadowTable::create(table, made->tables_.size(), std::min(share, wanted), domain);
    if (!copy) return tl::unexpected(copy.error());
    if (auto* writer = (*copy)->lists()) {
      made->lists_.push_back(writer);
      const bool fits = table.value_bytes >= store::pathChangeBytes(store::kIpv4Bytes);
      if (table.name == store::kPathChanges && fits) made->path_changes_ = copy->get();
    }
    made->tables_.push_back(std::move(*copy));
  }
  return made;
}

bool Shadow::matches(const store::Head& head) const {
  return head.store == head_.store && head.made == head_.made && head.tables == head_.tables;
}

ShadowTable* Shadow::find(std::uint16_t id) {
  for (const auto& table : tables_) {
    if (table->table().id == id) return table.get();
  }
  return nullptr;
}

bool Shadow::take(ShadowTable::Take what, const std::function<bool(const Piece&)>& visit) {
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const auto one = [&visit, i](std::uint64_t offset, std::span<std::uint8_t> bytes) {
      return visit(Piece{offset, bytes, i});
    };
    if (!tables_[i]->take(what, one)) return false;
  }
  return true;
}

bool Shadow::takeSums(const std::function<bool(const Piece&)>& visit) {
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    auto* const shared = tables_[i]->shared();
    if (shared == nullptr) continue;
    const bool all = shared->takeSums([&](std::uint64_t offset, std::uint64_t amount) {
      return visit(Piece{offset, {}, i, amount});
    });
    if (!all) return false;
  }
  return true;
}

void Shadow::publishKeys() {
  for (const auto& table : tables_) {
    if (auto* counters = table->counters()) counters->publishKeys();
  }
}

bool Shadow::listsChanged() const {
  return std::any_of(lists_.begin(), lists_.end(),
                     [](const store::ListWriter* lists) { return lists->hasDirty(); });
}

std::uint64_t Shadow::fullListBlocks() const {
  std::uint64_t full = 0;
  for (const store::ListWriter* lists : lists_) full += lists->fullBlocks();
  return full;
}

bool Shadow::crowded() const {
  return std::any_of(lists_.begin(), lists_.end(),
                     [](const store::ListWriter* lists) { return lists->crowded(); });
}

}  // namespace pingloom::translator
