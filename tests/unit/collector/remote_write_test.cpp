// What remote write says is read back by the published field numbers.
#include "collector/push/remote_write.h"

#include <gmock/gmock.h>
#include <google/protobuf/io/coded_stream.h>
#include <gtest/gtest.h>
#include <snappy.h>

#include <array>
#include <bit>
#include <cmath>
#include <map>

namespace pingloom::collector::remote_write_test {
namespace {

using google::protobuf::io::CodedInputStream;
using testing::ElementsAre;
using testing::Pair;

struct Sample {
  std::uint64_t bits = 0;
  std::int64_t at = 0;
  double value() const { return std::bit_cast<double>(bits); }
};
// Series as text, a=1,b=2, with the sample of each; a vector keeps what is there twice.
using Series = std::vector<std::pair<std::string, Sample>>;

std::string bytesOf(CodedInputStream& in) {
  std::uint32_t size = 0;
  std::string bytes;
  EXPECT_TRUE(in.ReadVarint32(&size) && in.ReadString(&bytes, static_cast<int>(size)));
  return bytes;
}
// Calls `use(field, in)` for each field of a message.
template <typename Use>
void eachField(const std::string& message, Use use) {
  CodedInputStream in(reinterpret_cast<const std::uint8_t*>(message.data()),
                      static_cast<int>(message.size()));
  while (const std::uint32_t tag = in.ReadTag()) use(tag, in);
}

Sample sampleOf(const std::string& message) {
  Sample sample;
  eachField(message, [&](std::uint32_t tag, CodedInputStream& in) {
    std::uint64_t number = 0;
    if (tag == (1 << 3 | 1)) {
      EXPECT_TRUE(in.ReadLittleEndian64(&sample.bits));
    } else {
      EXPECT_EQ(tag, 2U << 3);
      EXPECT_TRUE(in.ReadVarint64(&number));
      sample.at = static_cast<std::int64_t>(number);
    }
  });
  return sample;
}
std::pair<std::string, Sample> seriesOf(const std::string& message) {
  std::pair<std::string, Sample> made;
  eachField(message, [&](std::uint32_t tag, CodedInputStream& in) {
    const std::string bytes = bytesOf(in);
    if (tag == (2 << 3 | 2)) {
      made.second = sampleOf(bytes);
      return;
    }
    if (!made.first.empty()) made.first += ',';
    eachField(bytes, [&](std::uint32_t part, CodedInputStream& label) {
      made.first += bytesOf(label) + (part == (1 << 3 | 2) ? "=" : "");
    });
  });
  return made;
}
Series seriesOf(const std::vector<PushRequest>& requests) {
  Series all;
  for (const PushRequest& request : requests) {
    std::string plain;
    EXPECT_TRUE(snappy::Uncompress(request.body.data(), request.body.size(), &plain));
    std::size_t samples = 0;
    eachField(plain, [&](std::uint32_t tag, CodedInputStream& in) {
      EXPECT_EQ(tag, 1U << 3 | 2);
      all.push_back(seriesOf(bytesOf(in)));
      ++samples;
    });
    EXPECT_EQ(samples, request.samples);
  }
  return all;
}

class RemoteWriteTest : public testing::Test {
 protected:
  Series push(const std::map<std::string, double>& gauges, Nanos now_utc) {
    const auto out = format.writer(0)();
    for (const auto& [name, value] : gauges) out->gauge(name, "", value);
    return seriesOf(format.requests(out->take(), now_utc, 0));
  }
  RemoteWrite format{"dpu-1"};
};

TEST_F(RemoteWriteTest, LabelsAreSortedAndSamplesHaveTheTimeOfThePush) {
  const auto out = format.writer(0)();
  out->family("jobs_total", "counter", "Jobs.");
  LabelText labels;
  labels.add("zone", "a\"b");
  labels.add("job", "mail");
  labels.add("empty", "");
  labels.add("Upper", "1");
  out->sample(7, labels);
  const auto requests = format.requests(out->take(), 5 * kSecond, 9);
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].made, 9);
  EXPECT_EQ(requests[0].encoding, "snappy");
  const Series series = seriesOf(requests);
  ASSERT_EQ(series.size(), 1U);
  EXPECT_EQ(series[0].first,
            "Upper=1,__name__=jobs_total,exported_job=mail,instance=dpu-1,"
            "job=pingloom-collector,zone=a\"b");
  EXPECT_EQ(series[0].second.value(), 7);
  EXPECT_EQ(series[0].second.at, 5000);
}

TEST_F(RemoteWriteTest, HistogramsAreTheirSeries) {
  const auto out = format.writer(0)();
  out->family("wait_seconds", "histogram", "");
  const std::array<std::uint64_t, 3> counts{1, 2, 3};
  const auto upper = [](std::size_t bucket) { return 0.5 * static_cast<double>(bucket + 1); };
  out->histogram({counts, upper, 2.5}, LabelText{});
  std::vector<std::pair<std::string, double>> got;
  for (const auto& [labels, sample] : seriesOf(format.requests(out->take(), kSecond, 0))) {
    got.emplace_back(labels.substr(9, labels.find(",instance") - 9) +
                         labels.substr(std::min(labels.find(",le"), labels.size())),
                     sample.value());
  }
  EXPECT_THAT(
      got, ElementsAre(Pair("wait_seconds_bucket,le=0.5", 1), Pair("wait_seconds_bucket,le=1", 3),
                       Pair("wait_seconds_bucket,le=+Inf", 6), Pair("wait_seconds_sum", 2.5),
                       Pair("wait_seconds_count", 6)));
}

