// Asks a pingloom program's REST API. Blocking; any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/error.h"
#include "common/time.h"
#include "http/client.h"

namespace pingloom::cli {

struct Service {
  const char* name;         // "controller"
  const char* when_silent;  // what to do when nobody answers
};

// For one answer, where the command has nothing else to do; live views have less time (terminal.h).
constexpr Nanos kAnswerTimeout = 10 * kSecond;

// The body of a 200. Other answers are errors with the reason that the service gives.
Result<std::string> ask(const Service& service, const http::Site& site, const std::string& path,
                        Nanos timeout);
Result<nlohmann::json> askJson(const Service& service, const http::Site& site,
                               const std::string& path, Nanos timeout);

}  // namespace pingloom::cli
