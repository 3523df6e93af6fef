#include "controller/cluster/cluster.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

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
  for (;;) {
    const Nanos started = monotonicNow();
    renew();
    const Nanos pause = std::max<Nanos>(started + Lease::kRenewInterval - monotonicNow(), 0);
    std::unique_lock lock(mutex_);
    if (wake_.wait_for(lock, std::chrono::nanoseconds(pause), [&] { return stop_; })) return;
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
    news_ = News{lease_.status().leads, std::move(verdicts)};
  }
  const std::uint64_t one = 1;
  (void)!::write(event_.get(), &one, sizeof one);
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
