#include "cli/failure.h"

#include <iostream>

#include "common/program.h"

namespace pingloom::cli {

void complain(std::string_view command, const Error& error) {
  std::cerr << command << ": " << error.text() << "\n";
}

int fail(std::string_view command, const Error& error, int code) {
  complain(command, error);
  return code;
}

int usageError(std::string_view command, const Error& error) {
  return program::usageError(command, error.text());
}

}  // namespace pingloom::cli
