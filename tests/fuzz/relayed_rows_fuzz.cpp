// Rows of another controller that are accepted add up, and are read again as the same rows after
// they have been told.
#include <cstdlib>
#include <string>
#include <vector>

#include "controller/model/relayed_rows.h"
#include "controller/model/row_packer.h"
#include "unit/controller/same_shown_row.h"

namespace {

using namespace pingloom;
using namespace pingloom::controller;

void check(const IpAddress& destination, const PackedRow& packed) {
  const Row row = packed.row();
  const std::uint64_t verdicts =
      std::uint64_t{row.received} + row.lost + row.refused + row.unreachable;
  if (verdicts != row.sent || row.ack_lost > row.received || row.misfit > row.unreachable) {
    std::abort();
  }
  for (std::size_t part = 0; part < kRowParts.size(); ++part) {
    const Summary& of = row.*kRowParts[part];
    if (packed.hasPart(part) != (of.count > 0)) std::abort();
    if (!packed.hasPart(part)) continue;
    const bool ascends =
        of.min <= of.p50 && of.p50 <= of.p95 && of.p95 <= of.p99 && of.p99 <= of.max;
    if (!ascends || of.count > row.received || of.mean < of.min || of.mean > of.max) std::abort();
  }
  std::string bytes;
  appendRelayedRow(destination, RowPacker().pack(row), bytes);
  RelayedRowReader reader(bytes);
  IpAddress again_destination;
  PackedRow again;
  if (!reader.next(again_destination, again) || again_destination != destination ||
      !test::sameRow(row, again.row()) || reader.next(again_destination, again)) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // The reader may not look beyond the rows, and the sanitizer notices that only behind memory of
  // the same size.
  const std::vector<char> copy(data, data + size);
  RelayedRowReader reader({copy.data(), copy.size()});
  IpAddress destination;
  PackedRow row;
  while (reader.next(destination, row)) check(destination, row);
  return 0;
}
