#include "agent/device_metrics.h"

#include <gtest/gtest.h>

#include <fstream>

#include "../common/temporary_directory.h"

namespace pingloom::agent::device_metrics_test {
namespace {

void write(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

TEST(DeviceMetrics, NamesEveryPortsCounters) {
  const test::TemporaryDirectory sysfs;
  for (const char* port : {"1", "2"}) {
    write(sysfs.path() / "mlx5_0/ports" / port / "hw_counters/rcvd_pkts", "17\n");
  }
  MetricsText out;
  writeDeviceCounters(out, sysfs.path());
  const std::string& text = out.text();
  const auto first = text.find("{device=\"mlx5_0\",port=\"1\"} 17");
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_NE(text.find("{device=\"mlx5_0\",port=\"2\"} 17"), std::string::npos) << text;
  EXPECT_NE(text.find("# TYPE pingloom_infiniband_"), std::string::npos) << text;
}

TEST(DeviceMetrics, AHostWithoutDevicesHasNone) {
  const test::TemporaryDirectory sysfs;
  MetricsText out;
  writeDeviceCounters(out, sysfs.path() / "absent");
  EXPECT_EQ(out.text(), "");
}

TEST(DeviceMetrics, NamesTheCountersOfInterfaces) {
  const auto id = [](CounterOrigin origin, const char* name) {
    return counterNamed(origin, name).value();
  };
  MetricsText out;
  writeInterfaceCounters(out,
                         {{"eth0",
                           0,
                           {{id(CounterOrigin::kInterface, "receive_errs_total"), 3},
                            {id(CounterOrigin::kEthtool, "rx_priority_5_xoff.nic"), 4}}},
                          {"mlx5_0", 1, {{id(CounterOrigin::kPort, "symbol_error_total"), 5}}}});
  const std::string& text = out.text();
  EXPECT_NE(text.find("pingloom_network_receive_errs_total{device=\"eth0\"} 3"), std::string::npos);
  EXPECT_NE(text.find("pingloom_ethtool_rx_priority_5_xoff_nic_total{device=\"eth0\"} 4"),
            std::string::npos);
  EXPECT_EQ(text.find("symbol_error"), std::string::npos) << "writeDeviceCounters() has it\n"
                                                          << text;
}

}  // namespace
}  // namespace pingloom::agent::device_metrics_test
