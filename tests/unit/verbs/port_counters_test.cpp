#include "rdma/verbs/port_counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace pingloom::rdma::verbs::port_counters_test {
namespace {

using testing::ElementsAre;
using testing::FieldsAre;
using testing::IsEmpty;

class PortCountersTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "port-counters-XXXXXX";
    port_ = mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(port_); }
  void write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((port_ / file).parent_path());
    std::ofstream(port_ / file) << text;
  }
  std::filesystem::path port_;
};

TEST_F(PortCountersTest, HaveNodeExportersNames) {
  write("counters/port_rcv_data", "250\n");
  write("counters/link_downed", "3\n");
  write("counters/VL15_dropped", "4\n");
  write("hw_counters/out_of_buffer", "18446744073709551615\n");
  write("hw_counters/rcvd_pkts", "7\n");
  EXPECT_THAT(readPortCounters(port_),
              ElementsAre(FieldsAre("link_downed_total", 3),
                          FieldsAre("out_of_buffer_drops_total", 18446744073709551615ULL),
                          FieldsAre("port_data_received_bytes_total", 1000),
                          FieldsAre("rcvd_pkts_total", 7), FieldsAre("vl15_dropped_total", 4)));
}

TEST_F(PortCountersTest, WhatCannotBeReadIsAbsent) {
  write("counters/port_xmit_data", "N/A (not supported)\n");
  write("counters/link_downed", "");
  write("counters/port_rcv_errors", "-1\n");
  write("hw_counters/lifespan", "10\n");  // a setting
  EXPECT_THAT(readPortCounters(port_), IsEmpty());
  EXPECT_THAT(readPortCounters(port_ / "nowhere"), IsEmpty());
}

TEST_F(PortCountersTest, ANameIsThereOnce) {
  write("counters/link_downed", "3\n");
  write("hw_counters/link_downed", "5\n");
  EXPECT_THAT(readPortCounters(port_), ElementsAre(FieldsAre("link_downed_total", 3)));
}

TEST_F(PortCountersTest, OddNamesBecomeMetricNames) {
  write("hw_counters/Odd-name.x", "1\n");
  EXPECT_THAT(readPortCounters(port_), ElementsAre(FieldsAre("odd_name_x_total", 1)));
}

}  // namespace
}  // namespace pingloom::rdma::verbs::port_counters_test
