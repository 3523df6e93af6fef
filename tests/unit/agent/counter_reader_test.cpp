// The counters of a host, from a tree in the place of /sys and from an ethtool in the place of the
// kernel's.
#include "agent/counter_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/ethtool.h>

#include <cstring>
#include <fstream>
#include <map>

#include "../common/temporary_directory.h"

namespace pingloom::agent::counter_reader_test {
namespace {

using testing::ElementsAre;
using testing::FieldsAre;
using testing::IsEmpty;
using testing::Pair;

// A driver that answers ethtool as the kernel does.
class FakeDriver {
 public:
  using Statistics = std::vector<std::pair<std::string, std::uint64_t>>;
  std::map<std::string, Statistics> interfaces;
  int names_read = 0;

  EthtoolCall call() {
    return [this](const std::string& interface, void* command) {
      const auto found = interfaces.find(interface);
      return found != interfaces.end() && answer(found->second, static_cast<char*>(command));
    };
  }

 private:
  bool answer(const Statistics& statistics, char* command) {
    std::uint32_t asked = 0;
    std::memcpy(&asked, command, sizeof asked);
    if (asked == ETHTOOL_GSSET_INFO) {
      const auto count = static_cast<std::uint32_t>(statistics.size());
      std::memcpy(command + sizeof(ethtool_sset_info), &count, sizeof count);
      return true;
    }
    if (asked == ETHTOOL_GSTRINGS) {
      ++names_read;
      reinterpret_cast<ethtool_gstrings*>(command)->len =
          static_cast<std::uint32_t>(statistics.size());
      for (std::size_t i = 0; i < statistics.size(); ++i) {
        std::strncpy(command + sizeof(ethtool_gstrings) + i * ETH_GSTRING_LEN,
                     statistics[i].first.c_str(), ETH_GSTRING_LEN);
      }
      return true;
    }
    if (asked != ETHTOOL_GSTATS) return false;
    reinterpret_cast<ethtool_stats*>(command)->n_stats =
        static_cast<std::uint32_t>(statistics.size());
    for (std::size_t i = 0; i < statistics.size(); ++i) {
      std::memcpy(command + sizeof(ethtool_stats) + i * sizeof(std::uint64_t),
                  &statistics[i].second, sizeof(std::uint64_t));
    }
    return true;
  }
};

class CounterReaderTest : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) {
    const auto path = sysfs_.path() / "class" / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  void roce(const std::string& device, const std::string& port, const std::string& interface) {
    write("infiniband/" + device + "/ports/" + port + "/gid_attrs/ndevs/3", interface);
    write("infiniband/" + device + "/ports/" + port + "/hw_counters/packet_seq_err", "1");
  }
  // Returns "mlx5_0/1" and its counters by name.
  std::map<std::string, std::map<std::string, std::uint64_t>> readAt(
      const std::vector<std::string>& interfaces) {
    reader_.find(interfaces);
    return read();
  }
  std::map<std::string, std::map<std::string, std::uint64_t>> read() {
    std::map<std::string, std::map<std::string, std::uint64_t>> found;
    for (const NicPort& port : reader_.read()) {
      for (const NicCounter& counter : port.counters) {
        found[port.device + "/" + std::to_string(port.port)]
             [std::string(watchedCounters()[counter.id].name)] = counter.value;
      }
    }
    return found;
  }

