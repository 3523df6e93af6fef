#include "store/list_writer.h"

#include <algorithm>

#include "store/list_block.h"

namespace pingloom::store {

Result<std::unique_ptr<ListWriter>> ListWriter::create(const Table& table,
                                                       std::span<std::uint8_t> content) {
  if (table.kind != TableKind::kLists) {
    return makeError("table " + table.name, "is not one of lists");
  }
  if (content.size() != table.bytes) {
    return makeError("table " + table.name, "the copy has another size");
  }
  std::unique_ptr<ListWriter> made(new ListWriter(table, content));
  made->findEnds();
  return made;
}

void ListWriter::findEnds() {
  for (std::uint32_t list = 0; list < table_.lists; ++list) {
    for (std::uint64_t block = 0; block < table_.units; ++block) {
      const auto there =
          readBlock(table_, content_.subspan(blockOffset(table_, list, block), kBlockBytes));
      if (there && there->sequence > ends_[list].sequence) ends_[list].sequence = there->sequence;
    }
    // The last block counts as full.
    if (ends_[list].sequence != 0) ends_[list].count = entriesPerBlock(table_.value_bytes);
  }
}

bool ListWriter::append(std::uint32_t list, std::span<const std::uint8_t> entry) {
  End& end = ends_[list];
  const bool fresh = end.sequence == 0 || end.count == entriesPerBlock(table_.value_bytes);
  const std::uint64_t sequence = end.sequence + (fresh ? 1 : 0);
  const std::uint64_t offset = blockOffset(table_, list, sequence);
  if (fresh && dirty_.isMarked(offset)) return false;
  end = {sequence, fresh ? std::uint16_t{0} : end.count};
  const auto block = content_.subspan(offset, kBlockBytes);
  const auto place = block.subspan(kListHeadBytes + end.count * std::size_t{table_.value_bytes},
                                   table_.value_bytes);
  std::fill(std::copy(entry.begin(), entry.end(), place.begin()), place.end(), 0);
  ++end.count;
  sealBlock(table_, block, {sequence, end.count});
  dirty_.mark(offset);
  return true;
}

}  // namespace pingloom::store
