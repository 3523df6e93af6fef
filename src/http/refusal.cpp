#include "http/refusal.h"

namespace pingloom::http {
namespace {

Response tooMany(unsigned status, std::string_view reason, std::string_view seconds) {
  Response response = errorResponse(status, reason);
  response.headers.emplace_back("Retry-After", seconds);
  return response;
}

Response wantsToken(std::string_view reason, std::string_view challenge) {
  Response response = errorResponse(401, reason);
  response.headers.emplace_back("WWW-Authenticate", challenge);
  return response;
}

}  // namespace

Response answerTo(Refusal refusal) {
  switch (refusal) {
    case Refusal::kNoToken:
      return wantsToken(
          "this request needs a token: send 'Authorization: Bearer TOKEN', or sign in on the page",
          R"(Bearer realm="pingloom")");
    case Refusal::kWrongToken:
      return wantsToken("this token is not known to this server",
                        R"(Bearer realm="pingloom", error="invalid_token")");
    case Refusal::kAttempts:
      return tooMany(429, "too many wrong tokens from this address", "5");
    case Refusal::kRole:
      return errorResponse(403, "this request needs a token with the role 'operate'");
    case Refusal::kPlain:
      return errorResponse(400, "this port speaks TLS: use https://");
    case Refusal::kBusy:
      return tooMany(503, "too many large answers are in flight", "1");
    case Refusal::kRate:
    case Refusal::kHandshake:
    case Refusal::kConnections:
    case Refusal::kUnused:
      break;
  }
  return tooMany(429, "too many requests from this address", "1");
}

}  // namespace pingloom::http
