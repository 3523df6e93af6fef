// A store that somebody hostile has written: a head is refused, or all readers can read its tables,
// whatever their bytes are, and reach nothing outside. The input: the head's first 48 bytes with a
// flag in the place of the magic's first byte (1: checksums of slots and blocks are right), the
// number of tables, their descriptors of 128 bytes, a status page, the length of a key, the key,
// and the bytes that the tables repeat, so that they may be as large as a head can say.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "common/crc32c.h"
#include "store/counter_table.h"
#include "store/hash.h"
#include "store/keyed_reader.h"
#include "store/layout.h"
#include "store/list_block.h"
#include "store/list_reader.h"
#include "store/little_endian.h"
#include "store/path_slot.h"
#include "store/writer_status.h"

namespace {

using namespace pingloom;
using namespace pingloom::store;
using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t kHeadBytes = 48;
constexpr std::size_t kDescriptorsOffset = 128;
constexpr std::size_t kDescriptorBytes = 128;
constexpr std::size_t kMaxEntries = 200;         // that are read of a list
constexpr std::uint64_t kMaxCounted = 64 << 10;  // bytes of a table whose slots are counted
constexpr std::uint64_t kMaxCopied = 1 << 20;    // bytes of a table that is read in memory too
constexpr std::array<std::uint64_t, 6> kSequences = {0, 1, 2, 1000, UINT64_MAX - 1, UINT64_MAX};

Bytes take(Bytes& from, std::size_t bytes) {
  const Bytes taken = from.first(std::min(bytes, from.size()));
  from = from.subspan(taken.size());
  return taken;
}

// One table, which repeats the input's bytes. With `sealed` its checksums are right, as those of a
// writer that has the seed.
class HostileTable : public RemoteStore {
 public:
  HostileTable(const Table& table, Bytes bytes, Bytes key, bool sealed)
      : table_(table), bytes_(bytes), key_(key), sealed_(sealed) {}

  void read(std::uint64_t base, std::span<const ReadPiece> pieces) const override {
    for (const ReadPiece& piece : pieces) {
      if (base != table_.offset || piece.offset % 8 != 0 || piece.into.size() % 8 != 0 ||
          piece.offset > table_.bytes || piece.into.size() > table_.bytes - piece.offset) {
        std::abort();
      }
      for (std::size_t i = 0; i < piece.into.size(); ++i) {
        piece.into[i] = bytes_.empty() ? 0 : bytes_[(piece.offset + i) % bytes_.size()];
      }
      if (sealed_) seal(piece);
    }
  }
  Status reachable() const override { return {}; }

 private:
  void seal(const ReadPiece& piece) const {
    if (table_.kind == TableKind::kLists) {
      const auto room = static_cast<std::uint16_t>(entriesPerBlock(table_.value_bytes) + 1);
      const auto count = getLittle<std::uint16_t>(piece.into, 8);
      // Blocks have the sequences of their places, or what the input says.
      const auto told = getLittle<std::uint64_t>(piece.into, 0);
      const std::uint64_t place = piece.offset / kBlockBytes % table_.units;
      const std::uint64_t sequence = told % 2 == 0 ? told : told / 2 * table_.units + place;
      sealBlock(table_, piece.into, {sequence, static_cast<std::uint16_t>(count % room)});
    } else if (hasSlots(table_.kind) && piece.into.size() >= table_.slotBytes()) {
      for (std::size_t at = 0; at < piece.into.size(); at += table_.slotBytes()) {
        const auto slot = piece.into.subspan(at, table_.slotBytes());
        const auto stamp = getLittle<std::uint32_t>(slot, 4);
        putLittle(slot, 0, slotCrc(table_.seed, key_, stamp, slot.subspan(kSlotHeadBytes)));
      }
    }
  }

