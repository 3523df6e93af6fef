#include "common/nic_counter.h"

#include <algorithm>
#include <array>
#include <deque>
#include <numeric>

namespace pingloom {
namespace {

constexpr auto kError = CounterKind::kError;
constexpr auto kLoad = CounterKind::kLoad;
constexpr auto kPort = CounterOrigin::kPort;
constexpr auto kInterface = CounterOrigin::kInterface;
constexpr auto kEthtool = CounterOrigin::kEthtool;

constexpr std::array kPlain = {
    // of every InfiniBand and most RoCE ports
    WatchedCounter{"symbol_error_total", kPort, kError},
    WatchedCounter{"link_error_recovery_total", kPort, kError},
    WatchedCounter{"link_downed_total", kPort, kError},
    WatchedCounter{"port_errors_received_total", kPort, kError},
    WatchedCounter{"port_receive_remote_physical_errors_total", kPort, kError},
    WatchedCounter{"port_receive_switch_relay_errors_total", kPort, kLoad},
    WatchedCounter{"port_discards_received_total", kPort, kError},
    WatchedCounter{"port_discards_transmitted_total", kPort, kError},
    WatchedCounter{"port_constraint_errors_received_total", kPort, kError},
    WatchedCounter{"port_constraint_errors_transmitted_total", kPort, kError},
    WatchedCounter{"local_link_integrity_errors_total", kPort, kError},
    WatchedCounter{"excessive_buffer_overrun_errors_total", kPort, kError},
    WatchedCounter{"vl15_dropped_total", kPort, kError},
    WatchedCounter{"port_transmit_wait_total", kPort, kLoad},
    // hw_counters, as mlx5 names them
    WatchedCounter{"packet_sequence_errors_total", kPort, kError},
    WatchedCounter{"implied_nak_seq_errors_total", kPort, kError},
    WatchedCounter{"out_of_sequence_packets_received_total", kPort, kError},
    WatchedCounter{"out_of_buffer_drops_total", kPort, kError},
    WatchedCounter{"local_ack_timeout_errors_total", kPort, kError},
    WatchedCounter{"rnr_nak_retry_packets_received_total", kPort, kError},
    WatchedCounter{"rx_icrc_encapsulated_errors_total", kPort, kError},
    WatchedCounter{"duplicate_requests_packets_total", kPort, kError},
    WatchedCounter{"req_cqes_errors_total", kPort, kError},
    WatchedCounter{"resp_cqes_errors_total", kPort, kError},
    WatchedCounter{"req_remote_access_errors_total", kPort, kError},
    WatchedCounter{"req_remote_invalid_request_errors_total", kPort, kError},
    WatchedCounter{"resp_local_length_errors_total", kPort, kError},
    WatchedCounter{"resp_remote_access_errors_total", kPort, kError},
    WatchedCounter{"req_transport_retries_exceeded_total", kPort, kError},
    WatchedCounter{"req_rnr_retries_exceeded_total", kPort, kError},
    WatchedCounter{"roce_adp_retransmits_total", kPort, kError},
    WatchedCounter{"roce_adp_retransmits_timeout_total", kPort, kError},
    WatchedCounter{"roce_slow_restart_total", kPort, kLoad},
    WatchedCounter{"roce_slow_restart_used_total", kPort, kLoad},
    WatchedCounter{"roce_slow_restart_cnps_total", kPort, kLoad},
    WatchedCounter{"np_cnp_packets_sent_total", kPort, kLoad},
    WatchedCounter{"np_ecn_marked_roce_packets_received_total", kPort, kLoad},
    WatchedCounter{"rp_cnp_packets_handled_total", kPort, kLoad},
    WatchedCounter{"rp_cnp_ignored_packets_received_total", kPort, kLoad},
    // hw_counters of rxe
    WatchedCounter{"out_of_seq_request_total", kPort, kError},
    WatchedCounter{"rcvd_seq_err_total", kPort, kError},
    WatchedCounter{"rcvd_rnr_err_total", kPort, kError},
    WatchedCounter{"send_rnr_err_total", kPort, kError},
    WatchedCounter{"retry_exceeded_err_total", kPort, kError},
    WatchedCounter{"retry_rnr_exceeded_err_total", kPort, kError},
    WatchedCounter{"completer_retry_err_total", kPort, kError},
    WatchedCounter{"send_err_total", kPort, kError},
    // hw_counters of bnxt_re
    WatchedCounter{"rx_roce_error_pkts_total", kPort, kError},
    WatchedCounter{"rx_roce_discard_pkts_total", kPort, kError},
    WatchedCounter{"tx_roce_error_pkts_total", kPort, kError},
    WatchedCounter{"tx_roce_discards_pkts_total", kPort, kError},
    WatchedCounter{"res_oob_drop_count_total", kPort, kError},
    WatchedCounter{"oos_drop_count_total", kPort, kError},
    WatchedCounter{"to_retransmits_total", kPort, kError},
    WatchedCounter{"seq_err_naks_rcvd_total", kPort, kError},
    WatchedCounter{"rnr_naks_rcvd_total", kPort, kError},
    WatchedCounter{"max_retry_exceeded_total", kPort, kError},
    WatchedCounter{"missing_resp_total", kPort, kError},
    WatchedCounter{"bad_resp_err_total", kPort, kError},
    WatchedCounter{"unrecoverable_err_total", kPort, kError},
    WatchedCounter{"rx_ecn_marked_pkts_total", kPort, kLoad},
    WatchedCounter{"cnp_tx_pkts_total", kPort, kLoad},
    WatchedCounter{"cnp_rx_pkts_total", kPort, kLoad},
    // of every network interface
    WatchedCounter{"receive_errs_total", kInterface, kError},
    WatchedCounter{"receive_crc_errors_total", kInterface, kError},
    WatchedCounter{"receive_frame_total", kInterface, kError},
    WatchedCounter{"receive_fifo_total", kInterface, kError},
    WatchedCounter{"receive_missed_errors_total", kInterface, kError},
    WatchedCounter{"receive_drop_total", kInterface, kLoad},
    WatchedCounter{"transmit_errs_total", kInterface, kError},
    WatchedCounter{"transmit_carrier_total", kInterface, kError},
    WatchedCounter{"transmit_fifo_total", kInterface, kError},
    WatchedCounter{"transmit_drop_total", kInterface, kLoad},
    WatchedCounter{"carrier_changes_total", kInterface, kError},
    // ethtool -S of mlx5
    WatchedCounter{"rx_discards_phy", kEthtool, kError},
    WatchedCounter{"tx_discards_phy", kEthtool, kError},
    WatchedCounter{"tx_errors_phy", kEthtool, kError},
    WatchedCounter{"rx_crc_errors_phy", kEthtool, kError},
    WatchedCounter{"rx_symbol_err_phy", kEthtool, kError},
    WatchedCounter{"rx_pcs_symbol_err_phy", kEthtool, kError},
    WatchedCounter{"rx_in_range_len_errors_phy", kEthtool, kError},
    WatchedCounter{"link_down_events_phy", kEthtool, kError},
    WatchedCounter{"module_bus_stuck", kEthtool, kError},
    WatchedCounter{"module_high_temp", kEthtool, kError},
    WatchedCounter{"module_bad_shorted", kEthtool, kError},
    WatchedCounter{"rx_pci_signal_integrity", kEthtool, kError},
    WatchedCounter{"tx_pci_signal_integrity", kEthtool, kError},
    WatchedCounter{"tx_pause_storm_warning_events", kEthtool, kError},
    WatchedCounter{"tx_pause_storm_error_events", kEthtool, kError},
    WatchedCounter{"rx_out_of_buffer", kEthtool, kLoad},
    WatchedCounter{"rx_corrected_bits_phy", kEthtool, kLoad},
    WatchedCounter{"outbound_pci_stalled_rd", kEthtool, kLoad},
    WatchedCounter{"outbound_pci_stalled_wr", kEthtool, kLoad},
    // Ethernet pauses of a whole link, by the names of several drivers
    WatchedCounter{"rx_pause_ctrl_phy", kEthtool, kLoad},
    WatchedCounter{"tx_pause_ctrl_phy", kEthtool, kLoad},
    WatchedCounter{"rx_global_pause", kEthtool, kLoad},
    WatchedCounter{"tx_global_pause", kEthtool, kLoad},
    WatchedCounter{"rx_pause_ctrl", kEthtool, kLoad},
    WatchedCounter{"tx_pause_ctrl", kEthtool, kLoad},
    WatchedCounter{"rx_pause_frames", kEthtool, kLoad},
    WatchedCounter{"tx_pause_frames", kEthtool, kLoad},
    WatchedCounter{"rx_pause", kEthtool, kLoad},
    WatchedCounter{"tx_pause", kEthtool, kLoad},
};

struct OfPriority {
  std::string_view head;
  std::string_view tail;
  CounterKind kind;
};

// Priority flow control counts by priority: "rx_prio5_pause".
constexpr std::array kOfPriority = {
    OfPriority{"rx_prio", "_pause", kLoad},
    OfPriority{"tx_prio", "_pause", kLoad},
    OfPriority{"rx_prio", "_pause_duration", kLoad},
    OfPriority{"tx_prio", "_pause_duration", kLoad},
    OfPriority{"rx_prio", "_discards", kError},
    OfPriority{"rx_prio", "_buf_discard", kError},
    OfPriority{"rx_prio", "_cong_discard", kError},
    OfPriority{"rx_pfc_ena_frames_pri", "", kLoad},  // bnxt_en
    OfPriority{"tx_pfc_ena_frames_pri", "", kLoad},
    OfPriority{"rx_priority_", "_xoff.nic", kLoad},  // ice
    OfPriority{"tx_priority_", "_xoff.nic", kLoad},
};
constexpr int kPriorities = 8;

struct Table {
  std::deque<std::string> names;  // those of priorities, at stable addresses
  std::vector<WatchedCounter> counters{kPlain.begin(), kPlain.end()};
  std::vector<CounterId> by_name;

