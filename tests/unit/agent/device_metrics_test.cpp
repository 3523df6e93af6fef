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

}  // namespace
}  // namespace pingloom::agent::device_metrics_test
