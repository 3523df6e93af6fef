// The agent's own /metrics and /healthz. The control thread stores a snapshot once a second, and
// the HTTP thread renders it on request.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/control_client.h"
#include "agent/events.h"
#include "agent/spool.h"
#include "common/address.h"
#include "common/distribution.h"
#include "common/error.h"
#include "net/peer_gate.h"
#include "pages/page_service.h"
#include "probe/transport.h"
#include "translator/counters.h"
#include "translator/reporter_losses.h"

namespace pingloom::http {
class Access;
class Server;
}  // namespace pingloom::http

namespace pingloom::agent {

struct TransportFigures {
  std::string_view protocol;
  std::uint64_t pings_sent = 0;
  std::uint64_t pings_skipped = 0;
  std::uint64_t pings_answered = 0;
  std::uint64_t stalls = 0;
  std::array<std::uint64_t, probe::kDropReasonNames.size()> dropped{};
  std::vector<rdma::DropCount> endpoint_dropped;  // RDMA only
  std::uint64_t endpoints_lost = 0;               // RDMA only
  Summary lateness;                               // over the last one to two minutes
  std::uint64_t targets = 0;
};

struct Figures {
  std::string host;
  std::uint64_t incarnation = 0;
  bool registered = false;
  ControlCounters control;
  std::optional<Nanos> clock_offset;  // controller UTC - CLOCK_MONOTONIC
  std::optional<Nanos> clock_round_trip;
  SpoolStatus spool;
  std::uint64_t plan_hash = 0;
  std::uint64_t plan_probes = 0;
  std::uint64_t windows_closed = 0;
  std::uint64_t windows_dropped = 0;
  std::vector<TransportFigures> transports;
  std::optional<pages::PageFigures> pages;         // nullopt without metric pages
  std::shared_ptr<const NicPorts> counters;        // nullptr before they were read
  std::optional<EventCounts> events;               // nullopt if none are reported
  std::optional<translator::Counters> translator;  // nullopt if the agent is no translator
  translator::ReporterLosses translator_losses;
  std::optional<net::PeerRefusals> pages_refused;  // nullopt without metric pages or without keys
};

std::string metricsText(const Figures& figures);

// The lateness of pings, as transports report it since the last call, over one to two minutes.
class LatenessWindow {
 public:
  void add(const Distribution& lateness, Nanos now_mono);
  Summary summary() const;

 private:
  static constexpr Nanos kHalf = kMinute;
  Nanos turned_mono_ = 0;
  Distribution current_;
  Distribution before_;
};

// Any thread may use it.
class FiguresBoard {
 public:
  void publish(Figures figures);
  Figures read() const;

 private:
  mutable std::mutex mutex_;
  Figures figures_;
};

// Serves `board`. `access` may be nullptr. REQUIRES: `board` outlives the server.
Result<std::unique_ptr<http::Server>> serveFigures(const SocketAddress& listen,
                                                   std::shared_ptr<http::Access> access,
                                                   const FiguresBoard& board);

}  // namespace pingloom::agent
