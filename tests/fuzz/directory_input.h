// How an input begins that has a directory of pages in it: a length (u16), a Directory of so many
// bytes.
#pragma once

#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "pages.pb.h"

namespace pingloom::fuzz {

struct DirectoryInput {
  wire::Directory update;              // complete
  std::span<const std::uint8_t> rest;  // of the input
};

// nullopt: there is none.
inline std::optional<DirectoryInput> readDirectoryInput(std::span<const std::uint8_t> input) {
  google::protobuf::SetLogHandler(nullptr);
  if (input.size() < 2) return std::nullopt;
  const std::size_t length = std::min<std::size_t>(input[0] | input[1] << 8, input.size() - 2);
  DirectoryInput made;
  if (!made.update.ParseFromArray(input.data() + 2, static_cast<int>(length))) return std::nullopt;
  made.update.set_complete(true);
  made.rest = input.subspan(2 + length);
  return made;
}

}  // namespace pingloom::fuzz
