#include "controller/control/membership.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "common/file.h"
#include "common/json_text.h"
#include "common/log.h"
#include "wire/control_protocol.h"

namespace pingloom::controller {
namespace {

using pinglist::Member;

constexpr std::size_t kMaxMembersBytes = 256U << 20;

nlohmann::json jsonTexts(const std::vector<IpAddress>& addresses) {
  nlohmann::json texts = nlohmann::json::array();
  for (const IpAddress& address : addresses) texts.push_back(address.text());
  return texts;
}

std::vector<IpAddress> addressesOf(const nlohmann::json& texts) {
  std::vector<IpAddress> addresses;
  if (texts.size() > wire::kMaxHostAddresses) return addresses;
  for (const nlohmann::json& text : texts) {
    if (const auto address = IpAddress::parse(text.get<std::string>())) {
      addresses.push_back(*address);
    }
  }
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  return addresses;
}

// Throws what the library throws for a document of another shape.
Member memberOf(const nlohmann::json& json) {
  Member member;
  member.host = json.at("host").get<std::string>();
  member.addresses = addressesOf(json.at("addresses"));
  member.rdma = addressesOf(json.at("rdma"));
  member.joined_utc = json.at("joined").get<Nanos>();
  member.gone_utc = json.at("gone").get<Nanos>();
  return member;
}

nlohmann::json jsonOf(const Member& member) {
  return {{"host", member.host},
          {"addresses", jsonTexts(member.addresses)},
          {"rdma", jsonTexts(member.rdma)},
          {"joined", member.joined_utc},
          {"gone", member.gone_utc}};
}

// An address keeps its device in this list while the agent has the address: an agent that starts
// while its port is away would otherwise leave the mesh instead of being unreachable in it.
void keepDevices(const Member& before, Member& member) {
  std::vector<IpAddress> all;
  std::set_intersection(before.rdma.begin(), before.rdma.end(), member.addresses.begin(),
                        member.addresses.end(), std::back_inserter(all));
  all.insert(all.end(), member.rdma.begin(), member.rdma.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  member.rdma = std::move(all);
}

bool sameButForTimes(const Member& a, const Member& b) {
  return a.host == b.host && a.addresses == b.addresses && a.rdma == b.rdma &&
         (a.gone_utc == 0) == (b.gone_utc == 0);
}

}  // namespace

Membership::Membership(std::filesystem::path file, Instant now) : file_(std::move(file)) {
  load(now);
  due_mono_ = now.mono + kMaxLook;
}

void Membership::load(Instant now) {
  std::error_code ignored;
  if (!std::filesystem::exists(file_, ignored)) return;
  const auto text = readFile(file_, kMaxMembersBytes);
  try {
    if (!text) throw std::runtime_error(text.error().text());
    const nlohmann::json document = nlohmann::json::parse(*text);
    for (const nlohmann::json& json : document.at("members")) {
      if (members_.size() == Registry::kMaxAgents) break;
      Member member = memberOf(json);
      if (!wire::isHostName(member.host)) continue;
      // It may have gone while the controller was away, which nobody saw.
      if (member.gone_utc == 0) member.gone_utc = now.utc;
      members_.push_back(std::move(member));
    }
  } catch (const std::exception& bad) {
    members_.clear();
    log::warning("{}: {}; agents are members again as they register", file_.string(), bad.what());
  }
  std::sort(members_.begin(), members_.end(),
            [](const Member& a, const Member& b) { return a.host < b.host; });
  const auto twice = [](const Member& a, const Member& b) { return a.host == b.host; };
  members_.erase(std::unique(members_.begin(), members_.end(), twice), members_.end());
}

Membership::Members Membership::merged(const Registry& registry, Instant now) const {
  std::map<std::string_view, const Member*> before;
  for (const Member& member : members_) before[member.host] = &member;
  Members made;
  std::unordered_set<IpAddress, IpAddressHash> owned;
  for (const auto& [id, agent] : registry.agents()) {
    const AgentInfo& info = agent->info;
    if (info.addresses.empty()) continue;
    Member member;
    member.host = info.host;
    member.addresses = info.addresses;
    member.rdma = info.rdma_addresses;
    member.joined_utc = info.first_seen_utc;
    if (!info.alive) member.gone_utc = std::max<Nanos>(info.last_seen_utc, 1);
    if (const auto known = before.find(info.host); known != before.end()) {
      member.joined_utc = known->second->joined_utc;
      keepDevices(*known->second, member);
      before.erase(known);
    }
    owned.insert(member.addresses.begin(), member.addresses.end());
    made.push_back(std::move(member));
  }
  // Members of the last run that have not registered again. Another agent may have their addresses.
  for (const auto& [host, known] : before) {
    Member member = *known;
    if (member.gone_utc == 0) member.gone_utc = now.utc;
    const auto taken = [&owned](const IpAddress& address) { return owned.contains(address); };
    std::erase_if(member.addresses, taken);
    std::erase_if(member.rdma, taken);
    if (!member.addresses.empty()) made.push_back(std::move(member));
  }
  std::sort(made.begin(), made.end(),
            [](const Member& a, const Member& b) { return a.host < b.host; });
  return made;
}

bool Membership::runDue(Registry& registry, Nanos forget, Instant now) {
  if (now.mono < due_mono_) return false;
  due_mono_ = now.mono + kMaxLook;
  Members next = merged(registry, now);
  Nanos next_forgotten = kNever;
  std::erase_if(next, [&](const Member& member) {
    if (forget == 0 || member.gone_utc == 0) return false;
    const Nanos away = now.utc - member.gone_utc;
    if (away <= forget) {
      next_forgotten = std::min(next_forgotten, forget - away + 1);
      return false;
    }
    log::info("agent {} has been away for too long and is no member any more", member.host);
    registry.forget(member.host);
    return true;
  });
  if (next_forgotten != kNever) due_mono_ = std::min(due_mono_, now.mono + next_forgotten);
  const bool same =
      std::equal(next.begin(), next.end(), members_.begin(), members_.end(), sameButForTimes);
  members_ = std::move(next);
  if (!same) save();
  // A shorter `forget` of another entry may have passed without a change of the members.
  return true;
}

void Membership::tookToApply(Nanos duration) {
  pause_ = std::clamp(10 * duration, kSettle, kMaxPause);
}

void Membership::save() {
  nlohmann::json document = {{"members", nlohmann::json::array()}};
  for (const Member& member : members_) document["members"].push_back(jsonOf(member));
  const auto status = writeFileAtomic(file_, jsonLine(document) + "\n");
  if (status) {
    failure_logged_ = false;
  } else if (!std::exchange(failure_logged_, true)) {
    log::error("{}; after a restart agents are members again as they register",
               status.error().text());
  }
}

}  // namespace pingloom::controller
