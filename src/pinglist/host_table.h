// The `hosts:` section: names, places and addresses, and what a name in a list stands for.
// A value; one thread while it is read, any afterwards.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/yaml.h"
#include "pinglist/pinglist.h"

namespace pingloom::pinglist {

class HostTable {
 public:
  // Of a name, a label's name and its value.
  static constexpr std::size_t kMaxTextBytes = 4096;
  static constexpr std::size_t kMaxLabels = 256;  // of a host
  // Bounds documents that show hosts: of all addresses the names and labels that are shown with
  // each, together. No file comes near it that does not repeat the same text, as YAML's aliases and
  // hosts of many addresses do.
  static constexpr std::size_t kMaxShownBytes = 64U << 20;

  HostTable() = default;
  static Result<HostTable> read(const yaml::Node& section);

  // "gpu-001", "gpu-002/rail1". nullopt: no such name here; an error: a host with several addresses
  // without the label of one, or with a label that it does not have.
  Result<std::optional<IpAddress>> find(const std::string& name) const;
  std::vector<std::string_view> allNames() const;  // for "did you mean"; valid while this lives

  // Hands over what the Pinglist shows; the table is empty afterwards.
  void moveTo(Pinglist& pinglist);

 private:
  Status readHost(const yaml::Node& key, const yaml::Node& body);
  Status readBody(const yaml::Node& key, const yaml::Node& body, Host& host);
  Status readAddresses(const yaml::Node& node, Host& host);
  Status addAddress(const yaml::Node& node, const std::string& label, Host& host);
  Status countShown(const yaml::Node& place, const Host& host);
  Status addName(const yaml::Node& place, const std::string& name,
                 std::optional<IpAddress> address);
  std::string choicesOf(const std::string& host) const;

  std::vector<Host> hosts_;
  std::unordered_map<std::string, std::optional<IpAddress>> by_name_;  // nullopt: one of several
  std::unordered_map<std::string, std::size_t> index_;                 // into hosts_
  std::unordered_map<IpAddress, std::string, IpAddressHash> names_;
  std::size_t shown_bytes_ = 0;
};

}  // namespace pingloom::pinglist
