// Both readers of a row agree: whatever the bytes are, they are read as protobuf reads them.
#include <cstdlib>
#include <vector>

#include "unit/wire/same_row.h"
#include "wire/row_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pingloom::wire;
  // The reader may not look beyond the row, and the sanitizer notices that only behind memory of
  // the same size.
  const std::vector<char> copy(data, data + size);
  const std::string_view bytes(copy.data(), copy.size());
  Row message;
  const bool good = message.ParseFromArray(copy.data(), static_cast<int>(copy.size()));
  static RowReader reader;
  const RowView* const row = reader.read(bytes);
  if ((row != nullptr) != good) std::abort();
  if (row != nullptr && !test::same(*row, viewOf(message))) std::abort();
  std::vector<std::uint32_t> numbers;
  RowView usual;
  if (readUsualRow(bytes, numbers, usual) && !(good && test::same(usual, viewOf(message)))) {
    std::abort();
  }
  return 0;
}
