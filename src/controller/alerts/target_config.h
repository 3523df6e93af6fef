// Reads `alerts:` of the controller's configuration. Any thread.
#pragma once

#include <string>
#include <vector>

#include "common/error.h"
#include "common/yaml.h"
#include "controller/alerts/target.h"

namespace pingloom::controller {

// Returns why a text is not the URL of a target, or "". It never shows the URL.
std::string checkAlertUrl(const std::string& text);

// The error's entity is file:line:column.
Status readAlertTargets(const yaml::Node& node, std::vector<AlertTarget>& out);

}  // namespace pingloom::controller