  const Table& table_;
  const Bytes bytes_;
  const Bytes key_;
  const bool sealed_;
};

void readSlots(const Table& table, const TableMemory& memory, Bytes key) {
  if (table.bytes <= kMaxCounted && countUsed(table, memory) > table.units * table.ways) {
    std::abort();
  }
  const auto found = findKey(table, memory, key);
  if (!found) return;
  if (found->stamp == 0 || found->size != table.value_bytes) std::abort();
  if (table.kind != TableKind::kPaths) return;
  const Path path = decodePath(table, found->bytes());
  if (path.hops > table.hops || path.present > Path::maskOf(static_cast<std::uint8_t>(table.hops)))
    std::abort();
  std::vector<std::uint8_t> written(table.value_bytes);
  encodePath(table, path, written);
}

void readList(const Table& table, const TableMemory& memory, std::uint32_t list) {
  std::vector<ListCursor> cursors = {beginOfList(table, memory, list),
                                     endOfList(table, memory, list)};
  for (const std::uint64_t sequence : kSequences) cursors.push_back({sequence, 3});
  for (const ListCursor& from : cursors) {
    std::size_t seen = 0;
    const Tail tail = readTail(table, memory, list, from, kMaxEntries, [&](Bytes entry) {
      if (entry.size() != table.value_bytes) std::abort();
      ++seen;
    });
    if (seen != tail.entries || seen > kMaxEntries) std::abort();
  }
}

void readTable(const Table& table, const TableMemory& memory, Bytes key) {
  if (hasSlots(table.kind)) {
    readSlots(table, memory, key);
  } else if (table.kind == TableKind::kCounters) {
    static_cast<void>(countKey(table, memory, key));
  } else {
    readList(table, memory, 0);
    readList(table, memory, table.lists - 1);
  }
}

// The sanitizer sees what is read beyond a table in memory.
void readInMemory(const Table& table, const HostileTable& store, Bytes key) {
  if (table.bytes > kMaxCopied) return;
  std::vector<std::uint64_t> words(table.bytes / sizeof(std::uint64_t));
  const std::span memory(reinterpret_cast<std::uint8_t*>(words.data()), table.bytes);
  const ReadPiece all{0, memory};
  store.read(table.offset, {&all, 1});
  readTable(table, TableMemory(memory), key);
}

Result<Head> readHead(Bytes& input) {
  HeadPage page{};
  const Bytes first = take(input, kHeadBytes);
  std::copy(first.begin(), first.end(), page.begin());
  const Bytes count = take(input, 1);
  const std::uint32_t tables = count.empty() ? 0 : count[0];
  const Bytes descriptors =
      take(input, std::min<std::size_t>(tables, kMaxTables) * kDescriptorBytes);
  std::copy(descriptors.begin(), descriptors.end(), page.begin() + kDescriptorsOffset);
  const std::span<std::uint8_t> out(page);
  putLittle(out, 0, std::uint32_t{0x54534c50});
  putLittle(out, 4, std::uint16_t{1});
  putLittle(out, 40, tables);
  putLittle(out, 44,
            crc32c(Bytes(page).subspan(kDescriptorsOffset), crc32c(Bytes(page).first(44))));
  auto head = decodeHead(page);
  if (!head) return head;
  const auto again = decodeHead(encodeHead(*head));
  if (!again || *again != *head) std::abort();
  return head;
}

void readStatus(Bytes block) {
  StatusBlock page{};
  std::copy(block.begin(), block.end(), page.begin());
  const std::span<std::uint8_t> out(page);
  putLittle(out, 0, std::uint32_t{0x53534c50});
  putLittle(out, 4, std::uint16_t{1});
  putLittle(out, 112, crc32c(Bytes(page).subspan(128), crc32c(Bytes(page).first(112))));
  const auto status = decodeStatus(page);
  if (!status) std::abort();  // its numbers may be any
  const auto again = decodeStatus(encodeStatus(*status));
  if (!again || *again != *status) std::abort();
  static_cast<void>(decodeStatus(block));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes input(data, size);
  const bool sealed = size > 0 && (data[0] & 1) != 0;
  static_cast<void>(decodeHead(input));
  const auto head = readHead(input);
  if (!head) return 0;
  readStatus(take(input, kStatusBytes));
  const Bytes length = take(input, 1);
  const Bytes key = take(input, length.empty() ? 1 : 1 + length[0] % kMaxKeyBytes);
  if (key.empty()) return 0;
  for (const Table& table : head->tables) {
    const HostileTable store(table, input, key, sealed);
    readTable(table, TableMemory(store, table.offset), key);
    readInMemory(table, store, key);
  }
  return 0;
}
