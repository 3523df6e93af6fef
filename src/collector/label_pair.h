// Appends a label of Prometheus' as a field of a message: a LabelPair of the exposition
// (io/prometheus/client/metrics.proto) and a Label of remote write (prompb/types.proto) are the
// same bytes. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "common/protobuf_fields.h"

namespace pingloom::collector {

// `scratch` is overwritten; it spares an allocation for each label.
inline void appendLabelPair(std::string& message, unsigned field, std::string_view name,
                            std::string_view value, std::string& scratch) {
  constexpr unsigned kName = 1, kValue = 2;
  scratch.clear();
  protobuf::appendBytes(scratch, kName, name);
  protobuf::appendBytes(scratch, kValue, value);
  protobuf::appendBytes(message, field, scratch);
}

}  // namespace pingloom::collector
