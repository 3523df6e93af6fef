#include "cli/input_file.h"

#include <iostream>

#include "common/file.h"

namespace pingloom::cli {
namespace {

constexpr std::size_t kMaxFileBytes = 64U << 20;

}  // namespace

Result<std::string> readInputFile(const std::string& file) { return readFile(file, kMaxFileBytes); }

int failFile(const Error& error, int code) {
  std::cerr << error.text() << "\n";
  return code;
}

}  // namespace pingloom::cli
