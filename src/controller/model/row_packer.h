// Packs rows (packed_row.h). Any thread; one per object.
#pragma once

#include <array>

#include "controller/model/packed_row.h"

namespace pingloom::controller {

// Holds the bytes of one row.
class RowPacker {
 public:
  // The view is valid until the next row is packed. It has every field of the row, but nothing of
  // parts whose count is 0. The row may contradict itself.
  PackedRow pack(const Row& row);

 private:
  std::array<char, kMaxPackedRest> bytes_;
};

}  // namespace pingloom::controller
