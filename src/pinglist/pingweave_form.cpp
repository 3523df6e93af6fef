#include <array>
#include <cstdint>
#include <optional>

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

  plan::Plan take() { return builder_.take(); }

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
    auto list = addresses(members);
    if (!list) return tl::unexpected(list.error());
    if (onlyPlaceholders(group, *list)) return {};
    return builder_.addMesh(group, std::move(spec), std::move(*list));
  }

  Status readArrow(const yaml::Node& group, const yaml::Node& members, plan::ProbeSpec spec) {
    if (auto status = members.onlyKeys({"src", "dst"}); !status) return status;
    const auto src = members.find("src");
    const auto dst = members.find("dst");
    if (!src || !dst) {
      return group.error("group '" + *group.text() + "' has no '" + (src ? "dst" : "src") + "'");
    }
    auto from = addresses(*src);
    if (!from) return tl::unexpected(from.error());
    auto to = addresses(*dst);
    if (!to) return tl::unexpected(to.error());
    if (onlyPlaceholders(group, from->empty() ? *from : *to)) return {};
    return builder_.addDirected(group, std::move(spec), std::move(*from), std::move(*to));
  }

  Result<plan::AddressList> addresses(const yaml::Node& list) {
    return readAddressList(list, no_hosts_, Placeholders::kIgnore, warnings_);
  }

  bool onlyPlaceholders(const yaml::Node& group, const plan::AddressList& list) {
    if (!list.empty()) return false;
    warnings_.add(group.place(), "group '" + *group.text() + "' has only placeholders: ignored");
    return true;
  }

  const HostTable no_hosts_;
  Warnings& warnings_;
  PlanBuilder builder_;
};

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
  made.plan = reader.take();
  made.thresholds.resize(made.plan.probes.size());
  if (made.plan.probes.empty()) warnings.add(root.place(), "no probes: nothing is probed");
  return made;
}

}  // namespace pingloom::pinglist
