#include "controller/controller.h"

#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/file.h"
#include "common/log.h"
#include "common/poll_set.h"
#include "controller/model/grid_plan.h"

namespace pingloom::controller {
namespace {

// What wakes the control thread.
enum class Wake {
  kServiceManager,
  kMessages,
  kLedger,
  kPinglist,
  kRedis,
  kBursts,
  kOrders,
  kAuthorizedKeys,
  kJoinBook,
  kJoins,
  kCluster,
  kOtherControllers,
  kCount
};

constexpr Nanos kPublishInterval = 250 * kMillisecond;
constexpr Nanos kHostsInterval = 500 * kMillisecond;  // each publication copies all of them
constexpr Nanos kEventsInterval = kSecond;            // changes within it are written together
constexpr Nanos kMaxWait = kSecond;
constexpr Nanos kLedgerWait = 20 * kMillisecond;
// Leases expire only once all waiting messages are read, because one of them may renew a lease.
// This limit keeps a flood of messages from keeping leases alive for ever.
constexpr Nanos kMaxBacklog = 30 * kSecond;

using Waiting = ControlServer::Waiting;

// The file of the RDMA endpoints. The one of before agents got parts of the table is removed: a
// controller of that time would take what agents hold for all of it.
std::filesystem::path endpointsFile(const std::filesystem::path& state_dir) {
  std::error_code ignored;
  std::filesystem::remove(state_dir / "endpoints", ignored);
  return state_dir / "endpoint_table";
}

}  // namespace

Result<std::unique_ptr<Controller>> Controller::start(const Config& config) {
  std::unique_ptr<Controller> made(new Controller(config));
  if (auto status = made->open(); !status) return tl::unexpected(status.error());
  return made;
}

// The alerts and the writer read the board, and the ledger commits waiting batches, so both end
// first.
Controller::~Controller() {
  alerts_.reset();
  writer_.reset();
  cluster_writer_.reset();
  if (ledger_ != nullptr) {
    events_due_mono_ = 0;
    keepEvents(Instant::now());
    if (server_ != nullptr) ledger_->record({}, {}, {}, {}, server_->counterLog().takeAll());
  }
  ledger_.reset();
  cluster_.reset();
}

Status Controller::open() {
  started_utc_ = utcNow();
  presence_.emplace(started_utc_);
  grid_.keepEventsIn(events_);
  grid_.countLatencyIn(latency_);
  // protobuf would log a line for each hostile message; the controller refuses and counts them
  // itself.
  google::protobuf::SetLogHandler(nullptr);
  if (auto status = makeDirectories(config_.state_dir); !status) return status;
  if (auto status = lockStateDir(); !status) return status;
  // Once this controller has joined, agents may come.
  if (auto status = listen(); !status) return status;
  if (auto status = joinCluster(); !status) return status;
  auto ledger =
      Ledger::open({historyPlace(config_), config_.history_retention, config_.history_max_bytes,
                    cluster_ == nullptr ? nullptr : cluster_->fence()},
                   started_utc_);
  if (!ledger) return tl::unexpected(ledger.error());
  auto pinglist = PinglistSource::open(config_.pinglist, config_.limits);
  if (!pinglist) return tl::unexpected(pinglist.error());
  pinglist_ = std::move(*pinglist);
  if (config_.redis.kind == RedisTarget::Kind::kEmbedded) {
    auto redis = EmbeddedRedis::start({.socket = config_.redis.path, .folder = config_.state_dir});
    if (!redis) return tl::unexpected(redis.error());
    redis_ = std::move(*redis);
  }
  marks_ = std::make_unique<BatchMarks>((*ledger)->marks());
  Ledger& opened = **ledger;
  const Instant now = Instant::now();
  if (const auto kept = opened.verdicts(now.utc - IncidentKeeper::kReopen)) {
    verdicts_.restore(*kept, now);
  } else {
    log::error("{}; incidents of before are not known", kept.error().text());
  }
  // This runs before the ledger's thread starts.
  membership_.emplace(config_.state_dir / "members", now);
  cover_pairs_.emplace(config_.state_dir / "cover");
  written_ = pinglist_->load(true, monotonicNow(), started_utc_);
  const auto first = written_ == nullptr ? nullptr : expanded(now);
  if (first != nullptr) {
    grid_.setPlan(makeGridPlan(first, ++generation_), now);
    planChanged(now);
    restoreAll(opened);
  }
  const Nanos newest = opened.newestEnd();
  ledger_ = std::make_unique<LedgerWriter>(std::move(*ledger));
  intake_ = std::make_unique<BatchIntake>(registry_, grid_, *marks_, *ledger_);
  intake_->noteClock({monotonicNow(), newest});
  server_ = std::make_unique<ControlServer>(
      *socket_, registry_, *marks_, *intake_, *ledger_, bursts_, paths_,
      endpointsFile(config_.state_dir), monotonicNow(), access_.get(), desk_.get(),
      homes_ ? &*homes_ : nullptr, &foreign_, feed_ ? &*feed_ : nullptr);
  if (auto status = followOthers(); !status) return status;
  if (first != nullptr) {
    server_->setPlan({first, &first->plan}, Instant::now());
  }
  startWriter();
  if (!config_.alerts.empty()) {
    Alerts::Sends sends;
    if (cluster_ != nullptr) {
      sends = [fence = cluster_->fence()] { return fence->leads(monotonicNow()); };
    }
    auto alerts =
        Alerts::start(config_.alerts, config_.state_dir / "alerts", board_, std::move(sends));
    if (!alerts) return tl::unexpected(alerts.error());
    alerts_ = std::move(*alerts);
  }
  publish(Instant::now());
  log::info("agents connect to {}", socket_->address().text());
  return {};
}

Status Controller::listen() {
  if (auto loaded = loadKeys(config_); !loaded) return loaded;
  net::RouterOptions options;
  if (config_.keys) {
    auto authorized = AuthorizedSource::open(config_.keys->authorized);
    if (!authorized) return tl::unexpected(authorized.error());
    authorized_ = std::move(*authorized);
    gate_ = std::make_shared<net::PeerGate>(*config_.keys->own, "control port");
    access_ =
        std::make_unique<Access>(gate_, authorized_->current(), authorized_->joins(), utcNow());
    desk_ = std::make_unique<JoinDesk>(config_.keys->authorized);
    options.gate = gate_;
    options.plaintext = config_.keys->plaintext;
    if (options.plaintext) access_->letInWithoutKeys();
    log::info("agents need keys; this controller's is {}", gate_->own().public_key.text());
  }
  if (const auto exposed = exposedAt(config_)) {
    log::warning(
        "WITHOUT KEYS: anybody who reaches {} can register as any host that has no key, forge its "
        "results and read the plan; 'keys' of the configuration encrypts and authenticates "
        "(docs/keys.md)",
        exposed->text());
  }
  auto socket = net::ZmqRouter::bind(config_.control, options);
  if (!socket) return tl::unexpected(socket.error());
  socket_ = std::move(*socket);
  return {};
}

void Controller::loadAuthorized() {
  const Instant now = Instant::now();
  if (!authorized_->reload(now.mono)) return;
  server_->authorize(authorized_->current(), authorized_->joins(), now);
}

// A key is in force before its host is told so.
void Controller::takeJoins() {
  const Instant now = Instant::now();
  for (const JoinDesk::Done& done : desk_->takeDone()) {
    if (done.authorized != nullptr) {
      authorized_->install(done.authorized, done.book);
      server_->authorize(done.authorized, done.book, now);
    }
    server_->answerJoins(done.answers, now);
  }
}

// Two controllers on one ledger would count everything twice.
Status Controller::lockStateDir() {
  auto locked = lockFile(config_.state_dir / "lock");
  if (!locked) return tl::unexpected(locked.error());
  state_lock_ = std::move(*locked);
  if (!state_lock_.valid()) {
    return makeError(config_.state_dir.native(), "another controller is using this state_dir");
  }
  return {};
}

ServiceManager::Asked Controller::run(ServiceManager& manager) {
  ServiceManager::Asked asked = ServiceManager::Asked::kNothing;
  do {
    turn();
    manager.tell(generation_ != 0 && board_.redis()->connected, doing());
    asked = wait(manager);
  } while (asked == ServiceManager::Asked::kNothing);
  return asked;
}

std::string_view Controller::doing() const {
  if (generation_ == 0) return "no pinglist is in force; the log says why";
  if (!board_.redis()->connected) return "Redis does not take the results; the log says why";
  return "serving";
}

void Controller::reload(const Config& config) {
  if (config.pinglist == config_.pinglist && config.limits == config_.limits) return;
  auto pinglist = PinglistSource::open(config.pinglist, config.limits);
  if (!pinglist) {
    log::error("{}; the pinglist from before stays", pinglist.error().text());
    return;
  }
  (*pinglist)->succeed(*pinglist_);
  const Instant now = Instant::now();
  const auto loaded = (*pinglist)->load(true, now.mono, now.utc);
  // the error was logged; the previous pinglist stays
  if (loaded == nullptr && generation_ != 0) return;
  config_.pinglist = config.pinglist;
  config_.limits = config.limits;
  pinglist_ = std::move(*pinglist);
  publish_due_mono_ = 0;
  if (loaded != nullptr) enforce(loaded, now);
}

void Controller::turn() {
  const Instant before = Instant::now();
  waiting_ = server_->receive(before);
  server_->acknowledgeCommitted();
  if (others_ != nullptr) others_->run(before);
  const Instant now = Instant::now();
  for (const LatestReport& latest : ledger_->takeRestored()) restore(latest, now);
  const bool drained = waiting_ == Waiting::kNothing;
  if (drained) drained_mono_ = now.mono;
  steady_ = lapse_watch_.steady(now.mono);
  if (steady_ && (drained || now.mono - drained_mono_ > kMaxBacklog)) registry_.expire(now);
  const auto changed = registry_.takeChanged();
  if (!changed.empty()) {
    grid_.presenceChanged(changed);
    share(changed);
    presence_->note(registry_, changed, now);
    server_->presenceChanged(changed, now);
    membership_->changed(now);
    hosts_changed_ = true;
  }
  const Nanos forget = written_ == nullptr ? 0 : pinglist::longestForget(*written_);
  if (membership_->runDue(registry_, forget, now)) membersChanged(now);
  grid_.runDue(now);
  if (cluster_ != nullptr) noteNewMembers(now);
  // One that was paused has missed that another controller leads until its next renewal.
  if (cluster_ != nullptr && !cluster_->fence()->leads(now.mono)) verdicts_.stopLeading();
  verdicts_.run(now);
  coverLinks(now);
  paths_.runDue(now);
  server_->runDue(now);
  if (access_ != nullptr) access_->runDue(now.utc);
  if (redis_ != nullptr) redis_->run(now.mono);
  if (now.mono >= publish_due_mono_) publish(now);
  keepEvents(now);
}

Nanos Controller::longestWait() const {
  if (waiting_ == Waiting::kMessages) return 0;
  if (waiting_ == Waiting::kNothing && socket_->readable()) return 0;
  const Instant now = Instant::now();
  Nanos wait = waiting_ == Waiting::kLedger ? kLedgerWait : kMaxWait;
  wait = std::min(wait, publish_due_mono_ - now.mono);
  if (steady_) wait = std::min(wait, registry_.nextExpiry() - now.mono);
  wait = std::min(wait, server_->nextDue() - now.mono);
  wait = std::min(wait, membership_->nextDue() - now.mono);
  wait = std::min(wait, grid_.nextDueUtc() - now.utc);
  wait = std::min(wait, verdicts_.nextDue() - now.mono);
  if (others_ != nullptr) wait = std::min(wait, others_->nextDue() - now.mono);
  if (redis_ != nullptr) wait = std::min(wait, redis_->nextDue() - now.mono);
  if (access_ != nullptr) wait = std::min(wait, authorized_->nextDue() - now.mono);
  return std::max<Nanos>(wait, 0);
}

ServiceManager::Asked Controller::wait(ServiceManager& manager) {
  const bool for_messages = waiting_ != Waiting::kLedger;
  PollSet<Wake> wakes;
  wakes.watch(Wake::kServiceManager, manager.descriptor());
  if (for_messages) wakes.watch(Wake::kMessages, socket_->descriptor());
  wakes.watch(Wake::kLedger, ledger_->descriptor());
  wakes.watch(Wake::kPinglist, pinglist_->descriptor());
  if (redis_ != nullptr) wakes.watch(Wake::kRedis, redis_->descriptor());
  wakes.watch(Wake::kBursts, bursts_.descriptor());
  wakes.watch(Wake::kOrders, orders_.descriptor());
  if (access_ != nullptr) {
    wakes.watch(Wake::kAuthorizedKeys, authorized_->descriptor());
    wakes.watch(Wake::kJoinBook, authorized_->joinsDescriptor());
    wakes.watch(Wake::kJoins, desk_->descriptor());
  }
  if (cluster_ != nullptr) {
    wakes.watch(Wake::kCluster, cluster_->descriptor());
    wakes.watch(Wake::kOtherControllers, others_->descriptor());
  }
  if (!wakes.wait(longestWait())) {
    if (errno == EINTR) return ServiceManager::Asked::kNothing;
    log::error("{}", makeErrnoError("controller", "cannot wait", errno).value().text());
    return ServiceManager::Asked::kStop;
  }
  if (wakes.ready(Wake::kPinglist)) loadPinglist(false);
  if (cluster_ != nullptr && wakes.ready(Wake::kCluster)) clusterChanged();
  if (access_ != nullptr) {
    if (wakes.ready(Wake::kJoins)) takeJoins();
    // The files are newer than what the join desk has read.
    if (wakes.ready(Wake::kAuthorizedKeys) || wakes.ready(Wake::kJoinBook) ||
        Instant::now().mono >= authorized_->nextDue()) {
      loadAuthorized();
    }
  }
  return wakes.ready(Wake::kServiceManager) ? manager.asked() : ServiceManager::Asked::kNothing;
}

void Controller::keepEvents(Instant now) {
  if (now.mono < events_due_mono_) return;
  events_due_mono_ = now.mono + kEventsInterval;
  auto presence = presence_->take();
  auto verdicts = verdicts_.takeRecords();
  auto severities = grid_.takeSeverities();
  auto counters = server_->counterLog().takeEnded(now.utc);
  auto path_changes = paths_.takeChanges(now.utc);
  if (events_.empty() && presence.empty() && verdicts.empty() && severities.empty() &&
      counters.empty() && path_changes.empty()) {
    return;
  }
  ledger_->record(events_.take(now.utc), std::move(presence), std::move(verdicts),
                  std::move(severities), std::move(counters), std::move(path_changes));
}

void Controller::publish(Instant now) {
  publish_due_mono_ = now.mono + kPublishInterval;
  auto status = std::make_shared<ControlStatus>();
  status->started_utc = started_utc_;
  status->pinglist_path = pinglist_->path();
  status->pinglist_loaded_utc = pinglist_->loadedUtc();
  status->pinglist_error = pinglist_->error();
  status->pinglist_reloads = pinglist_->reloads();
  status->pinglist_rejections = pinglist_->rejections();
  status->members = membership_->members().size();
  status->member_warnings = member_warnings_;
  status->member_notes = member_notes_;
  const IntakeCounters& counters = intake_->counters();
  status->batches_committed = counters.batches_committed;
  status->batches_duplicate = counters.batches_duplicate;
  status->batches_shown = counters.batches_shown;
  status->reports_refused = counters.refused;
  status->rows_committed = counters.rows_committed;
  status->rows_ignored = counters.rows_ignored;
  status->paths = paths_.counters();
  status->messages_refused = server_->messagesRefused();
  status->messages_dropped = socket_->dropped();
  status->refused_by_reason = server_->refusedByReason();
  status->exposed = exposedAt(config_).has_value();
  if (access_ != nullptr) {
    const auto& requests = authorized_->joins()->requests;
    const auto waiting =
        std::count_if(requests.begin(), requests.end(),
                      [](const keys::WaitingKey& waits) { return !waits.rejected; });
    status->keys =
        KeysStatus{authorized_->current()->entries().size(), authorized_->newestInForce(),
                   gate_->refusals(), static_cast<std::size_t>(waiting), server_->joins()};
  }
  status->agents_sent_away = server_->agentsSentAway();
  status->batches_relayed = counters.batches_relayed;
  status->relayed_refused = counters.relayed_refused;
  if (others_ != nullptr) status->controllers_heard = others_->heard();
  if (feed_) status->followers_restarted = feed_->restarts();
  status->history = ledger_->status();
  status->history.events_dropped += server_->counterLog().dropped();
  if (cluster_ != nullptr) cluster_->setLoad(registry_.present(), status->history.lag);
  board_.publishControl(std::move(status));
  if (auto latency = latency_.takeChanged()) board_.publishLatency(std::move(latency));
  hosts_changed_ = server_->takeHostsChanged() || hosts_changed_;
  if (relay_intake_) hosts_changed_ = relay_intake_->takeHostsChanged() || hosts_changed_;
  if (!hosts_changed_ || now.mono < hosts_due_mono_) return;
  board_.publishHosts(registry_.hosts(server_->planHash()));
  hosts_changed_ = false;
  hosts_due_mono_ = now.mono + kHostsInterval;
}

}  // namespace pingloom::controller
