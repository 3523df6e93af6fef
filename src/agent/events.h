// Reports the events of this agent to a translator, which appends them to a list in a collector's
// memory (docs/events.md): pings that go wrong, pairs that change their state, and NIC counters
// that move. On request it also reports the hops of traced paths, and votes for links that lose. A
// window tells the same only when it closes. Any thread; no call waits for the network. At most
// kMaxPerSecond events leave in a second; the others are counted, and an event says how many there
// were.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <pingloom/report.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/nic_counter.h"
#include "common/time.h"
#include "common/traced_path.h"
#include "common/vocabulary.h"
#include "common/yaml.h"
#include "probe/ping_listener.h"
#include "probe/window.h"

namespace pingloom::agent {

struct EventsConfig {
  std::string translator = "127.0.0.1";  // ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT
  std::uint16_t table = 0;               // the number of a table of lists
  std::uint16_t paths = 0;               // of a table of paths; 0: hops are not reported
  std::uint16_t votes = 0;               // of a table of counters; 0: links get no votes
  std::uint32_t reporter = 0;            // this agent's number, by which the translator knows it
  std::filesystem::path key;             // the file of the key that seals; empty for none
};

// Reads the section, for common/config_reader.h.
Status readValue(const yaml::Node& node, EventsConfig& config);

struct EventCounts {
  std::uint64_t taken = 0;       // by the library
  std::uint64_t suppressed = 0;  // beyond kMaxPerSecond
  std::uint64_t skipped = 0;     // dropped by the library
};

class Events : public probe::PingListener {
 public:
  static constexpr std::uint32_t kMaxPerSecond = 1000;
  static constexpr std::size_t kMaxBytes = 160;  // of an entry; longer texts are cut

  static Result<std::unique_ptr<Events>> open(const EventsConfig& config);

  void pingEvent(probe::PingEvent event, const plan::Assignment& assignment,
                 const IpAddress& destination, Nanos after) override;
  // Compares the states of the window's pairs with those of their windows before. The control
  // thread.
  void add(const probe::ClosedWindow& window);
  // Reports the hops of a traced path as postcards. The control thread.
  void add(const TracedPath& path);
  // Finds the known path of a window's pair; nullptr if there is none.
  using FindPath = std::function<const TracedPath*(const IpAddress& destination)>;
  // Gives each link on the path of a pair a vote for each ping that the window has lost. The
  // control thread.
  void vote(const probe::ClosedWindow& window, const FindPath& find);
  // Compares counters with the last ones. The control thread.
  void add(const std::shared_ptr<const NicPorts>& counters);
  EventCounts counts();

 private:
  explicit Events(const EventsConfig& config)
      : reporter_(config.translator, config.reporter, 0, false, config.key.string()),
        table_(config.table),
        paths_(config.paths),
        votes_(config.votes) {}
  void tell(std::string_view text);
  void append(Nanos now, std::string_view text);
  bool mayLeave(Nanos now);

  Reporter reporter_;
  const std::uint16_t table_;
  const std::uint16_t paths_;
  const std::uint16_t votes_;
  std::mutex mutex_;             // guards the three below
  Nanos second_ = 0;             // monotonic; when the present second began
  std::uint32_t in_second_ = 0;  // events of it
  std::uint64_t suppressed_ = 0;
  std::uint64_t told_suppressed_ = 0;  // of them, those that an event has told
  // By assignment and path, the last state of each pair. The control thread.
  struct States {
    std::shared_ptr<const plan::Assignment> assignment;
    std::vector<PairState> states;
  };
  std::map<std::pair<const plan::Assignment*, std::uint32_t>, States> states_;
  std::shared_ptr<const NicPorts> counters_;
};

// The state of a pair as its source sees it in one window: ok, loss, unreachable, refused or
// misfit; pending if no ping was sent.
PairState stateSeen(const probe::PairWindow& pair);

}  // namespace pingloom::agent
