#include "translator/shadow.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

namespace pingloom::translator {

void Unmap::operator()(std::uint8_t* memory) const { munmap(memory, bytes); }

// Keys are all over a table, so with small pages nearly every report misses the TLB.
Status ShadowTable::map(std::uint64_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return makeErrnoError("the copy of the store", "no memory", errno);
  memory_ = std::unique_ptr<std::uint8_t, Unmap>(static_cast<std::uint8_t*>(memory), Unmap{bytes});
  content_ = {memory_.get(), bytes};
  madvise(memory, bytes, MADV_HUGEPAGE);  // advice only
  return {};
}

Result<std::unique_ptr<ShadowTable>> ShadowTable::create(const store::Table& table,
                                                         rdma::Domain& domain) {
  std::unique_ptr<ShadowTable> made(new ShadowTable());
  if (auto mapped = made->map(table.bytes); !mapped) return tl::unexpected(mapped.error());
  auto region = domain.registerMemory(made->content_, rdma::Access::kNone);
  if (!region) return tl::unexpected(region.error());
  made->region_ = std::move(*region);
  auto writer = store::KeyedWriter::create(table, made->content_);
  if (!writer) return tl::unexpected(writer.error());
  made->writer_ = std::move(*writer);
  return made;
}

Result<std::unique_ptr<Shadow>> Shadow::create(const store::Head& head, rdma::Domain& domain) {
  std::unique_ptr<Shadow> made(new Shadow(head));
  for (const store::Table& table : head.tables) {
    if (table.kind != store::TableKind::kKeyed) continue;
    auto copy = ShadowTable::create(table, domain);
    if (!copy) return tl::unexpected(copy.error());
    made->tables_.push_back(std::move(*copy));
  }
  return made;
}

bool Shadow::matches(const store::Head& head) const {
  return head.store == head_.store && head.made == head_.made && head.tables == head_.tables;
}

const store::Table* Shadow::describe(std::uint16_t id) const {
  const auto found = std::find_if(head_.tables.begin(), head_.tables.end(),
                                  [&](const store::Table& table) { return table.id == id; });
  return found != head_.tables.end() ? &*found : nullptr;
}

ShadowTable* Shadow::keyed(std::uint16_t id) {
  for (const auto& table : tables_) {
    if (table->table().id == id) return table.get();
  }
  return nullptr;
}

}  // namespace pingloom::translator
