// Reads the serialized rows of reports (control.proto). There are two readers, because a controller
// reads every row of the mesh. Rows as agents write them are read by hand, several times faster
// than protobuf builds a message. All other encodings that protobuf permits go to protobuf, which
// also decides whether bytes are malformed: the reader by hand never refuses a row.
// One thread per object.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "control.pb.h"
#include "wire/row_view.h"

namespace pingloom::wire {

// Reads a row in the usual encoding. That has known fields of their own wire types only, every list
// packed and at most once, every part at most once, and tags in their shortest form. Numbers have
// at most 5 bytes, or 9 if they are 64 bits wide. Returns false if the bytes are anything else,
// truncated or malformed; `out` is unspecified then.
// The views point into `bytes` and `numbers`, whose memory is reused; it takes 4 bytes for each of
// `bytes` at most.
bool readUsualRow(std::string_view bytes, std::vector<std::uint32_t>& numbers, RowView& out);

class RowReader {
 public:
  // Returns what protobuf would read, or nullptr if the bytes are malformed. The row is valid until
  // the next call, and no longer than `bytes`. The caller bounds the size of `bytes`.
  const RowView* read(std::string_view bytes);

 private:
  RowView row_;
  std::vector<std::uint32_t> numbers_;
  Row message_;  // the last row that was not in the usual encoding
};

}  // namespace pingloom::wire
