#include "cli/pinglist_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/controller_api.h"
#include "cli/json_fields.h"
#include "cli/service_api.h"
#include "cli/site_options.h"

namespace pingloom::cli {
namespace {

using Json = nlohmann::json;

void addAddress(const std::string& text, std::vector<IpAddress>& addresses) {
  if (const auto address = IpAddress::parse(text)) addresses.push_back(*address);
}

void order(std::vector<IpAddress>& addresses) {
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
}

Nanos timeAt(const Json& json, const char* pointer) {
  return parseUtc(textAt(json, pointer)).value_or(0);
}

// Names the entries, for people who wonder what they mean.
std::string explanation(const pinglist::Pinglist& pinglist) {
  std::size_t entries = 0;
  for (const auto& [list, filters] : pinglist.registered) entries += filters.size();
  return fmt::format(
      "{} 'registered' in it: the controller puts every registered agent there, and takes in new "
      "ones by itself",
      entries == 1 ? "there is 1 entry" : fmt::format("there are {} entries", entries));
}

}  // namespace

std::vector<pinglist::Member> membersOf(const Json& hosts) {
  std::vector<pinglist::Member> members;
  for (const Json& agent : listAt(hosts, "/hosts")) {
    pinglist::Member member;
    member.host = textAt(agent, "/host");
    for (const Json& place : listAt(agent, "/addresses")) {
      addAddress(textAt(place, "/address"), member.addresses);
    }
    for (const Json& address : listAt(agent, "/rdma_addresses")) {
      if (address.is_string()) addAddress(address.get<std::string>(), member.rdma);
    }
    order(member.addresses);
    order(member.rdma);
    member.joined_utc = timeAt(agent, "/first_seen");
    if (fieldAt(agent, "/alive") != Json(true)) member.gone_utc = timeAt(agent, "/last_seen");
    if (!member.addresses.empty()) members.push_back(std::move(member));
  }
  return members;
}

Result<AskedHosts> askHosts(const boost::program_options::variables_map& values) {
  const auto site = controllerSite(values);
  if (!site) return tl::unexpected(site.error());
  AskedHosts asked;
  asked.url = site->url;
  auto hosts = askControllerJson(*site, "/api/v1/hosts", kAnswerTimeout);
  if (hosts) {
    asked.hosts = std::move(*hosts);
  } else if (settingOf(values, "url", nullptr).source.empty()) {
    asked.why = hosts.error().text();
  } else {
    return tl::unexpected(hosts.error());
  }
  return asked;
}

ShownPinglist withRegistered(pinglist::Pinglist pinglist, const AskedHosts& asked) {
  ShownPinglist shown;
  if (pinglist.registered.empty()) {
    shown.pinglist = std::move(pinglist);
    return shown;
  }
  shown.notes.push_back(explanation(pinglist));
  if (!asked.hosts) {
    shown.notes.push_back("they are not counted below, because no controller answers (" +
                          asked.why + "); --url names one that runs");
    shown.pinglist = std::move(pinglist);
    return shown;
  }
  const auto members = membersOf(*asked.hosts);
  auto made = pinglist::expand(pinglist, members, utcNow());
  shown.notes.push_back(fmt::format("{} agent{} registered at {}: counted below", members.size(),
                                    members.size() == 1 ? " has" : "s have", asked.url));
  for (const auto* more : {&made.warnings, &made.notes}) {
    shown.notes.insert(shown.notes.end(), more->begin(), more->end());
  }
  shown.pinglist = std::move(made.pinglist);
  return shown;
}

Result<ShownPinglist> withRegistered(pinglist::Pinglist pinglist,
                                     const boost::program_options::variables_map& values) {
  if (pinglist.registered.empty()) return withRegistered(std::move(pinglist), AskedHosts());
  const auto asked = askHosts(values);
  if (!asked) return tl::unexpected(asked.error());
  return withRegistered(std::move(pinglist), *asked);
}

}  // namespace pingloom::cli
