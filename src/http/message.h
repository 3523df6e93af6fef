// What a handler gets and gives back. Plain values.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/address.h"
#include "http/role.h"

namespace pingloom::http {

struct Request {
  // HEAD arrives as GET; the server leaves the body out itself. Any other method than these only
  // arrives where no foreign page in a browser has sent it.
  std::string method;
  // Percent-decoded, begins with '/'. A segment that is ".", ".." or hides a '/' or a control
  // character was answered with 400 before any handler saw it.
  std::string path;
  std::map<std::string, std::string> query;  // decoded; the last one of a name counts
  std::string body;
  std::string content_type;  // of the body; "" where the request does not say
  std::string accept;        // likewise; what answers it would rather have (accept.h)
  IpAddress peer;
  // Who sent it, as far as that is known; good for what the server's options say the request needs.
  Pass pass{Role::kOperate, {}, {}};
  std::string doubled{};  // a name in the query that came more than once; "": none did
};

struct Response {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  // beside those every answer has
};

// {"error":{"reason":"..."}}
Response errorResponse(unsigned status, std::string_view reason);

// 400 where the query has a parameter that is not `known`, or one more than once: what an answer
// left out would look like an answer. Nothing otherwise.
std::optional<Response> refusedParameter(const Request& request,
                                         const std::vector<std::string_view>& known);

// An answer that takes its time: called with a function that takes the response, on whatever
// thread, and has to be called exactly once, before the server ends.
using Respond = std::function<void(Response)>;
using Later = std::function<void(Respond)>;
using Answer = std::variant<Response, Later>;

// One message of a WebSocket. Many viewers may be sent the same bytes.
struct Frame {
  Frame(bool is_binary, std::shared_ptr<const std::string> bytes)
      : binary(is_binary), payload(std::move(bytes)) {}
  Frame(bool is_binary, std::string bytes)
      : Frame(is_binary, std::make_shared<const std::string>(std::move(bytes))) {}

  bool binary;
  std::shared_ptr<const std::string> payload;  // never nullptr
};

}  // namespace pingloom::http
