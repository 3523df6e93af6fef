// Prometheus' remote write 1.0 (https://prometheus.io/docs/specs/prw/remote_write_spec/): messages
// WriteRequest of prompb/remote.proto, compressed with Snappy's block format. All samples of a push
// have its time, which increases unless the clock is set back by more than kMaxAhead. A series that
// ends gets a stale marker, as Prometheus gives to series that disappear from a scrape. One thread.
//
// Bounds: the labels of the series of the last push are kept.
#pragma once

#include <string>

#include "collector/push/push_format.h"

namespace pingloom::collector {

class RemoteWrite : public PushFormat {
 public:
  static constexpr std::size_t kMaxSamples = 5'000;  // of a request
  static constexpr Nanos kMaxAhead = 5 * kMinute;    // of the clock, after it was set back

  explicit RemoteWrite(std::string instance) : instance_(std::move(instance)) {}

  Exposition::MakeWriter writer(Nanos now_utc) const override;
  std::vector<PushRequest> requests(std::string written, Nanos now_utc, Nanos now) override;
  bool isRepeatedAfter(unsigned status) const override {
    return status == 429 || status / 100 == 5;
  }
  std::string contentType() const override { return "application/x-protobuf"; }
  std::vector<std::pair<std::string, std::string>> headers() const override;

 private:
  const std::string instance_;
  std::string last_;  // the records of the last push
  std::int64_t last_ms_ = 0;
};

}  // namespace pingloom::collector
