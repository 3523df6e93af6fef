// The result of an operation: a code of pingloom/pages.h and a message. It does not use
// common/error.h, because the library that applications link depends on no other part of pingloom.
#pragma once

#include <pingloom/pages.h>

#include <string>

namespace pingloom::pages::client {

struct Outcome {
  int error = PINGLOOM_OK;
  std::string text;

  bool ok() const { return error == PINGLOOM_OK; }
};

}  // namespace pingloom::pages::client
