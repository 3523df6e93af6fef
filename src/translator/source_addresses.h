// The addresses from which datagrams may come: single ones and prefixes. A plain value; any thread.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/yaml.h"

namespace pingloom::translator {

class SourceAddresses {
 public:
  static constexpr std::size_t kMax = 256;  // addresses and prefixes

  // Those of this host: 127.0.0.0/8 and ::1.
  static SourceAddresses loopback();

  // Adds ADDRESS or ADDRESS/BITS. Returns an error for other text, for a prefix with bits behind
  // its length, and for one more than kMax.
  Status add(std::string_view text);
  bool contains(const IpAddress& address) const;
  bool onlyLoopback() const;  // all of them are addresses of this host

 private:
  struct Block {
    IpAddress first;
    unsigned bits = 0;  // those that an address has to share with `first`
  };
  std::vector<Block> blocks_;
};

// Reads a list of them, for common/config_reader.h. It replaces what was there.
Status readValue(const yaml::Node& node, SourceAddresses& out);

}  // namespace pingloom::translator
