// What several of the controller's tests build: addresses, pinglists, reports, batches.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/distribution.h"
#include "control.pb.h"
#include "controller/control/registry.h"
#include "controller/history/ledger.h"
#include "controller/model/batch_frame.h"
#include "controller/model/board.h"
#include "controller/model/report_reader.h"
#include "pinglist/pinglist.h"
#include "plan/endpoint_codec.h"
#include "unit/common/temporary_directory.h"
#include "unit/eventually.h"
#include "wire/distribution_codec.h"

namespace pingloom::controller::test {

using pingloom::test::eventually;
using pingloom::test::TemporaryDirectory;

inline IpAddress ip(const std::string& text) { return *IpAddress::parse(text); }

inline std::shared_ptr<const pinglist::Pinglist> pinglistOf(
    const std::string& probes, const std::string& defaults = "window: 10s, timeout: 500ms") {
  auto parsed = pinglist::parse("version: 1\ndefaults: { " + defaults + " }\nprobes:\n" + probes,
                                "pinglist.yaml");
  EXPECT_TRUE(parsed) << parsed.error().text();
  return std::make_shared<const pinglist::Pinglist>(std::move(*parsed));
}

// A row in which nothing is wrong, ten samples in each part.
inline wire::Row goodRow(const std::string& destination, std::uint64_t network_ns = 9'000) {
  wire::Row row;
  row.set_destination(ip(destination).wire());
  row.set_sent(10);
  row.set_received(10);
  Distribution samples;
  for (std::uint64_t i = 0; i < 10; ++i) samples.add(network_ns + i);
  for (wire::SampleSet* set :
       {row.mutable_network(), row.mutable_responder(), row.mutable_prober(), row.mutable_rtt()}) {
    wire::encode(samples, *set);
  }
  row.set_jitter_ns(1);
  return row;
}

inline wire::Row lossRow(const std::string& destination) {
  wire::Row row;
  row.set_destination(ip(destination).wire());
  row.set_sent(10);
  row.set_lost(10);
  return row;
}

inline wire::Report reportOf(const std::string& probe, const std::string& source,
                             std::uint64_t window_index, const std::vector<wire::Row>& rows,
                             Nanos window = 10 * kSecond) {
  wire::Report report;
  report.set_probe(probe);
  report.set_source(ip(source).wire());
  report.set_protocol(wire::UDP);
  report.set_window_index(window_index);
  report.set_window_ns(window);
  report.set_clock(2);
  report.set_device("eth0");
  for (const wire::Row& row : rows) *report.add_rows() = row;
  return report;
}

inline std::string batchOf(wire::BatchId id, const std::vector<wire::Report>& reports) {
  wire::AgentMessage message;
  message.mutable_batch()->set_incarnation(id.incarnation);
  message.mutable_batch()->set_sequence(id.sequence);
  for (const wire::Report& report : reports) *message.mutable_batch()->add_reports() = report;
  return message.SerializeAsString();
}

// A batch of host "host" as the ledger takes it.
inline LedgerBatch ledgerBatchOf(wire::BatchId id, const wire::Report& report) {
  const auto bytes = std::make_shared<std::string>(report.SerializeAsString());
  LedgerBatch batch{"host", id, {}, bytes, bytes->size(), 1};
  const auto head = readHead(report);
  EXPECT_TRUE(head);
  if (!head) return batch;
  batch.windows.push_back({report.probe(), head->source, head->start_utc, head->window,
                           head->window_index, head->path, *bytes});
  return batch;
}

inline wire::Register registerOf(const std::string& host, std::uint64_t incarnation,
                                 const std::vector<std::string>& addresses) {
  wire::Register request;
  request.set_control_version(1);
  request.set_host(host);
  request.set_incarnation(incarnation);
  request.set_software_version("test");
  for (const std::string& address : addresses) request.add_addresses(ip(address).wire());
  request.set_port(20710);
  return request;
}

inline plan::Endpoint endpointOf(const std::string& address, std::uint32_t qpn) {
  plan::Endpoint made;
  made.address = ip(address);
  made.gid[15] = 1;
  made.qpn = qpn;
  made.q_key = 0x1234;
  made.device = "soft";
  return made;
}

inline void addEndpoint(wire::Register& request, const std::string& address, std::uint32_t qpn) {
  plan::encode(endpointOf(address, qpn), *request.add_endpoints());
}

}  // namespace pingloom::controller::test
