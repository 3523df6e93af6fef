// Parses a request's target ("/api/v1/grid?probe=rack-1") into a path and a query that handlers may
// use without further checks. Any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "common/error.h"

namespace pingloom::http {

struct Target {
  std::string path;
  std::map<std::string, std::string> query;  // the last value of a name counts
  std::string doubled;                       // a name that is repeated; "": none is
};

// Each segment of the path is decoded by itself. A segment that is "." or "..", or that contains an
// encoded '/', backslash or control character, is an error, and so is malformed percent-encoding. A
// '+' in the query is a space.
Result<Target> parseTarget(std::string_view target);

}  // namespace pingloom::http
