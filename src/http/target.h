// Reads a request's target ("/api/v1/grid?probe=rack-1") into a path and a query that need no
// second look. Any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "common/error.h"

namespace pingloom::http {

struct Target {
  std::string path;
  std::map<std::string, std::string> query;  // the last one of a name counts
  std::string doubled;                       // a name that came more than once; "": none did
};

// Each segment is decoded by itself: one that is "." or "..", or that hides a '/', a backslash or a
// control character behind its percent signs, is an error and so is a broken percent sign. A '+' in
// the query is a space.
Result<Target> parseTarget(std::string_view target);

}  // namespace pingloom::http
