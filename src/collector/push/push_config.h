// Where the collector pushes its metrics, from the configuration's `push:`. A plain value.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "common/error.h"
#include "common/time.h"
#include "common/yaml.h"

namespace pingloom::collector {

struct PushTarget {
  std::string url;  // the whole one
  Nanos interval = 15 * kSecond;
  std::filesystem::path token;     // file with a bearer token; may be empty
  std::string user;                // for basic authentication; "": none
  std::filesystem::path password;  // file with the user's password
  std::filesystem::path ca;        // trusted certificates; by default the system's
  bool exact_histograms = false;   // as in MetricsSources

  bool operator==(const PushTarget&) const = default;
};

struct PushSettings {
  std::optional<PushTarget> remote_write;
  std::optional<PushTarget> otlp;
};

// For common/config_reader.h.
Status readValue(const yaml::Node& node, PushTarget& target);
Status readValue(const yaml::Node& node, PushSettings& settings);

}  // namespace pingloom::collector
