#include "collector/push/otlp_exemplar.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "collector/push/otlp_attribute.h"
#include "common/hex.h"
#include "common/protobuf_fields.h"

namespace pingloom::collector {
namespace {

namespace exemplar_proto {
constexpr unsigned kTime = 2, kAsDouble = 3, kSpanId = 4, kTraceId = 5, kAttributes = 7;
constexpr std::size_t kSpanIdBytes = 8, kTraceIdBytes = 16;
}  // namespace exemplar_proto

// Returns the bytes of an id of this size, which is not 0; nullopt: the text is none.
std::optional<std::string> idOf(std::string_view text, std::size_t size) {
  if (text.size() != 2 * size) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const auto byte = hexByte(text[i], text[i + 1]);
    if (!byte) return std::nullopt;
    bytes += static_cast<char>(*byte);
  }
  if (bytes.find_first_not_of('\0') == std::string::npos) return std::nullopt;
  return bytes;
}

}  // namespace

void appendOtlpExemplar(std::string& point, unsigned field, const MetricExemplar& exemplar) {
  std::string made;
  protobuf::appendFixed64(made, exemplar_proto::kTime, static_cast<std::uint64_t>(exemplar.time));
  protobuf::appendDouble(made, exemplar_proto::kAsDouble, exemplar.value);
  exemplar.labels.forEach([&](std::string_view name, std::string_view value) {
    const bool trace = name == "trace_id";
    const auto id = trace || name == "span_id" ? idOf(value, trace ? exemplar_proto::kTraceIdBytes
                                                                   : exemplar_proto::kSpanIdBytes)
                                               : std::nullopt;
    if (id) {
      return protobuf::appendBytes(made, trace ? exemplar_proto::kTraceId : exemplar_proto::kSpanId,
                                   *id);
    }
    appendOtlpAttribute(made, exemplar_proto::kAttributes, name, value);
  });
  protobuf::appendBytes(point, field, made);
}

}  // namespace pingloom::collector
