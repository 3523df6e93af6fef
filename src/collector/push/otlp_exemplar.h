// Appends an Exemplar of OpenTelemetry's protocol (opentelemetry/proto/metrics/v1/metrics.proto) as
// a field of a data point. Internal to OTLP's writers. Any thread.
#pragma once

#include <string>

#include "common/metrics_writer.h"

namespace pingloom::collector {

// Labels `trace_id` and `span_id` that are ids in hexadecimal digits become those of the message,
// and other labels its attributes.
void appendOtlpExemplar(std::string& point, unsigned field, const MetricExemplar& exemplar);

}  // namespace pingloom::collector
