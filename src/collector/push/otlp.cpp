#include "collector/push/otlp.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <memory>

#include "collector/push/otlp_attribute.h"
#include "collector/push/otlp_writer.h"
#include "common/protobuf_fields.h"
#include "http/gzip.h"

namespace pingloom::collector {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// Field numbers of ExportMetricsServiceRequest, ResourceMetrics, Resource and ScopeMetrics.
namespace otlp_request {
constexpr unsigned kResourceMetrics = 1;
constexpr unsigned kResource = 1, kScopeMetrics = 2;
constexpr unsigned kAttributes = 1;
constexpr unsigned kScope = 1, kScopeName = 1;
// The answer: ExportMetricsServiceResponse and ExportMetricsPartialSuccess.
constexpr unsigned kPartialSuccess = 1, kRejectedPoints = 1, kErrorMessage = 2;
}  // namespace otlp_request

// Reads the fields of a message; `read(field, in)` returns whether it has read one. Returns whether
// the message is well-formed.
template <typename Read>
bool readFields(CodedInputStream& in, Read read) {
  while (const std::uint32_t tag = in.ReadTag()) {
    if (!read(tag, in) && !WireFormatLite::SkipField(&in, tag)) return false;
  }
  return in.ConsumedEntireMessage();
}

bool readRejection(CodedInputStream& in, PushRejection& found) {
  return readFields(in, [&](std::uint32_t tag, CodedInputStream& from) {
    if (tag == otlp_request::kRejectedPoints << 3) return from.ReadVarint64(&found.samples);
    if (tag != (otlp_request::kErrorMessage << 3 | 2)) return false;
    return WireFormatLite::ReadBytes(&from, &found.reason);
  });
}

}  // namespace

Otlp::Otlp(const std::string& instance) {
  std::string resource;
  appendOtlpAttribute(resource, otlp_request::kAttributes, "service.name", "pingloom-collector");
  appendOtlpAttribute(resource, otlp_request::kAttributes, "service.instance.id", instance);
  protobuf::appendBytes(resource_, otlp_request::kResource, resource);
  std::string scope;
  protobuf::appendBytes(scope, otlp_request::kScopeName, "pingloom-collector");
  protobuf::appendBytes(scope_, otlp_request::kScope, scope);
}

Exposition::MakeWriter Otlp::writer(Nanos now_utc) const {
  return [now_utc] { return std::make_unique<OtlpWriter>(now_utc); };
}

PushRequest Otlp::request(std::string_view metrics, std::size_t points, Nanos now) const {
  std::string scope_metrics = scope_;
  scope_metrics += metrics;
  std::string resource_metrics = resource_;
  protobuf::appendBytes(resource_metrics, otlp_request::kScopeMetrics, scope_metrics);
  std::string body;
  protobuf::appendBytes(body, otlp_request::kResourceMetrics, resource_metrics);
  if (auto compressed = http::gzip(body)) return {std::move(*compressed), "gzip", points, now};
  return {std::move(body), "", points, now};
}

PushRejection Otlp::rejectionIn(const std::string& body) const {
  CodedInputStream in(reinterpret_cast<const std::uint8_t*>(body.data()),
                      static_cast<int>(body.size()));
  std::string partial;
  const bool whole = readFields(in, [&](std::uint32_t tag, CodedInputStream& from) {
    return tag == (otlp_request::kPartialSuccess << 3 | 2) &&
           WireFormatLite::ReadBytes(&from, &partial);
  });
  CodedInputStream inner(reinterpret_cast<const std::uint8_t*>(partial.data()),
                         static_cast<int>(partial.size()));
  PushRejection found;
  if (!whole || !readRejection(inner, found)) return {};
  return found;
}

bool Otlp::isRepeatedAfter(unsigned status) const {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

std::vector<PushRequest> Otlp::requests(std::string written, Nanos /*now_utc*/, Nanos now) {
  std::vector<PushRequest> made;
  std::string metrics;
  std::size_t points = 0;
  const auto end = [&] {
    if (points > 0) made.push_back(request(metrics, points, now));
    metrics.clear();
    points = 0;
  };
  forEachMetric(written, [&](const OtlpRecord& record) {
    metrics += record.metric;
    points += record.points;
    if (metrics.size() >= kMaxRequest) end();
  });
  end();
  return made;
}

}  // namespace pingloom::collector
