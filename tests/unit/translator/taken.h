// An intake with a shadow of two keyed tables, and datagrams for it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plain_domain.h"
#include "store/keyed_reader.h"
#include "store/table_spec.h"
#include "translator/intake.h"
#include "wire/report_seal.h"
#include "wire/report_writer.h"

namespace pingloom::translator::test {

constexpr std::uint16_t kLatest = 7;
constexpr std::uint16_t kOther = 8;
constexpr Nanos kMade = 1'700'000'000 * kSecond;
inline const SocketAddress kLoopback{IpAddress::fromV4(0x7f000001), 1234};
inline const SocketAddress kRemote{IpAddress::fromV4(0x0a010203), 1234};

inline std::span<const std::uint8_t> bytesOf(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

class Taken {
 public:
  Taken() {
    std::vector<store::TableSpec> specs(2);
    specs[0].name = "latest";
    specs[1].name = "other";
    for (std::size_t i = 0; i < specs.size(); ++i) {
      specs[i].id = static_cast<std::uint16_t>(kLatest + i);
      specs[i].slots = 1000;
      specs[i].value_bytes = 28;
    }
    auto head = store::layOut(specs, kMade);
    EXPECT_TRUE(head) << head.error().text();
    shadow_ = std::move(*Shadow::create(*head, domain_));
  }

  // A datagram with a key-write for each of the tables, sealed if there is a key.
  static std::vector<std::uint8_t> datagram(std::uint32_t reporter, std::uint32_t sequence,
                                            const std::vector<std::uint16_t>& tables = {kLatest},
                                            const wire::ReportKey* key = nullptr) {
    std::vector<std::uint8_t> buffer(wire::kMaxReportDatagram);
    wire::ReportWriter writer(buffer, key != nullptr);
    for (const std::uint16_t table : tables) {
      wire::ReportItem item;
      item.table = table;
      static const std::string kKey = "key";
      static const std::string kValue = "value";
      item.key = bytesOf(kKey);
      item.value = bytesOf(kValue);
      writer.add(item);
    }
    wire::ReportHead head;
    head.reporter = reporter;
    head.sequence = sequence;
    buffer.resize(writer.finish(head).size());
    if (key != nullptr) wire::writeSeal(*key, buffer);
    return buffer;
  }
  void take(const std::vector<std::uint8_t>& bytes, const SocketAddress& source = kLoopback) {
    intake_.take(bytes, source, *shadow_, 0, kMade + 10 * kSecond);
  }
  void takePublished(const std::vector<std::uint8_t>& packet, PublishedSources& sources,
                     const SocketAddress& source = kLoopback) {
    intake_.takePublished(packet, source, sources, *shadow_, 0, kMade + 10 * kSecond);
  }
  // Returns how many reports were accepted since the last call.
  std::uint64_t newlyAccepted() {
    const std::uint64_t before = std::exchange(accepted_, counters_.accepted[0]);
    return accepted_ - before;
  }
  std::uint64_t refused(wire::ReportRefusal reason) const {
    return counters_.refused[static_cast<std::size_t>(reason)];
  }
  std::string valueOf(const std::string& key) {
    ShadowTable& table = *shadow_->find(kLatest);
    const auto value = store::findKey(table.table(), table.content(), bytesOf(key));
    return value ? std::string(reinterpret_cast<const char*>(value->memory.data())) : "";
  }
  Intake& intake() { return intake_; }
  Counters& counters() { return counters_; }

 private:
  PlainDomain domain_;
  Counters counters_;
  Intake intake_{counters_, 4U << 20};
  std::unique_ptr<Shadow> shadow_;
  std::uint64_t accepted_ = 0;
};

}  // namespace pingloom::translator::test
