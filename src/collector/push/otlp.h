// OpenTelemetry's protocol over HTTP (https://opentelemetry.io/docs/specs/otlp/): messages
// ExportMetricsServiceRequest as protobuf, compressed with gzip. One thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "collector/push/push_format.h"

namespace pingloom::collector {

class Otlp : public PushFormat {
 public:
  static constexpr std::size_t kMaxRequest = 2 * 1024 * 1024;  // bytes after which one is ended

  // `instance` is the resource's service.instance.id.
  explicit Otlp(const std::string& instance);

  Exposition::MakeWriter writer(Nanos now_utc) const override;
  std::vector<PushRequest> requests(std::string written, Nanos now_utc, Nanos now) override;
  PushRejection rejectionIn(const std::string& body) const override;
  bool isRepeatedAfter(unsigned status) const override;
  std::string contentType() const override { return "application/x-protobuf"; }
  std::vector<std::pair<std::string, std::string>> headers() const override { return {}; }

 private:
  PushRequest request(std::string_view metrics, std::size_t points, Nanos now) const;

  std::string resource_;  // the field `resource` of ResourceMetrics
  std::string scope_;     // the field `scope` of ScopeMetrics
};

}  // namespace pingloom::collector
