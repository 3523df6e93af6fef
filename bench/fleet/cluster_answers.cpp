#include "cluster_answers.h"

#include <nlohmann/json.hpp>
#include <string>

#include "common/time.h"
#include "http/client.h"

namespace pingloom::bench {
namespace {

nlohmann::json ask(const ControllerProcess& controller, const std::string& path) {
  const auto answer = http::get(controller.url(), path, 10 * kSecond);
  if (!answer || answer->status != 200) return {};
  auto json = nlohmann::json::parse(answer->body, nullptr, false);
  return json.is_object() ? json : nlohmann::json();
}

}  // namespace

bool leads(const ControllerProcess& controller) {
  return ask(controller, "/api/v1/controllers").value("role", "") == "leader";
}

std::uint64_t judgedPairs(const ControllerProcess& controller) {
  if (!leads(controller)) return 0;
  return ask(controller, "/api/v1/incidents").value("judged_pairs", std::uint64_t{0});
}

std::uint64_t shownPairs(const ControllerProcess& controller) {
  const auto status = ask(controller, "/api/v1/status");
  return status.contains("pairs") ? status["pairs"].value("ok", std::uint64_t{0}) : 0;
}

}  // namespace pingloom::bench
