#include "rdma/verbs/port_counters.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/file.h"
#include "common/text.h"

namespace pingloom::rdma::verbs {
namespace {

constexpr std::size_t kMaxCounters = 512;

struct Renamed {
  std::string_view file;
  std::string_view name;
  std::uint64_t unit = 1;
};

// sysfs names whose node_exporter name is not simply the file's with "_total". Data counters count
// words of four bytes.
constexpr std::array kRenamed = {
    Renamed{"excessive_buffer_overrun_errors", "excessive_buffer_overrun_errors_total"},
    Renamed{"symbol_error", "symbol_error_total"},
    Renamed{"VL15_dropped", "vl15_dropped_total"},
    Renamed{"multicast_rcv_packets", "multicast_packets_received_total"},
    Renamed{"multicast_xmit_packets", "multicast_packets_transmitted_total"},
    Renamed{"unicast_rcv_packets", "unicast_packets_received_total"},
    Renamed{"unicast_xmit_packets", "unicast_packets_transmitted_total"},
    Renamed{"port_rcv_constraint_errors", "port_constraint_errors_received_total"},
    Renamed{"port_xmit_constraint_errors", "port_constraint_errors_transmitted_total"},
    Renamed{"port_rcv_data", "port_data_received_bytes_total", 4},
    Renamed{"port_xmit_data", "port_data_transmitted_bytes_total", 4},
    Renamed{"port_rcv_discards", "port_discards_received_total"},
    Renamed{"port_xmit_discards", "port_discards_transmitted_total"},
    Renamed{"port_rcv_errors", "port_errors_received_total"},
    Renamed{"port_rcv_packets", "port_packets_received_total"},
    Renamed{"port_xmit_packets", "port_packets_transmitted_total"},
    Renamed{"port_rcv_remote_physical_errors", "port_receive_remote_physical_errors_total"},
    Renamed{"port_rcv_switch_relay_errors", "port_receive_switch_relay_errors_total"},
    Renamed{"port_xmit_wait", "port_transmit_wait_total"},
    Renamed{"duplicate_request", "duplicate_requests_packets_total"},
    Renamed{"implied_nak_seq_err", "implied_nak_seq_errors_total"},
    Renamed{"local_ack_timeout_err", "local_ack_timeout_errors_total"},
    Renamed{"np_cnp_sent", "np_cnp_packets_sent_total"},
    Renamed{"np_ecn_marked_roce_packets", "np_ecn_marked_roce_packets_received_total"},
    Renamed{"out_of_buffer", "out_of_buffer_drops_total"},
    Renamed{"out_of_sequence", "out_of_sequence_packets_received_total"},
    Renamed{"packet_seq_err", "packet_sequence_errors_total"},
    Renamed{"req_cqe_error", "req_cqes_errors_total"},
    Renamed{"req_cqe_flush_error", "req_cqes_flush_errors_total"},
    Renamed{"req_remote_access_errors", "req_remote_access_errors_total"},
    Renamed{"req_remote_invalid_request", "req_remote_invalid_request_errors_total"},
    Renamed{"resp_cqe_error", "resp_cqes_errors_total"},
    Renamed{"resp_cqe_flush_error", "resp_cqes_flush_errors_total"},
    Renamed{"resp_local_length_error", "resp_local_length_errors_total"},
    Renamed{"resp_remote_access_errors", "resp_remote_access_errors_total"},
    Renamed{"rnr_nak_retry_err", "rnr_nak_retry_packets_received_total"},
    Renamed{"roce_adp_retrans", "roce_adp_retransmits_total"},
    Renamed{"roce_adp_retrans_to", "roce_adp_retransmits_timeout_total"},
    Renamed{"roce_slow_restart", "roce_slow_restart_used_total"},
    Renamed{"roce_slow_restart_cnps", "roce_slow_restart_cnps_total"},
    Renamed{"roce_slow_restart_trans", "roce_slow_restart_total"},
    Renamed{"rp_cnp_handled", "rp_cnp_packets_handled_total"},
    Renamed{"rp_cnp_ignored", "rp_cnp_ignored_packets_received_total"},
    Renamed{"rx_icrc_encapsulated", "rx_icrc_encapsulated_errors_total"},
};

// Tells whether the file is a setting of the driver and not a counter.
bool isSetting(std::string_view file) { return file == "lifespan"; }

bool isPlain(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

// Returns e.g. "link_downed_total" and 1 for "link_downed"; the name is always valid for a metric.
std::pair<std::string, std::uint64_t> nameAndUnit(std::string_view file) {
  const auto known = std::find_if(kRenamed.begin(), kRenamed.end(),
                                  [&](const Renamed& one) { return one.file == file; });
  if (known != kRenamed.end()) return {std::string(known->name), known->unit};
  std::string name;
  for (char c : file) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    name += isPlain(c) ? c : '_';
  }
  return {name + "_total", 1};
}

void readDirectory(const std::filesystem::path& directory, const WantedCounter& wanted,
                   std::vector<PortCounter>& into) {
  constexpr std::size_t kMax = 4096;
  std::error_code failed;
  for (std::filesystem::directory_iterator at(directory, failed), end; !failed && at != end;
       at.increment(failed)) {
    if (into.size() >= kMaxCounters) return;
    const std::string file = at->path().filename();
    if (isSetting(file)) continue;
    auto [name, unit] = nameAndUnit(file);
    if (wanted && !wanted(name)) continue;
    auto text = readFile(at->path(), kMax);
    if (!text) continue;
    while (!text->empty() && text->back() == '\n') text->pop_back();
    // Some drivers write "N/A (not supported)".
    if (const auto value = parseUnsigned(*text, UINT64_MAX)) {
      into.push_back({std::move(name), *value * unit});
    }
  }
}

}  // namespace

std::vector<PortCounter> readPortCounters(const std::filesystem::path& port_directory,
                                          const WantedCounter& wanted) {
  std::vector<PortCounter> counters;
  readDirectory(port_directory / "counters", wanted, counters);
  readDirectory(port_directory / "hw_counters", wanted, counters);
  // A duplicate name would break the exposition; the port's own counter wins.
  std::stable_sort(counters.begin(), counters.end(),
                   [](const PortCounter& a, const PortCounter& b) { return a.name < b.name; });
  const auto repeated =
      std::unique(counters.begin(), counters.end(),
                  [](const PortCounter& a, const PortCounter& b) { return a.name == b.name; });
  counters.erase(repeated, counters.end());
  return counters;
}

}  // namespace pingloom::rdma::verbs
