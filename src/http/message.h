// Requests, responses and WebSocket frames as handlers see them. Plain values.
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
  // HEAD arrives as GET; the server omits the body itself. A request with another method arrives
  // only where it was not sent by a web page of another origin.
  std::string method;
  // Percent-decoded; begins with '/'. The server answers 400 to a path with a segment that is "."
  // or "..", or that contains an encoded '/' or control character; handlers never see one.
  std::string path;
  std::map<std::string, std::string> query;  // decoded; the last value of a name counts
  std::string body;
  // The body's type; "" where the request has no such header.
  std::string content_type;
  std::string accept;  // the Accept header (accept.h), likewise
  IpAddress peer;
  // Whether a proxy says that it passes on another client's request, so that `peer` is the proxy.
  bool forwarded = false;
  // What the sender may do; at least what ServerOptions::needs says of the request.
  Pass pass{Role::kOperate, {}, {}};
  std::string doubled{};  // a name that the query repeats; "" where it repeats none
};

// A body that is made and sent piece by piece, so that nobody holds all of it.
class BodyStream {
 public:
  // Takes the next piece; an empty one ends the body. nullopt: the rest cannot be made, and the
  // connection ends, so that the peer sees that the body is not complete.
  using Take = std::function<void(std::optional<std::string>)>;

  virtual ~BodyStream() = default;
  // The HTTP thread calls it when the peer has taken the piece before. It calls `take` exactly
  // once, on any thread, before the server ends.
  virtual void next(Take take) = 0;
};

struct Response {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  // besides those of every answer
  std::shared_ptr<BodyStream> stream{};                      // takes the place of `body`
};

// The body is {"error":{"reason":"..."}}.
Response errorResponse(unsigned status, std::string_view reason);

// Returns 400 where the query has a parameter that is not `known`, or repeats one: an answer that
// ignored a parameter would look right. Returns nullopt otherwise.
std::optional<Response> refusedParameter(const Request& request,
                                         const std::vector<std::string_view>& known);

// A later answer. The server calls it with a function that takes the response. That function may be
// called on any thread; it has to be called exactly once, before the server ends.
using Respond = std::function<void(Response)>;
using Later = std::function<void(Respond)>;
using Answer = std::variant<Response, Later>;

// One message of a WebSocket. Several viewers may share its bytes.
struct Frame {
  Frame(bool is_binary, std::shared_ptr<const std::string> bytes)
      : binary(is_binary), payload(std::move(bytes)) {}
  Frame(bool is_binary, std::string bytes)
      : Frame(is_binary, std::make_shared<const std::string>(std::move(bytes))) {}

  bool binary;
  std::shared_ptr<const std::string> payload;  // never nullptr
};

}  // namespace pingloom::http
