// Asks a pingloom program's REST API. Blocking; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "common/error.h"
#include "common/time.h"
#include "http/client.h"

namespace pingloom::cli {

struct Service {
  const char* name;         // "controller"
  const char* when_silent;  // tells the user what to do when there is no answer
};

// How long a command waits for an answer; live views wait less (terminal.h).
constexpr Nanos kAnswerTimeout = 10 * kSecond;

// Returns the body of a 200. Any other answer is an error with the service's reason.
Result<std::string> ask(const Service& service, const http::Site& site, const std::string& path,
                        Nanos timeout);
Result<nlohmann::json> askJson(const Service& service, const http::Site& site,
                               const std::string& path, Nanos timeout);
// Likewise, but nullopt for a 404: a service of an older version does not know the path.
Result<std::optional<nlohmann::json>> askJsonIfKnown(const Service& service, const http::Site& site,
                                                     const std::string& path, Nanos timeout);
// Sends a POST or DELETE. Returns the JSON of an answer of 200 to 299.
Result<nlohmann::json> tellJson(const Service& service, const http::Site& site,
                                const http::ClientRequest& request, Nanos timeout);

}  // namespace pingloom::cli
