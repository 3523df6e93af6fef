// The controllers that share a history over HTTP.
#include <algorithm>

#include "common/time.h"
#include "controller/http/api.h"
#include "controller/http/json_answer.h"

namespace pingloom::controller::api {

http::Response controllers(const Board& board) {
  const ClusterStatus cluster = board.cluster()->asOf(monotonicNow());
  const auto control = board.control();
  const auto shown = [&](const ClusterMember& member) {
    const auto& heard = control->controllers_heard;
    return member.name == cluster.name ||
           std::find(heard.begin(), heard.end(), member.name) != heard.end();
  };
  Json list = Json::array();
  for (const ClusterMember& member : cluster.members) {
    list.push_back({{"name", member.name},
                    {"leader", member.leads},
                    {"address", member.address},
                    {"http", member.http},
                    {"agents", member.agents},
                    {"lag_ns", member.lag},
                    {"lease_left_ns", member.lease_left},
                    {"session", member.session},
                    {"shown", shown(member)}});
  }
  return jsonAnswer({{"name", textOrNull(cluster.name)},
                     {"role", cluster.alone() ? "alone" : cluster.role()},
                     {"epoch", cluster.epoch},
                     {"error", textOrNull(cluster.error)},
                     {"controllers", std::move(list)}});
}

}  // namespace pingloom::controller::api
