// Appends a KeyValue with a string (opentelemetry/proto/common/v1/common.proto) as a field of a
// message. Internal to OTLP's writers.
#pragma once

#include <string>
#include <string_view>

#include "common/protobuf_fields.h"

namespace pingloom::collector {

inline void appendOtlpAttribute(std::string& message, unsigned field, std::string_view key,
                                std::string_view content) {
  constexpr unsigned kKey = 1, kValue = 2, kStringValue = 1;
  std::string value;
  protobuf::appendBytes(value, kStringValue, content);
  std::string attribute;
  protobuf::appendBytes(attribute, kKey, key);
  protobuf::appendBytes(attribute, kValue, value);
  protobuf::appendBytes(message, field, attribute);
}

}  // namespace pingloom::collector
