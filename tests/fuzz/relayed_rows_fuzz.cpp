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

void check(const IpAddress& destination, const Row& row) {
  const std::uint64_t verdicts =
      std::uint64_t{row.received} + row.lost + row.refused + row.unreachable;
  if (verdicts != row.sent || row.ack_lost > row.received) std::abort();
  for (const auto part : kRowParts) {
    const Summary& of = row.*part;
    if (of.count > row.received || of.min > of.p50 || of.p50 > of.p99 || of.p99 > of.max ||
        of.mean > of.max) {
      std::abort();
    }
  }
  std::string bytes;
  appendRelayedRow(destination, RowPacker().pack(row), bytes);
  RelayedRowReader reader(bytes);
  if (reader.destination() != destination) std::abort();
  const auto again = reader.row();
  if (!again || !reader.ended() || !test::sameRow(row, again->row())) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // The reader may not look beyond the rows, and the sanitizer notices that only behind memory of
  // the same size.
  const std::vector<char> copy(data, data + size);
  RelayedRowReader reader({copy.data(), copy.size()});
  while (!reader.ended()) {
    const auto destination = reader.destination();
    if (!destination) return 0;
    const auto row = reader.row();
    if (!row) return 0;
    check(*destination, row->row());
  }
  return 0;
}