  auto keyOf(CounterId id) const { return std::pair(counters[id].origin, counters[id].name); }

  Table() {
    for (const OfPriority& each : kOfPriority) {
      for (int priority = 0; priority < kPriorities; ++priority) {
        names.push_back(std::string(each.head) + std::to_string(priority) + std::string(each.tail));
        counters.push_back({names.back(), kEthtool, each.kind});
      }
    }
    by_name.resize(counters.size());
    std::iota(by_name.begin(), by_name.end(), CounterId{0});
    std::sort(by_name.begin(), by_name.end(),
              [this](CounterId a, CounterId b) { return keyOf(a) < keyOf(b); });
  }
};

const Table& table() {
  static const Table made;
  return made;
}

bool sameShape(const NicPort& a, const NicPort& b) {
  return a.device == b.device && a.port == b.port &&
         std::equal(a.counters.begin(), a.counters.end(), b.counters.begin(), b.counters.end(),
                    [](const NicCounter& x, const NicCounter& y) { return x.id == y.id; });
}

}  // namespace

std::span<const WatchedCounter> watchedCounters() { return table().counters; }

std::optional<CounterId> counterNamed(CounterOrigin origin, std::string_view name) {
  const Table& all = table();
  const std::pair wanted(origin, name);
  const auto found =
      std::lower_bound(all.by_name.begin(), all.by_name.end(), wanted,
                       [&all](CounterId id, const auto& key) { return all.keyOf(id) < key; });
  if (found == all.by_name.end() || all.keyOf(*found) != wanted) return std::nullopt;
  return *found;
}

std::uint64_t counterIncrease(std::uint64_t before, std::uint64_t after) {
  if (after >= before) return after - before;
  constexpr std::uint64_t k32Bits = 1ULL << 32;
  // A counter of 32 bits wraps from near its end to near its beginning.
  const bool wrapped = before < k32Bits && before >= k32Bits / 4 * 3 && after < k32Bits / 4;
  return wrapped ? after + k32Bits - before : after;
}

std::optional<NicUpdate> updateBetween(const NicPorts& before, const NicPorts& after) {
  if (!std::equal(before.begin(), before.end(), after.begin(), after.end(), sameShape)) {
    return NicUpdate{true, after};
  }
  NicUpdate update;
  for (std::size_t i = 0; i < after.size(); ++i) {
    NicPort moved{after[i].device, after[i].port, {}};
    for (std::size_t j = 0; j < after[i].counters.size(); ++j) {
      if (after[i].counters[j] != before[i].counters[j]) {
        moved.counters.push_back(after[i].counters[j]);
      }
    }
    if (!moved.counters.empty()) update.ports.push_back(std::move(moved));
  }
  if (update.ports.empty()) return std::nullopt;
  return update;
}

}  // namespace pingloom
