// The `hosts:` section: names, places and addresses. It resolves the names in lists. A value; one
// thread while it is read, any thread afterwards.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/yaml.h"
#include "pinglist/pinglist.h"
#include "pinglist/warnings.h"

namespace pingloom::pinglist {

class HostTable {
 public:
  // The limit for a name, a label's name and a label's value.
  static constexpr std::size_t kMaxTextBytes = 4096;
  static constexpr std::size_t kMaxLabels = 256;  // limit for a host
  // Bounds the documents that show hosts: the total size of the names and labels that are shown
  // with each address. Only a file that repeats text, through YAML aliases or hosts with many
  // addresses, can reach it.
  static constexpr std::size_t kMaxShownBytes = 64U << 20;

  HostTable() = default;
  // `now_utc` is as in parse().
  static Result<HostTable> read(const yaml::Node& section, Nanos now_utc, Warnings& warnings);

  // Resolves "gpu-001" or "gpu-002/rail1". Returns nullopt for an unknown name, and an error if a
  // host has several addresses and the label is missing or unknown.
  Result<std::optional<IpAddress>> find(const std::string& name) const;
  std::vector<std::string_view> allNames() const;  // for "did you mean"; valid as long as this
  // Returns all labels that some host has, with the bytes of their longest value. The labels of
  // addresses count as the label "rail" of hosts without such a label. Valid as long as this.
  std::map<std::string_view, std::size_t> allLabels() const;

  // Moves the hosts to the Pinglist; the table is empty afterwards.
  void moveTo(Pinglist& pinglist);

 private:
  Status readHost(const yaml::Node& key, const yaml::Node& body, Nanos now_utc, Warnings& warnings);
  Status readBody(const yaml::Node& key, const yaml::Node& body, Host& host);
  Status readAddresses(const yaml::Node& node, Host& host);
  Status addAddress(const yaml::Node& node, const std::string& label, Host& host);
  Status countShown(const yaml::Node& place, const Host& host);
  Status addName(const yaml::Node& place, const std::string& name,
                 std::optional<IpAddress> address);
  std::string choicesOf(const std::string& host) const;

  std::vector<Host> hosts_;
  // nullopt if the host has several addresses
  std::unordered_map<std::string, std::optional<IpAddress>> by_name_;
  std::unordered_map<std::string, std::size_t> index_;  // index into hosts_
  std::unordered_map<IpAddress, std::string, IpAddressHash> names_;
  std::size_t shown_bytes_ = 0;
};

}  // namespace pingloom::pinglist
