#include "controller/cluster/lease.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "common/file.h"
#include "common/log.h"
#include "controller/verdict/incident_keeper.h"

namespace pingloom::controller {
namespace {

constexpr std::size_t kMaxInstallation = 128;
constexpr const char* kInstallationFile = "installation";

}  // namespace

Result<std::string> rememberedInstallation(const std::filesystem::path& state_dir) {
  const auto file = state_dir / kInstallationFile;
  std::error_code missing;
  if (!std::filesystem::exists(file, missing)) return std::string();
  auto remembered = readFile(file, kMaxInstallation);
  if (!remembered) return remembered;
  while (!remembered->empty() && remembered->back() == '\n') remembered->pop_back();
  return remembered;
}

Error nameTaken(const ClusterMember& other) {
  return {"cluster",
          fmt::format("another controller, with the address {}, has the name '{}' already; give "
                      "each controller a name of its own",
                      other.address, other.name)};
}

Status Lease::connect() {
  if (store_ && !store_->lost()) return {};
  store_.reset();
  auto opened = LeaseStore::open(options_.place);
  if (!opened) return tl::unexpected(opened.error());
  store_.emplace(std::move(*opened));
  auto status = checkInstallation();
  if (!status) store_.reset();
  return status;
}

// A database that was exchanged for another installation's would get rows and marks of agents that
// are not its own.
Status Lease::checkInstallation() {
  const auto found = store_->installation();
  if (!found) return tl::unexpected(found.error());
  const auto file = options_.state_dir / kInstallationFile;
  const auto remembered = rememberedInstallation(options_.state_dir);
  if (!remembered) return tl::unexpected(remembered.error());
  if (remembered->empty()) return writeFileAtomic(file, *found + "\n");
  if (*remembered == *found) return {};
  return makeError(options_.place.text(),
                   fmt::format("is the database of another installation ({}), and this controller "
                               "belongs to {}; if it is to change, remove {}",
                               *found, *remembered, file.string()));
}

Status Lease::checkClock(Nanos utc) {
  const auto database = store_->utc();
  if (!database) return tl::unexpected(database.error());
  const Nanos ahead = utc - *database;
  if (std::max(ahead, -ahead) <= kMaxClockDifference) return {};
  return makeError(
      "cluster", fmt::format("the clock of this controller is {} s {} the database's, and the "
                             "windows of all controllers need one time; set the clock",
                             std::max(ahead, -ahead) / kSecond, ahead > 0 ? "ahead of" : "behind"));
}

Result<std::optional<ClusterMember>> Lease::join(Instant now) {
  if (auto status = connect(); !status) return tl::unexpected(status.error());
  if (auto status = checkClock(now.utc); !status) return tl::unexpected(status.error());
  auto joined = store_->join(options_.self);
  if (!joined) return tl::unexpected(joined.error());
  if (joined->session == 0) return std::optional(std::move(joined->other));
  status_.session = joined->session;
  status_.error.clear();
  status_.lease_until_mono = now.mono + kControllerLease;
  fence_->set({joined->session, 0}, status_.lease_until_mono);
  renewed_mono_ = now.mono;
  steady_since_mono_ = now.mono;
  log::info("controller {} has session {} of {}", status_.name, status_.session,
            options_.place.text());
  return std::optional<ClusterMember>();
}

void Lease::joinAgain(Instant now) {
  const auto taken = join(now);
  if (!taken) return failed(taken.error(), now);
  if (*taken) failed(nameTaken(**taken), now);
}

void Lease::renew(std::uint64_t agents, Nanos lag, Instant now) {
  if (auto status = connect(); !status) return failed(status.error(), now);
  if (status_.session == 0) joinAgain(now);
  if (status_.session == 0) return;
  const auto renewed = store_->renew(status_.session, agents, lag);
  if (!renewed) return failed(renewed.error(), now);
  if (!*renewed) {
    log::error(
        "session {} of controller {} has ended, because its lease was not renewed in time; "
        "nothing of it is written any more",
        status_.session, status_.name);
    ++status_.sessions_lost;
    fence_->set({}, 0);
    status_.session = 0;
    status_.leads = false;
    joinAgain(now);
    return;
  }
  if (auto status = look(now); !status) return failed(status.error(), now);
  status_.error.clear();
  if (std::exchange(failure_logged_, false)) {
    log::info("controller {} renews its lease again", status_.name);
  }
}

// What follows a renewal.
Status Lease::look(Instant now) {
  if (now.mono - renewed_mono_ > kControllerLease) steady_since_mono_ = now.mono;
  renewed_mono_ = now.mono;
  if (now.mono - steady_since_mono_ >= kControllerLease) {
    const auto removed = store_->removeExpired(status_.session);
    if (!removed) return tl::unexpected(removed.error());
    if (*removed > 0) log::warning("{} controllers did not renew their lease", *removed);
  }
  if (auto status = store_->takeLead(status_.session); !status) return status;
  auto members = store_->members();
  if (!members) return tl::unexpected(members.error());
  const auto self =
      std::find_if(members->list.begin(), members->list.end(),
                   [&](const ClusterMember& member) { return member.session == status_.session; });
  const bool leads = self != members->list.end() && self->leads;
  // If the epoch is the same, nobody else has led meanwhile.
  const bool led = leads && fence_->held().epoch == members->epoch;
  if (!led) {
    auto verdicts = store_->verdicts(now.utc - IncidentKeeper::kReopen);
    if (!verdicts) return tl::unexpected(verdicts.error());
    verdicts_ = std::move(*verdicts);
  }
  if (leads && !status_.leads) log::info("controller {} leads now", status_.name);
  status_.leads = leads;
  status_.epoch = members->epoch;
  status_.members = std::move(members->list);
  status_.lease_until_mono = now.mono + kControllerLease;
  fence_->set({status_.session, leads ? status_.epoch : 0}, status_.lease_until_mono);
  return leads ? store_->removeOrphans(fence_->held(), now.mono) : Status();
}

void Lease::failed(const Error& error, Instant now) {
  status_.error = error.text();
  status_.leads = fence_->leads(now.mono);
  if (std::exchange(failure_logged_, true)) return;
  log::error("controller {} cannot renew its lease: {}", status_.name, status_.error);
}

void Lease::leave() {
  if (status_.session == 0 || !store_ || store_->lost()) return;
  // If it fails, the lease ends by itself.
  (void)store_->leave(status_.session);
}

Status Lease::share(const std::vector<SharedAddress>& changes) {
  const Fence::Held held = fence_->held();
  if (held.session == 0 || !store_ || store_->lost()) {
    return makeError("cluster", "this controller has no session at present");
  }
  return store_->writeAddresses(held, changes);
}

Result<std::vector<SharedAddress>> Lease::shared() {
  if (status_.session == 0 || !store_ || store_->lost()) return std::vector<SharedAddress>();
  return store_->readAddresses(status_.session);
}

bool Lease::leaderIsGone() {
  if (status_.session == 0 || status_.leads || !store_ || store_->lost()) return false;
  const auto has = store_->hasLeader();
  return has && !*has;
}

std::optional<std::vector<VerdictRecord>> Lease::takeVerdicts() {
  return std::exchange(verdicts_, std::nullopt);
}

}  // namespace pingloom::controller
