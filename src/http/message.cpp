#include "http/message.h"

#include "http/json_text.h"

namespace pingloom::http {

Response errorResponse(unsigned status, std::string_view reason) {
  Response response;
  response.status = status;
  response.body = R"({"error":{"reason":)";
  appendJsonString(response.body, reason);
  response.body += "}}\n";
  return response;
}

}  // namespace pingloom::http