  test::TemporaryDirectory sysfs_;
  FakeDriver driver_;
  CounterReader reader_{sysfs_.path(), driver_.call()};
};

TEST_F(CounterReaderTest, ReadsThePortsAndInterfacesThatAddressesUse) {
  roce("mlx5_0", "1", "eth0");
  write("infiniband/mlx5_0/ports/1/counters/symbol_error", "7");
  write("infiniband/mlx5_0/ports/1/counters/port_rcv_data", "1000");
  roce("mlx5_1", "1", "eth1");
  write("net/eth0/statistics/rx_errors", "3");
  write("net/eth0/statistics/rx_packets", "1000");
  write("net/eth0/carrier_changes", "2");
  write("net/eth1/statistics/rx_errors", "9");
  EXPECT_THAT(readAt({"eth0"}),
              ElementsAre(Pair("eth0/0", ElementsAre(Pair("carrier_changes_total", 2),
                                                     Pair("receive_errs_total", 3))),
                          Pair("mlx5_0/1", ElementsAre(Pair("packet_sequence_errors_total", 1),
                                                       Pair("symbol_error_total", 7)))));
  EXPECT_THAT(readAt({"lo", "absent0", "..", "a/b", ""}), IsEmpty());
}

TEST_F(CounterReaderTest, AnOddDeviceDoesNotStopTheOthers) {
  roce("mlx5_0", "1", "eth0");
  write("infiniband/mlx5_0/ports/1/counters/link_downed", "N/A (no PMA)");
  write("infiniband/mlx5_0/ports/1/counters/symbol_error", "");
  write("infiniband/bnxt_re0/ports/1/gid_attrs/ndevs/0", "eth0");  // it has no counters
  write("infiniband/nonsense/ports/x/gid_attrs/ndevs/0", "eth0");
  write("infiniband/empty/fw_ver", "1");
  write("infiniband/file", "not a device");
  EXPECT_THAT(readAt({"eth0"}),
              ElementsAre(Pair("mlx5_0/1", ElementsAre(Pair("packet_sequence_errors_total", 1)))));
}

TEST_F(CounterReaderTest, FindsWhatLiesBelowABondOrAVlan) {
  write("net/bond0.7/lower_bond0/x", "");
  write("net/bond0/lower_eth0/x", "");
  write("net/bond0/lower_eth1/x", "");
  write("net/eth1/lower_bond0/x", "");  // a circle, which the kernel would not permit
  write("net/eth1/statistics/tx_errors", "4");
  roce("mlx5_bond_0", "1", "bond0");
  EXPECT_THAT(
      readAt({"bond0.7"}),
      ElementsAre(Pair("eth1/0", ElementsAre(Pair("transmit_errs_total", 4))),
                  Pair("mlx5_bond_0/1", ElementsAre(Pair("packet_sequence_errors_total", 1)))));
}

TEST_F(CounterReaderTest, FindsTheInfiniBandPortBelowAnInterface) {
  write("net/ib1/device/infiniband/mlx4_0/fw_ver", "2");
  write("net/ib1/dev_port", "1");
  for (const char* port : {"1", "2"}) {
    write("infiniband/mlx4_0/ports/" + std::string(port) + "/counters/link_downed", port);
  }
  EXPECT_THAT(readAt({"ib1"}),
              ElementsAre(Pair("mlx4_0/2", ElementsAre(Pair("link_downed_total", 2)))));
}

TEST_F(CounterReaderTest, TakesPausesAndDiscardsFromEthtool) {
  driver_.interfaces["eth0"] = {{"rx_packets", 1000},
                                {"rx_prio5_pause", 12},
                                {"ch0_rx_packets", 5},
                                {"rx_discards_phy", UINT64_MAX},
                                {"rx_prio5_pause", 13}};  // the first one of a name counts
  EXPECT_THAT(readAt({"eth0"}),
              ElementsAre(Pair("eth0/0", ElementsAre(Pair("rx_discards_phy", UINT64_MAX),
                                                     Pair("rx_prio5_pause", 12)))));
  driver_.interfaces["eth0"][1].second = 14;
  EXPECT_EQ(read()["eth0/0"]["rx_prio5_pause"], 14U);
  EXPECT_EQ(driver_.names_read, 1) << "names are read once";
  driver_.interfaces["eth0"].insert(driver_.interfaces["eth0"].begin(), {"rx_bytes", 1});
  EXPECT_EQ(read()["eth0/0"]["rx_prio5_pause"], 14U) << "another number of statistics";
  EXPECT_EQ(driver_.names_read, 2);
  driver_.interfaces.clear();
  EXPECT_THAT(read(), IsEmpty());
}

TEST(KernelEthtool, AnswersForAnInterfaceOrNot) {
  EthtoolStatistics statistics;
  EXPECT_THAT(statistics.read("no-such-interface"), IsEmpty());
  EXPECT_THAT(statistics.read(std::string(200, 'a')), IsEmpty());
  (void)statistics.read("lo");  // it has no statistics, or none that are watched
}

}  // namespace
}  // namespace pingloom::agent::counter_reader_test
