// Reads from an Accept header which of two media types a client prefers. Any thread.
#pragma once

#include <string_view>

namespace pingloom::http {

// Whether the header (RFC 9110, section 12.5.1) prefers the media type `wanted` to `usual`, both in
// lower case, such as "text/csv". The larger weight wins; of equal weights, the type that the
// header names more exactly. Malformed parts of the header are skipped.
bool prefers(std::string_view accept, std::string_view wanted, std::string_view usual);

}  // namespace pingloom::http
