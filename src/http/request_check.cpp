#include "http/request_check.h"

#include <fmt/format.h>

#include <boost/beast/websocket/rfc6455.hpp>
#include <utility>  // before Asio, which forgets it

#include "http/origin.h"
#include "http/target.h"

namespace pingloom::http {
namespace {

using Field = boost::beast::http::field;

tl::unexpected<Refused> bad(Service& service, unsigned status, std::string_view reason) {
  ++service.options.counters->requests_bad;
  return tl::unexpected(Refused{errorResponse(status, reason)});
}

// A peer that asks too often has to reconnect.
Refused refused(Refusal refusal) {
  return {answerTo(refusal), refusal == Refusal::kRate || refusal == Refusal::kAttempts};
}

// Returns the reason where a proxy in front of this server might see another end of the request, or
// another host; "" where both see the same. Beast assumes no body at all for a coding that it does
// not know.
std::string_view ambiguous(const BeastRequest& request) {
  if (request.count(Field::host) > 1) return "more than one Host header";
  const bool coded = request.find(Field::transfer_encoding) != request.end();
  return coded && !request.chunked() ? "the Transfer-Encoding does not end with chunked" : "";
}

bool isForwarded(const BeastRequest& request) {
  return request.find(Field::forwarded) != request.end() ||
         request.find(Field::via) != request.end() ||
         request.find("X-Forwarded-For") != request.end();
}

// Refuses requests that another site's page may have made a browser send.
tl::expected<void, Refused> checkBrowser(Service& service, const BeastRequest& request,
                                         bool upgrade, bool reads) {
  const std::string_view host = view(request[Field::host]);
  const std::string_view origin = view(request[Field::origin]);
  const bool encrypted = service.options.access != nullptr && service.options.access->encrypts();
  if (upgrade) {
    if (originAllowed(origin, host, encrypted)) return {};
    return bad(service, 403, "a WebSocket may only be opened by this server's own pages");
  }
  if (reads) return {};
  // Without tokens the server must be named by its address, because any site can give the server a
  // name of its own. With tokens such a site's page has neither a token nor this server's cookie.
  const bool named = service.wantsTokens() || hostAllowed(host, service.options.host_names);
  if (named && originAllowed(origin, host, encrypted)) return {};
  return bad(service, 403,
             "only this server's own pages, opened by its IP address, may send this request");
}

// Fills in the pass, or returns the refusal.
tl::expected<void, Refusal> admit(Service& service, const BeastRequest& request, Role needed,
                                  Request& plain) {
  if (service.options.access == nullptr) return {};
  const auto pass = service.options.access->admit(
      {plain.peer, view(request[Field::authorization]), view(request[Field::cookie])},
      monotonicNow());
  // A wrong token is refused even where none is needed; such paths would otherwise confirm guesses.
  const bool wrong = !pass && pass.error() != Refusal::kNoToken;
  if (wrong) return tl::unexpected(pass.error());
  plain.pass = pass ? *pass : Pass{};
  if (plain.pass.role >= needed) return {};
  return tl::unexpected(pass ? Refusal::kRole : pass.error());
}

}  // namespace

Role usualNeeds(const Request& request) {
  return request.method == "GET" ? Role::kRead : Role::kOperate;
}

tl::expected<Request, Refused> check(Service& service, const IpAddress& peer,
                                     BeastRequest& request) {
  if (!service.takeRequest(peer)) return tl::unexpected(refused(Refusal::kRate));
  if (const auto reason = ambiguous(request); !reason.empty()) return bad(service, 400, reason);
  const ServerLimits& limits = service.options.limits;
  if (request.target().size() > limits.target_bytes) {
    return bad(service, 414,
               fmt::format("the request's target is longer than {} bytes", limits.target_bytes));
  }
  const bool check_host = service.options.listen.address.isLoopback() && !service.wantsTokens();
  if (check_host && !hostAllowed(view(request[Field::host]), service.options.host_names)) {
    return bad(service, 421,
               "this server is not known by the name in the Host header; use its IP address or "
               "localhost");
  }
  auto target = parseTarget(view(request.target()));
  if (!target) return bad(service, 400, target.error().text());
  const bool upgrade = boost::beast::websocket::is_upgrade(request);
  if (upgrade && !service.websockets.contains(target->path)) {
    return bad(service, 404, "no WebSocket at this path");
  }
  const bool head = request.method() == boost::beast::http::verb::head;
  const bool reads = head || request.method() == boost::beast::http::verb::get;
  if (auto allowed = checkBrowser(service, request, upgrade, reads); !allowed) {
    return tl::unexpected(std::move(allowed.error()));
  }
  Request plain{head ? "GET" : std::string(view(request.method_string())),
                std::move(target->path),
                std::move(target->query),
                std::move(request.body()),
                std::string(view(request[Field::content_type])),
                std::string(view(request[Field::accept])),
                peer,
                isForwarded(request)};
  plain.doubled = std::move(target->doubled);
  const Role needed = upgrade ? Role::kRead : service.options.needs(plain);
  if (const auto admitted = admit(service, request, needed, plain); !admitted) {
    service.options.counters->refuse(admitted.error());
    return tl::unexpected(refused(admitted.error()));
  }
  // A busy server refuses before the handler works, but still answers health checks.
  ServerCounters& counters = *service.options.counters;
  if (!upgrade && needed != Role::kNone && counters.unsent_bytes > limits.unsent_bytes) {
    counters.refuse(Refusal::kBusy);
    return tl::unexpected(refused(Refusal::kBusy));
  }
  if (!upgrade) ++counters.requests;
  return plain;
}

}  // namespace pingloom::http
