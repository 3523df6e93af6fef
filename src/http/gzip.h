// Compression of answers' bodies (RFC 1952). Any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace pingloom::http {

struct Response;

constexpr std::size_t kLeastGzip = 1'400;  // bytes; shorter bodies fit into one packet

// Compresses with ISA-L at its level 1. Returns nullopt where the result would not be shorter.
std::optional<std::string> gzip(std::string_view text);

// Whether a body is one that clients ask for often over slow links and that shrinks to a fraction:
// metrics in any format and other plain text, of at least kLeastGzip bytes. The dashboard's JSON is
// left alone, because compressing it would delay all other connections of the HTTP thread.
bool isWorthGzip(const Response& response);

}  // namespace pingloom::http
