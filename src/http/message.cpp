#include "http/message.h"

#include <algorithm>

#include "common/json_text.h"
#include "common/text.h"

namespace pingloom::http {

Response errorResponse(unsigned status, std::string_view reason) {
  Response response;
  response.status = status;
  response.body = R"({"error":{"reason":)";
  appendJsonString(response.body, reason);
  response.body += "}}\n";
  return response;
}

std::optional<Response> refusedParameter(const Request& request,
                                         const std::vector<std::string_view>& known) {
  for (const auto& [name, value] : request.query) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return errorResponse(400, "unknown parameter '" + name + "'" + didYouMean(name, known));
  }
  if (request.doubled.empty()) return std::nullopt;
  return errorResponse(400, "the parameter '" + request.doubled + "' is given twice");
}

}  // namespace pingloom::http
