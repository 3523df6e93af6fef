// The part of the plan that this agent's transports have to probe from the agent's addresses. One
// thread.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/address.h"
#include "plan/plan.h"
#include "probe/transport.h"

namespace pingloom::agent {

class WorkList {
 public:
  // An unchanged assignment stays the same object.
  void update(const plan::Plan& plan, const std::vector<IpAddress>& own_addresses);

  std::size_t size() const { return assignments_.size(); }
  probe::Work of(Protocol protocol) const;
  // Returns the probe's assignment that has this pair, or nullptr.
  std::shared_ptr<const plan::Assignment> find(const std::string& probe, const IpAddress& source,
                                               const IpAddress& destination) const;
  std::size_t targets(Protocol protocol) const;  // number of pairs

 private:
  std::vector<std::shared_ptr<const plan::Assignment>> assignments_;
  std::map<Protocol, plan::AddressList> own_;
  std::map<Protocol, std::shared_ptr<const probe::Guests>> guests_;
};

}  // namespace pingloom::agent
