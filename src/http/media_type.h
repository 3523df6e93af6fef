// Media types and encodings in requests: what the client prefers, by its Accept and Accept-Encoding
// headers, and what its body is, by its Content-Type header. Any thread.
#pragma once

#include <string_view>

namespace pingloom::http {

// Whether the Accept header (RFC 9110, section 12.5.1) prefers the media type `wanted` to `usual`,
// because it gives it a larger weight or, with equal weights, names it more exactly. Both are in
// lower case, such as "text/csv". Malformed parts of the header are skipped.
bool prefers(std::string_view accept, std::string_view wanted, std::string_view usual);

// Whether the Accept-Encoding header (RFC 9110, section 12.5.3) allows gzip.
bool allowsGzip(std::string_view accept_encoding);

// Whether the Content-Type is "application/json", with or without parameters. A page of another
// origin cannot send that without asking the server first.
bool isJson(std::string_view content_type);

}  // namespace pingloom::http