TEST_F(RemoteWriteTest, SummariesAreTheirSeries) {
  const auto out = format.writer(0)();
  out->family("wait_seconds", "summary", "");
  out->summary({7, 2.5, {{0.5, 0.1}, {0.99, 0.4}}}, LabelText{});
  out->family("load", "gauge", "");
  LabelText labels;
  labels.add("quantile", "mine");
  out->sample(1, labels);
  std::vector<std::pair<std::string, double>> got;
  for (const auto& [text, sample] : seriesOf(format.requests(out->take(), kSecond, 0))) {
    got.emplace_back(text.substr(9, text.find(",instance") - 9) +
                         text.substr(std::min(text.find(",quantile"), text.size())),
                     sample.value());
  }
  EXPECT_THAT(got,
              ElementsAre(Pair("wait_seconds,quantile=0.5", 0.1),
                          Pair("wait_seconds,quantile=0.99", 0.4), Pair("wait_seconds_sum", 2.5),
                          Pair("wait_seconds_count", 7), Pair("load,quantile=mine", 1)));
}

TEST_F(RemoteWriteTest, ExemplarsAreThoseOfTheirSeries) {
  using namespace std::string_literals;
  MetricExemplar exemplar;
  exemplar.labels.add("t", "x");
  exemplar.value = 2;
  exemplar.time = 5 * kMillisecond;
  // TimeSeries { exemplars { labels { name: "t" value: "x" } value: 2 timestamp: 5 } }
  const std::string field =
      "\x1a\x13\x0a\x06\x0a\x01t\x12\x01x\x11\x00\x00\x00\x00\x00\x00\x00\x40\x18\x05"s;
  const auto plain = [&](std::string written) {
    const auto requests = format.requests(std::move(written), kSecond, 0);
    std::string body;
    EXPECT_TRUE(snappy::Uncompress(requests.at(0).body.data(), requests[0].body.size(), &body));
    return body;
  };
  const auto out = format.writer(0)();
  out->family("c_total", "counter", "");
  out->sample(3, LabelText{}, exemplar);
  EXPECT_TRUE(plain(out->take()).ends_with(field));
  out->family("h", "histogram", "");
  const std::array<std::uint64_t, 2> counts{1, 1};
  MetricHistogram histogram{counts, [](std::size_t) { return 1.0; }, 3};
  histogram.exemplars = {&exemplar, 1};
  out->histogram(histogram, LabelText{});
  const std::string body = plain(out->take());  // with the end of c_total
  const std::size_t at = body.find(field);
  EXPECT_EQ(at, body.rfind(field)) << "one bucket has it";
  EXPECT_GT(at, body.find("+Inf"));
  EXPECT_LT(at, body.find("h_sum"));
}

TEST_F(RemoteWriteTest, ASeriesThatEndsIsMarkedOnce) {
  EXPECT_EQ(push({{"a", 1}, {"b", 2}}, kSecond).size(), 2U);
  const Series second = push({{"a", 1}}, 2 * kSecond);
  ASSERT_EQ(second.size(), 2U);
  EXPECT_THAT(second[1].first, testing::HasSubstr("__name__=b,"));
  EXPECT_EQ(second[1].second.bits, 0x7ff0000000000002U);
  EXPECT_EQ(second[1].second.at, 2000);
  EXPECT_EQ(push({{"a", 1}}, 3 * kSecond).size(), 1U);
}

TEST_F(RemoteWriteTest, AGaugeThatIsNoNumberDoesNotEndItsSeries) {
  const Series series = push({{"a", std::bit_cast<double>(0x7ff0000000000002U)}}, kSecond);
  EXPECT_EQ(series[0].second.bits, 0x7ff8000000000001U);
}

TEST_F(RemoteWriteTest, TimeIncreasesWhenTheClockIsSetBack) {
  EXPECT_EQ(push({{"a", 1}}, 10 * kSecond)[0].second.at, 10'000);
  EXPECT_EQ(push({{"a", 1}}, 4 * kSecond)[0].second.at, 10'001);
}

TEST_F(RemoteWriteTest, TimeFollowsAClockThatIsSetFarBack) {
  EXPECT_EQ(push({{"a", 1}}, kHour)[0].second.at, 3'600'000);
  EXPECT_EQ(push({{"a", 1}}, kHour - RemoteWrite::kMaxAhead)[0].second.at, 3'600'001);
  EXPECT_EQ(push({{"a", 1}}, kHour - 6 * kMinute)[0].second.at, 3'240'000);
  EXPECT_EQ(push({{"a", 1}}, kHour - 5 * kMinute)[0].second.at, 3'300'000);
}

TEST_F(RemoteWriteTest, ARequestHasAtMostSoManySamples) {
  const auto out = format.writer(0)();
  out->family("many", "gauge", "");
  for (std::size_t i = 0; i <= RemoteWrite::kMaxSamples; ++i) {
    LabelText labels;
    labels.add("i", std::to_string(i));
    out->sample(i, labels);
    out->sample(i, labels);  // a series that is there twice is pushed once
  }
  const auto requests = format.requests(out->take(), kSecond, 0);
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].samples, RemoteWrite::kMaxSamples);
  EXPECT_EQ(seriesOf(requests).size(), RemoteWrite::kMaxSamples + 1);
}

}  // namespace
}  // namespace pingloom::collector::remote_write_test
