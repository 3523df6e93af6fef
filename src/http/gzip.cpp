#include "http/gzip.h"

#include <isa-l/igzip_lib.h>

#include <cstdint>
#include <memory>

#include "http/message.h"

namespace pingloom::http {

std::optional<std::string> gzip(std::string_view text) {
  if (text.empty() || text.size() > UINT32_MAX) return std::nullopt;
  const auto work = std::make_unique<std::uint8_t[]>(ISAL_DEF_LVL1_DEFAULT);
  const auto stream = std::make_unique<isal_zstream>();
  isal_deflate_stateless_init(stream.get());
  stream->level = 1;
  stream->level_buf = work.get();
  stream->level_buf_size = ISAL_DEF_LVL1_DEFAULT;
  stream->gzip_flag = IGZIP_GZIP;
  stream->end_of_stream = 1;
  std::string made(text.size(), '\0');
  // The library only reads the input.
  stream->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  stream->avail_in = static_cast<std::uint32_t>(text.size());
  stream->next_out = reinterpret_cast<std::uint8_t*>(made.data());
  stream->avail_out = static_cast<std::uint32_t>(made.size());
  if (isal_deflate_stateless(stream.get()) != COMP_OK) return std::nullopt;
  // A copy, because the server charges a body's size and `made` would keep the memory of its text.
  return std::string(made, 0, stream->total_out);
}

bool isWorthGzip(const Response& response) {
  const std::string_view type = response.content_type;
  return response.body.size() >= kLeastGzip &&
         (type.starts_with("text/plain") || type.starts_with("application/openmetrics-text") ||
          type.starts_with("application/vnd.google.protobuf"));
}

}  // namespace pingloom::http
