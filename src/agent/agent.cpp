#include "agent/agent.h"

#include <google/protobuf/stubs/logging.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <numeric>
#include <utility>

#include "agent/report.h"
#include "common/duration.h"
#include "common/log.h"
#include "common/poll_set.h"
#include "common/program.h"
#include "http/server.h"

namespace pingloom::agent {
namespace {

std::string textOf(const std::vector<IpAddress>& addresses) {
  std::string text;
  for (const IpAddress& address : addresses) text += (text.empty() ? "" : " ") + address.text();
  return text.empty() ? "none" : text;
}

// The descriptors that wake the control thread.
enum class Wake { kServiceManager, kController, kWindows, kAddresses, kEndpoints, kPaths, kCount };

}  // namespace

Agent::Agent(Config config, StateDir state)
    : config_(std::move(config)),
      state_(std::move(state)),
      endpoints_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      clock_(utcNow() - monotonicNow()) {}

Agent::~Agent() = default;

Result<std::unique_ptr<Agent>> Agent::start(Config config,
                                            const TransportFactory& make_transports) {
  // protobuf would log a line for each malformed message; the agent counts them instead.
  google::protobuf::SetLogHandler(nullptr);
  if (auto loaded = loadKeys(config); !loaded) return tl::unexpected(loaded.error());
  auto state = StateDir::take(config.state_dir);
  if (!state) return tl::unexpected(state.error());
  std::unique_ptr<Agent> agent(new Agent(std::move(config), std::move(*state)));
  auto spool = Spool::open(agent->state_.spool(), agent->config_.spool_max_bytes);
  if (!spool) return tl::unexpected(spool.error());
  agent->spool_ = std::move(*spool);
  agent->incarnation_ =
      agent->state_.nextIncarnation(utcNow(), agent->spool_->newest().incarnation);
  if (agent->config_.translator) {
    translator::Config& own = *agent->config_.translator;
    if (auto loaded = translator::loadKeys(own); !loaded) return tl::unexpected(loaded.error());
    auto started = translator::IngestGroup::start(own);
    if (!started) return tl::unexpected(started.error());
    agent->translator_ = std::move(*started);
    log::info("reports at udp {} go to collector {}", agent->translator_->listens().text(),
              own.collector);
  }
  if (agent->config_.events) {
    auto opened = Events::open(*agent->config_.events);
    if (!opened) return tl::unexpected(opened.error());
    agent->events_ = std::move(*opened);
    agent->path_reporter_.onPath(
        [events = agent->events_.get()](const TracedPath& path) { events->add(path); });
  }
  if (auto status = agent->startTransports(make_transports); !status) {
    return tl::unexpected(status.error());
  }
  if (agent->config_.results_log) {
    auto opened = ResultsLog::open(*agent->config_.results_log);
    if (!opened) return tl::unexpected(opened.error());
    agent->results_log_ = std::move(*opened);
  }
  agent->startPages(monotonicNow());
  if (auto status = agent->startControl(); !status) return tl::unexpected(status.error());
  return agent;
}

Status Agent::startTransports(const TransportFactory& make_transports) {
  addresses_ = config_.addresses;
  if (addresses_.empty()) {
    // started before the first query, so that no change is missed
    auto watch = AddressWatch::start();
    if (!watch) return tl::unexpected(watch.error());
    address_watch_ = std::move(*watch);
    addresses_ = machineAddresses();
  }
  transport_context_.listen = config_.addresses;
  transport_context_.port = config_.port;
  transport_context_.incarnation = static_cast<std::uint32_t>(incarnation_);
  transport_context_.phase_seed = std::hash<std::string>()(config_.host);
  transport_context_.clock = &clock_;
  transport_context_.windows = &windows_;
  transport_context_.paths = &paths_;
  transport_context_.endpoints_changed = [descriptor = endpoints_event_.get()] {
    (void)::eventfd_write(descriptor, 1);
  };
  transport_context_.endpoint_board = &endpoint_board_;
  transport_context_.listener = events_.get();
  transport_context_.rdma = config_.rdma.endpoint;
  transport_context_.open_device = [options = config_.rdma.device](const IpAddress& address) {
    return rdma::openDevice(address, options);
  };
  auto transports = make_transports(transport_context_);
  if (!transports) {
    return makeError(transports.error().entity,
                     transports.error().reason +
                         "; 'addresses' and 'port' of the configuration say where to listen");
  }
  transports_ = std::move(*transports);
  lateness_.resize(transports_.size());
  plan_ = state_.loadPlan();
  if (plan_ != nullptr) {
    log::info("probing by the kept plan ({} probes) until the controller says otherwise",
              plan_->probes.size());
    applyPlan();
  }
  readOwnEndpoints();
  applyEndpoints();
  return {};
}

// By default pages are served at the first address that has an RDMA device.
Result<pages::PageServiceOptions> Agent::pageOptions() const {
  const PagesConfig& config = *config_.pages;
  pages::PageServiceOptions options;
  options.device = config.device ? *config.device : config_.rdma.device;
  if (config.address) {
    options.address = *config.address;
  } else if (addresses_.empty()) {
    return makeError("pages", "this host has no address; write 'pages: { address: ADDRESS }'");
  } else {
    const auto with_device = rdma::addressesWithDevice(addresses_, options.device);
    options.address = with_device.empty() ? addresses_.front() : with_device.front();
  }
  options.server.listen = {options.address, config.port};
  options.server.host = config_.host;
  options.server.incarnation = incarnation_;
  options.registration = config.registration;
  options.registration.own = static_cast<std::uint32_t>(getpid());
  // The agent itself needs access for its own pages. If both lists are empty, everyone who can open
  // the socket has access.
  if (!config.registration.users.empty() || !config.registration.groups.empty()) {
    options.registration.users.push_back(geteuid());
  }
  options.limits = config.limits;
  options.server.gate = pages_gate_;
  return options;
}

// Pages are not what the agent is for: without a device for them it probes, and tries again.
void Agent::startPages(Nanos now) {
  pages_due_ = kNever;
  if (!config_.pages || pages_ != nullptr) return;
  if (config_.keys && pages_gate_ == nullptr) {
    pages_gate_ = std::make_shared<net::PeerGate>(*config_.keys->own, "metric pages");
  }
  auto options = pageOptions();
  auto started = options
                     ? pages::PageService::start(*options)
                     : Result<std::unique_ptr<pages::PageService>>(tl::unexpected(options.error()));
  if (!started) {
    pages_due_ = now + kPagesPause;
    const bool soft =
        options && options->device.device == rdma::kSoftDevice && !config_.pages->address;
    const std::string problem =
        started.error().text() +
        (soft ? "; a soft device needs an address of its own: 'pages: { address: ADDRESS }'" : "");
    if (problem != pages_problem_) {
      log::warning("metric pages are not served, which is tried again every {}: {}",
                   formatDuration(kPagesPause), problem);
    }
    pages_problem_ = problem;
    return;
  }
  pages_problem_.clear();
  pages_ = std::move(*started);
  own_pages_ = std::make_unique<OwnPages>(config_.pages->registration.socket, work_);
  if (config_.pages->system) {
    system_ = std::make_unique<system::SystemThread>(config_.pages->registration.socket);
  }
  if (control_ != nullptr) control_->setPages(announcedPages(), now);
}

std::string Agent::announcedPages() const {
  const bool told = pages_ != nullptr && announcesPages(config_, pages_->address().address);
  return told ? pages_->address().text() : "";
}

Status Agent::startControl() {
  ControlOptions options;
  options.controllers = config_.controllers;
  options.host = config_.host;
  options.incarnation = incarnation_;
  options.addresses = addresses_;
  options.port = config_.port;
  options.software_version = program::version();
  options.pages = announcedPages();
  if (config_.keys) options.keys = ControlKeys{*config_.keys->own, config_.keys->controller};
  counters_ = std::make_unique<CounterThread>(addresses_);
  control_ = std::make_unique<ControlClient>(control_context_, std::move(options), *spool_,
                                             static_cast<ControlOwner&>(*this));
  if (auto status = control_->start(monotonicNow(), plan_); !status) return status;
  if (auto status = startHttp(); !status) return status;
  collectFigures(monotonicNow());
  log::info("agent {} (addresses {}, port {}) looks for controller {}", config_.host,
            textOf(addresses_), config_.port, control_->controller());
  return {};
}

Status Agent::startHttp() {
  if (!config_.http) return {};
  auto access = http::openAccess(config_.http_access);
  if (!access) return tl::unexpected(access.error());
  access_ = std::move(*access);
  auto server = serveFigures(*config_.http, access_, board_);
  if (!server && config_.http_by_default) {
    log::warning(
        "no metrics are served: {}; 'http: ADDRESS:PORT' serves them elsewhere, and "
        "'http: none' nowhere",
        server.error().text());
    return {};
  }
  if (!server) return tl::unexpected(server.error());
  http_ = std::move(*server);
  http::warnWhereOpen(http_->address(), access_.get(), "see this agent's metrics");
  log::info("metrics at {}://{}/metrics",
            config_.http_access.certificate.empty() ? "http" : "https", http_->address().text());
  return {};
}

std::optional<SocketAddress> Agent::httpAddress() const {
  return http_ == nullptr ? std::nullopt : std::optional<SocketAddress>(http_->address());
}

ServiceManager::Asked Agent::run(ServiceManager& manager) {
  while (true) {
    manager.tell(plan_ != nullptr, doing());
    PollSet<Wake> wakes;
    wakes.watch(Wake::kServiceManager, manager.descriptor());
    wakes.watch(Wake::kController, control_->descriptor());
    if (gather_due_ == 0) wakes.watch(Wake::kWindows, windows_.descriptor());
    if (address_watch_) wakes.watch(Wake::kAddresses, address_watch_->descriptor());
    wakes.watch(Wake::kEndpoints, endpoints_event_.get());
    wakes.watch(Wake::kPaths, path_reporter_.descriptor());
    wakes.wait(nextDue() - monotonicNow());
    const Nanos now = monotonicNow();
    if (wakes.ready(Wake::kServiceManager)) {
      const ServiceManager::Asked asked = manager.asked();
      if (asked == ServiceManager::Asked::kStop) farewell();
      if (asked != ServiceManager::Asked::kNothing) return asked;
    }
    if (wakes.ready(Wake::kWindows)) gather_due_ = now + kGather;
    if (wakes.ready(Wake::kAddresses)) readAddresses(now);
    if (wakes.ready(Wake::kEndpoints)) endpointsChanged(now);
    if ((gather_due_ != 0 && now >= gather_due_) || now >= path_merge_.due()) spoolWindows();
    if (now >= endpoint_keeper_.saveDue()) endpoint_keeper_.save();
    if (now >= pages_due_) startPages(now);
    bursts_.run(now);
    if (wakes.ready(Wake::kPaths) || now >= path_reporter_.due()) path_reporter_.run(now);
    control_->run(now);
    tellPathsAgain(now);
    if (now >= figures_due_) collectFigures(now);
  }
}

// A controller that was restarted knows no paths.
void Agent::tellPathsAgain(Nanos now) {
  const std::uint64_t registrations = control_->counters().registrations;
  if (registrations == registrations_) return;
  registrations_ = registrations;
  path_reporter_.tellAll(now, clock_.utc(now));
}

std::string_view Agent::doing() const {
  if (plan_ == nullptr) return "waiting for the controller: there is no plan yet";
  if (control_->state() == ControlClient::State::kRegistered) return "probing";
  return "probing; without the controller, results are spooled";
}

namespace {

// Compares the configured path of the agent's own key; the file itself is read only at the start.
bool sameSecret(const std::optional<KeysConfig>& a, const std::optional<KeysConfig>& b) {
  if (!a || !b) return !a && !b;
  return a->secret == b->secret;
}

}  // namespace

void Agent::reload(const Config& config) {
  http::reloadAccess(access_.get());
  if (!sameSecret(config.keys, config_.keys)) {
    log::warning(
        "this agent's own key, 'keys: {{ secret }}', needs a restart: {} stays its controller",
        control_->controller());
    return;
  }
  const std::string announced = announcedPages();
  config_.controllers = config.controllers;
  if (announced != announcedPages()) control_->setPages(announcedPages(), monotonicNow());
  std::vector<net::CurveKey> keys;
  if (config_.keys) {
    // What an agent knows from its join token may have been deleted since.
    if (!config.keys->controller.empty()) config_.keys->controller = config.keys->controller;
    keys = config_.keys->controller;
  }
  control_->setControllers(config.controllers, std::move(keys), monotonicNow());
}

Nanos Agent::nextDue() const {
  Nanos due = std::min(control_->deadline(), endpoint_keeper_.saveDue());
  due = std::min({due, path_merge_.due(), path_reporter_.due(), bursts_.due(), pages_due_});
  if (gather_due_ != 0) due = std::min(due, gather_due_);
  if (http_ != nullptr || own_pages_ != nullptr || events_ != nullptr)
    due = std::min(due, figures_due_);
  return due;
}

void Agent::planChanged(std::shared_ptr<const plan::Plan> plan) {
  plan_ = std::move(plan);
  if (auto status = state_.savePlan(*plan_); !status) {
    log::error("{}; after a restart this agent waits for the controller's plan",
               status.error().text());
  }
  applyPlan();
}

void Agent::applyPlan() {
  work_.update(*plan_, addresses_);
  if (own_pages_ != nullptr) own_pages_->restart();
  std::size_t targets = 0;
  for (const auto& transport : transports_) {
    targets += work_.targets(transport->protocol());
    transport->setWork(work_.of(transport->protocol()));
  }
  log::info("plan with {} probes in force: {} targets to probe", plan_->probes.size(), targets);
}

void Agent::readAddresses(Nanos now) {
  address_watch_->drain();
  auto found = machineAddresses();
  if (found == addresses_) return;
  log::info("this machine's addresses are {} now", textOf(found));
  addresses_ = std::move(found);
  if (readOwnEndpoints()) applyEndpoints();
  counters_->setAddresses(addresses_);
  control_->setAddresses(addresses_, now);
  if (plan_ != nullptr) applyPlan();
}

void Agent::spoolWindows(bool last) {
  gather_due_ = 0;
  const Nanos now = monotonicNow();
  for (probe::ClosedWindow& window : windows_.takeAll()) {
    ++figures_.windows_closed;
    path_merge_.add(std::move(window), now);
  }
  BatchEncoder encoder([this](std::string_view reports) {
    const wire::BatchId id{incarnation_, next_sequence_++};
    spool_->append(id, serializeBatch(id, reports));
  });
  for (probe::ClosedWindow& window : path_merge_.take(last ? kNever : now)) {
    encoder.add(window);
    if (own_pages_ != nullptr) own_pages_->add(window);
    if (results_log_) results_log_->add(window);
    if (events_ != nullptr) {
      events_->add(window);
      events_->vote(window, [&](const IpAddress& destination) {
        const plan::Assignment& of = *window.assignment;
        return path_reporter_.find(of.probe.name, of.source, destination, window.path);
      });
    }
    windows_.recycle(std::move(window.pairs));
  }
  encoder.finish();
}

AgentTotals Agent::totals() {
  collectFigures(monotonicNow());
  AgentTotals totals;
  totals.spooled_batches = figures_.spool.batches;
  totals.spooled_bytes = figures_.spool.bytes;
  totals.spool_dropped = figures_.spool.dropped;
  for (const TransportFigures& transport : figures_.transports) {
    totals.pings_sent += transport.pings_sent;
    totals.pings_skipped += transport.pings_skipped;
    totals.stalls += transport.stalls;
    totals.refused_packets +=
        std::accumulate(transport.dropped.begin(), transport.dropped.end(), std::uint64_t{0});
  }
  return totals;
}

void Agent::collectFigures(Nanos now) {
  // The interval is a little longer than a heartbeat's, so that heartbeats alone wake the thread.
  figures_due_ = now + kFiguresInterval + kFiguresInterval / 10;
  figures_.host = config_.host;
  figures_.incarnation = incarnation_;
  figures_.registered = control_->state() == ControlClient::State::kRegistered;
  figures_.control = control_->counters();
  figures_.clock_round_trip = control_->clock().roundTrip();
  figures_.spool = spool_->status();
  figures_.plan_probes = plan_ == nullptr ? 0 : plan_->probes.size();
  figures_.windows_dropped = windows_.dropped();
  figures_.transports.clear();
  for (std::size_t i = 0; i < transports_.size(); ++i) {
    const probe::TransportCounters counters = transports_[i]->counters();
    lateness_[i].add(counters.send_lateness, now);
    figures_.transports.push_back({name(transports_[i]->protocol()), counters.pings_sent,
                                   counters.pings_skipped, counters.pings_answered, counters.stalls,
                                   counters.dropped, counters.endpoint_dropped,
                                   counters.endpoints_lost, lateness_[i].summary(),
                                   work_.targets(transports_[i]->protocol())});
  }
  figures_.counters = counters_->newest();
  if (translator_ != nullptr) {
    figures_.translator = translator_->counters();
    figures_.translator_losses = translator_->losses();
  }
  if (events_ != nullptr) {
    events_->add(figures_.counters);
    figures_.events = events_->counts();
  }
  if (pages_ != nullptr) figures_.pages = pages_->figures();
  if (pages_gate_ != nullptr) figures_.pages_refused = pages_gate_->refusals();
  if (own_pages_ != nullptr) own_pages_->set(figures_);
  if (http_ != nullptr) board_.publish(figures_);
}

void Agent::collectorsAuthorized(std::vector<AuthorizedCollector> collectors) {
  if (pages_gate_ == nullptr) return;
  net::PeerGate::Keys allowed;
  net::PeerGate::Addresses addresses;
  for (AuthorizedCollector& one : collectors) {
    allowed[one.key] = std::nullopt;
    if (!one.addresses.empty()) addresses[one.key] = std::move(one.addresses);
  }
  log::info("metric pages: {} collectors are authorised", allowed.size());
  pages_gate_->allow(std::move(allowed), std::move(addresses));
}

std::uint64_t Agent::laterIncarnation(std::uint64_t committed) {
  log::error(
      "the controller has results of a later start of {} ({} > {}): was the state directory lost, "
      "or does another host have this name? Results that still wait here are lost",
      config_.host, committed, incarnation_);
  incarnation_ = state_.nextIncarnation(utcNow(), committed);
  next_sequence_ = 1;
  return incarnation_;
}

void Agent::farewell() {
  for (const auto& transport : transports_) transport->flush();
  spoolWindows(true);
  const Nanos until = monotonicNow() + kMaxFarewell;
  Nanos now = monotonicNow();
  control_->run(now);
  while (now < until && spool_->status().batches != 0 &&
         control_->state() == ControlClient::State::kRegistered) {
    PollSet<Wake> wakes;
    wakes.watch(Wake::kController, control_->descriptor());
    wakes.wait(std::min(until, control_->deadline()) - monotonicNow());
    now = monotonicNow();
    control_->run(now);
  }
  control_->goodbye();
  endpoint_keeper_.save();
  log::info("agent {} ends; {} batches wait in the spool", config_.host, spool_->status().batches);
}

}  // namespace pingloom::agent
