#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

#include "common/text.h"
#include "common/time.h"
#include "pinglist/address_list.h"
#include "pinglist/forms.h"
#include "pinglist/plan_builder.h"

namespace pingloom::pinglist {
namespace {

// PingWeave's words for a protocol, and the traffic class of its configuration as it is shipped.
struct ProtocolWord {
  std::string_view word;
  Protocol protocol;
  std::uint32_t traffic_class;
};
constexpr std::array<ProtocolWord, 4> kProtocols = {{{"udp", Protocol::kUdp, 0},
                                                     {"tcp", Protocol::kTcp, 0},
                                                     {"roce", Protocol::kRdma, 106},
                                                     {"ib", Protocol::kRdma, 0}}};
// PingWeave counts a ping as failed after it.
constexpr Nanos kPingWeaveTimeout = kSecond;

std::vector<std::string_view> protocolWords() {
  std::vector<std::string_view> words;
  words.reserve(kProtocols.size());
  for (const ProtocolWord& known : kProtocols) words.push_back(known.word);
  return words;
}

// PingWeave's group names are free text; each character that a probe's name must not contain (and
// not each of its bytes) becomes '_'.
std::string asProbeName(std::string_view group) {
  std::string made;
  for (const char c : group) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '-';
    const bool continued = (static_cast<unsigned char>(c) & 0xc0) == 0x80;
    if (plain || !continued) made += plain ? c : '_';
  }
  return made;
}

// Finds groups of a protocol that have pairs in common. It keeps the latest kKnown groups of each
// address, so a file of any size takes one pass.
class SharedPairs {
 public:
  // Returns an earlier group with which this one shares a pair of different addresses, or "".
  std::string add(const std::string& group, const plan::AddressList& from,
                  const plan::AddressList& to) {
    std::map<std::string, Shared> shared;
    for (const IpAddress& address : from) {
      for (const std::string& known : source_of_[address]) ++shared[known].sources;
    }
    for (const IpAddress& address : to) {
      const bool on_both = std::binary_search(from.begin(), from.end(), address);
      for (const std::string& known : destination_of_[address]) {
        ++shared[known].destinations;
        if (on_both) ++shared[known].on_both_sides;
      }
    }
    for (const IpAddress& address : from) remember(group, source_of_[address]);
    for (const IpAddress& address : to) remember(group, destination_of_[address]);
    for (const auto& [other, with] : shared) {
      // One address that is on both sides makes a pair with itself only.
      const bool only_itself =
          with.sources == 1 && with.destinations == 1 && with.on_both_sides == 1;
      if (with.sources > 0 && with.destinations > 0 && !only_itself) return other;
    }
    return "";
  }

 private:
  static constexpr std::size_t kKnown = 8;
  struct Shared {
    std::size_t sources = 0;
    std::size_t destinations = 0;
    std::size_t on_both_sides = 0;
  };
  using Known = std::unordered_map<IpAddress, std::vector<std::string>, IpAddressHash>;

  static void remember(const std::string& group, std::vector<std::string>& known) {
    if (known.size() == kKnown) known.erase(known.begin());
    known.push_back(group);
  }

  Known source_of_;
  Known destination_of_;
};

class PingWeaveReader {
 public:
  explicit PingWeaveReader(Warnings& warnings) : warnings_(warnings), builder_(warnings) {}

  Status readCategory(const yaml::Node& category, bool directed) {
    if (auto status = category.onlyKeys(protocolWords()); !status) return status;
    for (const auto& [key, groups] : category.entries()) {
      if (auto status = readProtocol(key, groups, directed); !status) return status;
    }
    return {};
  }

  void moveTo(Pinglist& pinglist) { builder_.moveTo(pinglist); }

 private:
  Status readProtocol(const yaml::Node& key, const yaml::Node& groups, bool directed) {
    const std::string word = *key.text();
    // All of its groups are commented out.
    if (groups.isNull()) {
      warnings_.add(key.place(), "'" + word + "' has no groups: ignored");
      return {};
    }
    if (auto status = groups.uniqueKeys(); !status) return status;
    for (const auto& [group, members] : groups.entries()) {
      if (auto status = readGroup(word, group, members, directed); !status) return status;
    }
    return {};
  }

