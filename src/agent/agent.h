// The daemon's control thread. It gives the plan and the mesh's endpoints to the transports, takes
// closed windows, spools them, and runs the control connection. It wakes a few times a second and
// never per packet. start(), run() and the destructor belong to one thread; the transports, the
// metric pages and the HTTP server have their own threads.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/burst_runner.h"
#include "agent/config.h"
#include "agent/control_client.h"
#include "agent/counter_thread.h"
#include "agent/endpoint_keeper.h"
#include "agent/events.h"
#include "agent/metrics.h"
#include "agent/own_addresses.h"
#include "agent/own_pages.h"
#include "agent/path_merge.h"
#include "agent/path_reporter.h"
#include "agent/results_log.h"
#include "agent/spool.h"
#include "agent/state_dir.h"
#include "agent/system/system_thread.h"
#include "agent/work.h"
#include "common/fd.h"
#include "common/service_manager.h"
#include "net/peer_gate.h"
#include "pages/page_service.h"
#include "probe/transport.h"
#include "probe/window_clock.h"
#include "probe/window_queue.h"
#include "translator/ingest_group.h"

namespace pingloom::agent {

using TransportFactory = std::function<Result<std::vector<std::unique_ptr<probe::Transport>>>(
    const probe::AgentContext&)>;

class Agent : private ControlOwner {
 public:
  // Locks the state directory, binds all sockets, and probes according to the saved plan, if there
  // is one. Only tests pass a `make_transports` other than probe::makeTransports.
  static Result<std::unique_ptr<Agent>> start(Config config,
                                              const TransportFactory& make_transports);
  ~Agent() override;
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Runs until it is asked to stop or to reload. Before it stops, it closes and spools all windows,
  // tries to deliver them for at most kMaxFarewell, and says goodbye to the controller. The agent
  // is ready once it is probing according to a plan.
  ServiceManager::Asked run(ServiceManager& manager);
  // Applies a configuration between two runs of run(); settings that cannot be reloaded stay
  // unchanged. If the configuration names another secret key for the agent, its `controller` is not
  // applied either, because a new controller may not know the present key.
  void reload(const Config& config);
  static constexpr std::array<std::string_view, 4> kReloadable = {"controller", "keys.controller",
                                                                  "log_level", "log"};
  static constexpr Nanos kMaxFarewell = kSecond;

  std::optional<SocketAddress> httpAddress() const;

 private:
  // The time for which closed windows wait for others, because windows of several probes close at
  // the same moment and share a batch.
  static constexpr Nanos kGather = 50 * kMillisecond;
  static constexpr Nanos kFiguresInterval = kSecond;
  // The pause before the agent tries again to serve metric pages that it could not serve.
  static constexpr Nanos kPagesPause = 10 * kSecond;

  Agent(Config config, StateDir state);
  Status startTransports(const TransportFactory& make_transports);
  Status startControl();
  void startPages(Nanos now);
  std::string announcedPages() const;  // ADDRESS:PORT, or "" if the controller is told of none
  Result<pages::PageServiceOptions> pageOptions() const;
  Status startHttp();

  // These implement ControlOwner.
  void planChanged(std::shared_ptr<const plan::Plan> plan) override;
  void clockOffsetChanged(Nanos offset) override { clock_.setOffset(offset); }
  AgentTotals totals() override;
  std::shared_ptr<const PageOwners> pageOwners() override {
    return pages_ == nullptr ? nullptr : pages_->figures().owner_list;
  }
  std::shared_ptr<const NicPorts> nicCounters() override { return counters_->newest(); }
  std::vector<plan::Endpoint> endpoints() override;
  plan::EndpointVersion heldEndpoints() override { return endpoint_keeper_.version(); }
  std::vector<IpAddress> rdmaAddresses() override;
  Status endpointsPushed(const wire::EndpointUpdate& update) override;
  void burstOrdered(const wire::BurstOrder& order) override {
    bursts_.start(order, monotonicNow());
  }
  void collectorsAuthorized(std::vector<AuthorizedCollector> collectors) override;
  std::uint64_t laterIncarnation(std::uint64_t committed) override;

  Nanos nextDue() const;
  void tellPathsAgain(Nanos now);
  std::string_view doing() const;
  void applyPlan();
  void readAddresses(Nanos now);
  bool readOwnEndpoints();
  void endpointsChanged(Nanos now);
  void applyEndpoints();
  void spoolWindows(bool last = false);  // `last`: no window waits for another one
  void collectFigures(Nanos now);
  void farewell();

  Config config_;
  std::shared_ptr<net::PeerGate> pages_gate_;  // nullptr without keys
  StateDir state_;
  std::unique_ptr<Spool> spool_;
  std::uint64_t incarnation_ = 0;
  std::uint64_t next_sequence_ = 1;
  std::vector<IpAddress> addresses_;
  std::optional<AddressWatch> address_watch_;
  std::shared_ptr<const plan::Plan> plan_;
  WorkList work_;
  EndpointKeeper endpoint_keeper_{state_};
  UniqueFd endpoints_event_;  // an eventfd that signals a change of a transport's endpoints

  probe::WindowClock clock_;
  probe::WindowQueue windows_;
  PathMerge path_merge_{windows_};
  probe::PathQueue paths_;
  PathReporter path_reporter_{
      paths_, [this](const wire::PathReport& report) { return control_->send(report); }};
  std::uint64_t registrations_ = 0;  // when all paths were told
  Nanos gather_due_ = 0;             // 0 if no window waits
  probe::EndpointBoard endpoint_board_;
  // nullptr if not configured; the transports keep a pointer to the events.
  std::unique_ptr<translator::IngestGroup> translator_;
  std::unique_ptr<Events> events_;
  probe::AgentContext transport_context_;  // the transports keep a reference to it
  std::vector<std::unique_ptr<probe::Transport>> transports_;
  BurstRunner bursts_{work_, transports_,
                      [this](const wire::BurstReport& report) { return control_->send(report); }};

  std::unique_ptr<CounterThread> counters_;

  net::ZmqContext control_context_;
  std::unique_ptr<ControlClient> control_;

  Figures figures_;
  std::vector<LatenessWindow> lateness_;  // one per transport
  Nanos figures_due_ = 0;
  FiguresBoard board_;
  std::shared_ptr<http::Access> access_;  // nullptr if not configured
  std::unique_ptr<http::Server> http_;
  std::unique_ptr<pages::PageService> pages_;
  std::unique_ptr<OwnPages> own_pages_;
  std::unique_ptr<system::SystemThread> system_;  // nullptr if not configured
  Nanos pages_due_ = kNever;                      // when to try to serve pages again
  std::string pages_problem_;                     // the last logged reason why they are not served
  std::optional<ResultsLog> results_log_;
};

}  // namespace pingloom::agent
