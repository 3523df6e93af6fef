#include "collector/push/remote_write.h"

#include <snappy.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <unordered_set>

#include "collector/push/series_writer.h"
#include "common/log.h"
#include "common/protobuf_fields.h"

namespace pingloom::collector {
namespace {

// Prometheus tells these NaNs apart by their bits (model/value/value.go).
constexpr std::uint64_t kNormalNan = 0x7ff8000000000001;
constexpr std::uint64_t kStaleNan = 0x7ff0000000000002;

// Fields of Prometheus' messages WriteRequest, TimeSeries and Sample (prompb/remote.proto and
// types.proto).
constexpr unsigned kRequestSeries = 1;
constexpr unsigned kTimeSeriesSamples = 2;
constexpr unsigned kSampleValue = 1;
constexpr unsigned kSampleTimestamp = 2;

class Batches {
 public:
  Batches(std::int64_t now_ms, Nanos now) : now_ms_(now_ms), now_(now) {}

  void add(std::string_view labels, std::uint64_t value_bits, std::string_view exemplars = {}) {
    sample_.clear();
    protobuf::appendFixed64(sample_, kSampleValue, value_bits);
    protobuf::appendNumber(sample_, kSampleTimestamp, static_cast<std::uint64_t>(now_ms_));
    series_ = labels;
    protobuf::appendBytes(series_, kTimeSeriesSamples, sample_);
    series_ += exemplars;
    protobuf::appendBytes(body_, kRequestSeries, series_);
    if (++samples_ == RemoteWrite::kMaxSamples) close();
  }
  std::vector<PushRequest> take() {
    if (samples_ > 0) close();
    return std::move(made_);
  }

 private:
  void close() {
    PushRequest request{"", "snappy", samples_, now_};
    snappy::Compress(body_.data(), body_.size(), &request.body);
    request.body.shrink_to_fit();
    made_.push_back(std::move(request));
    body_.clear();
    samples_ = 0;
  }

  const std::int64_t now_ms_;
  const Nanos now_;
  std::string sample_;
  std::string series_;
  std::string body_;
  std::size_t samples_ = 0;
  std::vector<PushRequest> made_;
};

}  // namespace

Exposition::MakeWriter RemoteWrite::writer(Nanos /*now_utc*/) const {
  return [this] { return std::make_unique<SeriesWriter>(instance_); };
}

std::vector<PushRequest> RemoteWrite::requests(std::string written, Nanos now_utc, Nanos now) {
  const std::int64_t now_ms = now_utc / kMillisecond;
  if (last_ms_ - now_ms > kMaxAhead / kMillisecond) {
    log::warning(
        "push to remote_write: the clock was set back by {} s; receivers may refuse samples until "
        "it reaches the former time",
        (last_ms_ - now_ms) / 1000);
    last_ms_ = now_ms;
  } else {
    last_ms_ = std::max(now_ms, last_ms_ + 1);
  }
  Batches batches(last_ms_, now);
  std::unordered_set<std::string_view> live;
  forEachRecord(written, [&](const SeriesRecord& record) {
    // A series that exists twice would make the receiver refuse the whole request.
    if (!live.insert(record.labels).second) return;
    batches.add(record.labels,
                std::isnan(record.value) ? kNormalNan : std::bit_cast<std::uint64_t>(record.value),
                record.exemplars);
  });
  forEachRecord(last_, [&](const SeriesRecord& record) {
    if (live.count(record.labels) == 0) batches.add(record.labels, kStaleNan);
  });
  last_ = std::move(written);
  return batches.take();
}

std::vector<std::pair<std::string, std::string>> RemoteWrite::headers() const {
  return {{"X-Prometheus-Remote-Write-Version", "0.1.0"}};
}

}  // namespace pingloom::collector