  Status readGroup(const std::string& word, const yaml::Node& group, const yaml::Node& members,
                   bool directed) {
    const std::string title = *group.text();
    if (title.empty()) return group.error("the group has no name");
    if (members.isNull()) {
      warnings_.add(group.place(), "group '" + title + "' has no members: ignored");
      return {};
    }
    plan::ProbeSpec spec;
    spec.name = word + "-" + asProbeName(title);
    spec.self = true;
    spec.timeout = kPingWeaveTimeout;
    for (const ProtocolWord& known : kProtocols) {
      if (known.word != word) continue;
      spec.protocol = known.protocol;
      spec.traffic_class = known.traffic_class;
    }
    if (spec.name != word + "-" + title) {
      warnings_.add(group.place(), "group '" + title + "' becomes probe '" + spec.name +
                                       "': a probe's name has only A-Z a-z 0-9 . _ -");
    }
    return directed ? readArrow(group, members, std::move(spec))
                    : readMesh(group, members, std::move(spec));
  }

  Status readMesh(const yaml::Node& group, const yaml::Node& members, plan::ProbeSpec spec) {
    auto list = membersOf(members);
    if (!list) return tl::unexpected(list.error());
    if (onlyPlaceholders(group, list->addresses)) return {};
    warnIfShared(group, spec, list->addresses, list->addresses);
    return builder_.addMesh(group, std::move(spec), std::move(*list));
  }

  Status readArrow(const yaml::Node& group, const yaml::Node& members, plan::ProbeSpec spec) {
    if (auto status = members.onlyKeys({"src", "dst"}); !status) return status;
    const auto src = members.find("src");
    const auto dst = members.find("dst");
    if (!src || !dst) {
      return group.error("group '" + *group.text() + "' has no '" + (src ? "dst" : "src") + "'");
    }
    auto from = membersOf(*src);
    if (!from) return tl::unexpected(from.error());
    auto to = membersOf(*dst);
    if (!to) return tl::unexpected(to.error());
    if (onlyPlaceholders(group, from->addresses.empty() ? from->addresses : to->addresses))
      return {};
    warnIfShared(group, spec, from->addresses, to->addresses);
    return builder_.addDirected(group, std::move(spec), std::move(*from), std::move(*to));
  }

  Result<MemberList> membersOf(const yaml::Node& list) {
    return readMembers(list, no_hosts_, nullptr, Placeholders::kIgnore, warnings_);
  }

  void warnIfShared(const yaml::Node& group, const plan::ProbeSpec& spec,
                    const plan::AddressList& from, const plan::AddressList& to) {
    const std::string word = spec.name.substr(0, spec.name.find('-'));
    const std::string other = shared_[word].add(*group.text(), from, to);
    if (other.empty()) return;
    warnings_.add(group.place(), "group '" + *group.text() + "' has pairs that group '" + other +
                                     "' has too: both ping them, and PingWeave only once");
  }

  bool onlyPlaceholders(const yaml::Node& group, const plan::AddressList& list) {
    if (!list.empty()) return false;
    warnings_.add(group.place(), "group '" + *group.text() + "' has only placeholders: ignored");
    return true;
  }

  const HostTable no_hosts_;
  Warnings& warnings_;
  PlanBuilder builder_;
  std::map<std::string, SharedPairs> shared_;  // by protocol
};

// What holds for all of the file; docs/pinglist.md tells more about each.
void warnOfDifferences(const yaml::Node& root, Warnings& warnings) {
  warnings.add(root.place(),
               "read as PingWeave's: pingweave.ini is not read, so interval 1s, timeout 1s, window "
               "10s and traffic class 106 for roce and 0 for ib are in force; other settings need "
               "pingloom's own form");
  warnings.add(root.place(),
               "PingWeave's 'failure' is lost, refused or unreachable here, and its 'weird' is "
               "anomalous, which counts as received; 'loss' is the share of all pings that were "
               "sent");
  warnings.add(root.place(),
               "pairs are slow by multiples of the mesh's median, and not by PingWeave's fixed "
               "times; 'thresholds' of pingloom's own form sets fixed ones");
}

}  // namespace

Result<Pinglist> parsePingWeave(const yaml::Node& root, Warnings& warnings) {
  if (auto status = root.onlyKeys({"mesh", "arrow"}); !status) {
    return tl::unexpected(status.error());
  }
  PingWeaveReader reader(warnings);
  for (const auto& [key, category] : root.entries()) {
    const std::string word = *key.text();
    if (category.isNull()) {
      warnings.add(key.place(), "'" + word + "' has no groups: ignored");
      continue;
    }
    if (auto status = reader.readCategory(category, word == "arrow"); !status) {
      return tl::unexpected(status.error());
    }
  }
  Pinglist made;
  reader.moveTo(made);
  made.thresholds.resize(made.plan.probes.size());
  made.rollups.resize(made.plan.probes.size());
  if (made.plan.probes.empty()) {
    warnings.add(root.place(), "no probes: nothing is probed");
  } else {
    warnOfDifferences(root, warnings);
  }
  return made;
}

}  // namespace pingloom::pinglist
