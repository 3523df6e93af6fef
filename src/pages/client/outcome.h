// How making something ended: a code of pingloom/pages.h, and the words for it. (Not
// common/error.h: the library that applications link depends on nothing of pingloom's, and has
// codes.)
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
