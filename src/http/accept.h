// What a client would rather have, by its Accept header. Any thread.
#pragma once

#include <string_view>

namespace pingloom::http {

// Whether the header (RFC 9110, section 12.5.1) prefers the media type `wanted` to `usual`: by its
// weight or, where that is the same, because it names it more exactly. Both in lower case, as
// "text/csv". What is malformed in the header is skipped.
bool prefers(std::string_view accept, std::string_view wanted, std::string_view usual);

}  // namespace pingloom::http
