// What a controller does among those that share its history: it joins them, follows or leads,
// exchanges the RDMA endpoints of agents, and tells what its agents say.
#include <algorithm>
#include <utility>
#include <vector>

#include "controller/controller.h"

namespace pingloom::controller {

// Nothing is written to a shared history before this controller has a session. It does not lead
// yet.
Status Controller::joinCluster() {
  if (!config_.cluster) return {};
  ClusterMember self;
  self.name = config_.cluster->name;
  self.address = config_.cluster->address;
  self.http = config_.http.text();
  // Members that know this one from before connect while it joins.
  if (access_ != nullptr) access_->letInControllers(utcNow());
  auto joined = Cluster::join({historyPlace(config_), std::move(self), config_.state_dir}, board_);
  if (!joined) return tl::unexpected(joined.error());
  cluster_ = std::move(*joined);
  homes_.emplace(board_);
  feed_.emplace(*socket_, registry_, board_);
  if (access_ != nullptr) {
    auto shared = KeyShare::start(
        {historyPlace(config_), config_.keys->authorized, config_.state_dir, cluster_->fence()});
    if (!shared) return tl::unexpected(shared.error());
    key_share_ = std::move(*shared);
  }
  verdicts_.stopLeading();
  return {};
}

Status Controller::followOthers() {
  if (cluster_ == nullptr) return {};
  relay_intake_.emplace(board_, registry_, *intake_, paths_, server_->counterLog(),
                        server_->bursts());
  auto others = OtherControllers::make(
      board_, *relay_intake_, config_.keys ? std::optional(*config_.keys->own) : std::nullopt);
  if (!others) return tl::unexpected(others.error());
  others_ = std::move(*others);
  homes_->setServiceOf([this](const ClusterMember& other) { return others_->serviceOf(other); });
  server_->bursts().forwardBy(
      [this](const std::string& controller, const wire::AgentMessage& order) {
        return others_->order(controller, order);
      });
  return {};
}

// A Redis that is not the controller's own is everybody's.
void Controller::startWriter() {
  RedisWriter::Leads leads;
  if (cluster_ != nullptr && config_.redis.kind != RedisTarget::Kind::kEmbedded) {
    leads = [fence = cluster_->fence()] { return fence->leads(monotonicNow()); };
  }
  const RedisLogin login{config_.redis_user, config_.redis_password_file};
  if (config_.redis.kind == RedisTarget::Kind::kCluster) {
    cluster_writer_ =
        std::make_unique<RedisClusterWriter>(config_.redis, login, board_, std::move(leads));
  } else {
    writer_ = std::make_unique<RedisWriter>(config_.redis, login, board_, std::move(leads));
  }
}

void Controller::clusterChanged() {
  const auto news = cluster_->takeNews();
  if (!news) return;
  const Instant now = Instant::now();
  if (const auto changed = foreign_.take(news->addresses); !changed.empty()) {
    server_->presenceChanged(changed, now);
  }
  if (news->session != 0 && std::exchange(shared_session_, news->session) != news->session) {
    shareAll();
  }
  if (!news->leads) {
    verdicts_.stopLeading();
    if (news->verdicts) verdicts_.follow(*news->verdicts, now);
  } else if (news->verdicts) {
    verdicts_.lead(*news->verdicts, now);
  } else {
    verdicts_.resumeLeading();
  }
}

// A controller writes that it has started, and the history takes that for the end of everybody's
// presence.
void Controller::noteNewMembers(Instant now) {
  const auto cluster = board_.cluster();
  if (cluster == seen_cluster_) return;
  const auto before = std::exchange(seen_cluster_, cluster);
  const auto is_new = [&](const ClusterMember& member) {
    const auto same = [&](const ClusterMember& old) { return old.session == member.session; };
    return member.name != cluster->name &&
           std::none_of(before->members.begin(), before->members.end(), same);
  };
  if (std::any_of(cluster->members.begin(), cluster->members.end(), is_new)) {
    presence_->noteAll(registry_, now);
  }
}

void Controller::share(const std::vector<IpAddress>& addresses) {
  if (cluster_ == nullptr) return;
  std::vector<SharedAddress> changes;
  for (const IpAddress& address : addresses) {
    const Agent* owner = registry_.owner(address);
    const bool here = owner != nullptr && owner->info.isHere();
    const plan::Endpoint* endpoint = here ? registry_.endpoint(address) : nullptr;
    if (endpoint != nullptr) {
      shared_.insert(address);
      changes.push_back({address, *endpoint});
    } else if (shared_.erase(address) != 0) {
      changes.push_back({address, std::nullopt});
    }
  }
  cluster_->share(changes);
}

void Controller::shareAll() {
  std::vector<IpAddress> addresses;
  for (const auto& [id, agent] : registry_.agents()) {
    if (!agent->info.isHere()) continue;
    addresses.insert(addresses.end(), agent->info.addresses.begin(), agent->info.addresses.end());
  }
  share(addresses);
}

}  // namespace pingloom::controller
