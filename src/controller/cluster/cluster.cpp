#include "controller/cluster/cluster.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "plan/endpoint_codec.h"

namespace pingloom::controller {
namespace {

constexpr Nanos kLookAtPredecessor = 200 * kMillisecond;

Status joinAfterPredecessor(Lease& lease) {
  const Nanos give_up = monotonicNow() + kControllerLease + kSecond;
  std::optional<ClusterMember> before;
  for (;;) {
    const auto taken = lease.join(Instant::now());
    if (!taken) return tl::unexpected(taken.error());
    if (!*taken) return {};
    const bool runs = before && (before->session != (*taken)->session ||
                                 before->lease_left < (*taken)->lease_left);
    if (runs || monotonicNow() >= give_up) return tl::unexpected(nameTaken(**taken));
    before = **taken;
    std::this_thread::sleep_for(std::chrono::nanoseconds(kLookAtPredecessor));
  }
}

}  // namespace

Result<std::unique_ptr<Cluster>> Cluster::join(LeaseOptions options, Board& board) {
  Lease lease(std::move(options));
  if (auto status = joinAfterPredecessor(lease); !status) return tl::unexpected(status.error());
  return std::unique_ptr<Cluster>(new Cluster(std::move(lease), board));
}

Cluster::Cluster(Lease lease, Board& board)
    : lease_(std::move(lease)), board_(board), event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "cluster");
}

Cluster::~Cluster() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
  lease_.leave();
}

void Cluster::run() {
  Nanos renew_due = 0;
  for (;;) {
    const Nanos started = monotonicNow();
    // A leader that leaves, for an upgrade, is followed at once, so that incidents are judged
    // without a break.
    if (started >= renew_due || lease_.leaderIsGone()) {
      renew_due = started + Lease::kRenewInterval;
      renew();
    }
    exchange();
    const Nanos due = std::min(renew_due, started + kExchangeInterval);
    const auto pause = std::chrono::nanoseconds(std::max<Nanos>(due - monotonicNow(), 0));
    std::unique_lock lock(mutex_);
    if (wake_.wait_for(lock, pause, [&] { return stop_; })) return;
  }
}

void Cluster::renew() {
  std::uint64_t agents = 0;
  Nanos lag = 0;
  {
    const std::lock_guard lock(mutex_);
    agents = agents_;
    lag = lag_;
  }
  lease_.renew(agents, lag, Instant::now());
  board_.publishCluster(std::make_shared<const ClusterStatus>(lease_.status()));
  auto verdicts = lease_.takeVerdicts();
  {
    const std::lock_guard lock(mutex_);
    // What a new leader begins with must not be lost when the control thread is late.
    if (!verdicts && news_) verdicts = std::move(news_->verdicts);
    auto addresses = news_ ? std::move(news_->addresses) : std::vector<SharedAddress>();
    news_ = News{lease_.status().leads, lease_.status().session, std::move(verdicts),
                 std::move(addresses)};
  }
  wakeOwner();
}

void Cluster::wakeOwner() const {
  const std::uint64_t one = 1;
  (void)!::write(event_.get(), &one, sizeof one);
}

// The database is away if it fails, which the renewal logs.
void Cluster::exchange() {
  write();
  auto told = lease_.shared();
  if (!told || told->empty()) return;
  {
    const std::lock_guard lock(mutex_);
    if (!news_) news_ = News{lease_.status().leads, lease_.status().session, std::nullopt, {}};
    std::move(told->begin(), told->end(), std::back_inserter(news_->addresses));
  }
  wakeOwner();
}

void Cluster::write() {
  for (;;) {
    std::vector<SharedAddress> some;
    {
      const std::lock_guard lock(mutex_);
      while (!to_share_.empty() && some.size() < AddressStore::kMaxWritten) {
        auto node = to_share_.extract(to_share_.begin());
        some.push_back({node.key(), std::move(node.mapped())});
      }
    }
    if (some.empty()) return;
    if (lease_.share(some)) continue;
    const std::lock_guard lock(mutex_);
    for (SharedAddress& change : some) {  // what has come meanwhile is newer
      to_share_.try_emplace(change.address, std::move(change.endpoint));
    }
    return;
  }
}

void Cluster::share(const std::vector<SharedAddress>& changes) {
  const std::lock_guard lock(mutex_);
  for (const SharedAddress& change : changes) {
    if (to_share_.size() < plan::kMaxEndpoints || to_share_.contains(change.address)) {
      to_share_[change.address] = change.endpoint;
    }
  }
}

void Cluster::setLoad(std::uint64_t agents, Nanos lag) {
  const std::lock_guard lock(mutex_);
  agents_ = agents;
  lag_ = lag;
}

std::optional<Cluster::News> Cluster::takeNews() {
  std::uint64_t count = 0;
  while (::read(event_.get(), &count, sizeof count) > 0) {
  }
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, std::nullopt);
}

}  // namespace pingloom::controller
