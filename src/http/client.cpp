#include "http/client.h"

#include <fmt/format.h>

#include "common/text.h"
#include "http/client_answer.h"
#include "http/client_socket.h"
#include "http/client_tls.h"
#include "http/url.h"

namespace pingloom::http {
namespace {

// Connects, sends the request's bytes and reads the answer.
Result<ClientResponse> exchange(const Site& site, const Url& url, const std::string& request,
                                const AnswerRules& rules, const std::string& entity,
                                Deadline deadline) {
  const auto socket = connectTo(url, entity, deadline);
  if (!socket) return tl::unexpected(socket.error());
  if (!url.tls) {
    const Status sent = sendAll(socket->get(), request, entity, deadline);
    if (!sent) return tl::unexpected(sent.error());
    return receiveAnswer(
        [&](std::string& out) { return receiveSome(socket->get(), out, entity, deadline); }, rules,
        entity);
  }
  auto tls = ClientTls::open(socket->get(), url, site.ca, site.ca_option, entity, deadline);
  if (!tls) return tl::unexpected(tls.error());
  if (auto sent = (*tls)->send(request); !sent) return tl::unexpected(sent.error());
  return receiveAnswer([&](std::string& out) { return (*tls)->receive(out); }, rules, entity);
}

// What goes into the head of a request must not end it.
bool fitsHead(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= ' ') return false;
  }
  return true;
}

std::string authorization(const Site& site) {
  return site.token.empty() ? "" : fmt::format("Authorization: Bearer {}\r\n", site.token);
}

}  // namespace

Result<ClientResponse> get(const Site& site, const std::string& path_and_query, Nanos timeout) {
  const Nanos deadline_mono = monotonicNow() + timeout;
  const auto url = parseUrl(site.url);
  if (!url) return tl::unexpected(url.error());
  const std::string entity = site.url + path_and_query;
  if (!fitsHead(url->prefix + path_and_query + url->authority)) {
    return makeError(entity, "contains a space");
  }
  // HTTP/1.0 means one request per connection and an answer without chunks.
  const std::string request =
      fmt::format("GET {}{} HTTP/1.0\r\nHost: {}\r\nAccept: */*\r\n{}\r\n", url->prefix,
                  path_and_query, url->authority, authorization(site));
  return exchange(site, *url, request, {}, entity, deadline_mono);
}

Result<ClientResponse> get(const std::string& url, const std::string& path_and_query,
                           Nanos timeout) {
  return get(Site{url, "", {}}, path_and_query, timeout);
}

Result<ClientResponse> send(const Site& site, const ClientRequest& request, Nanos timeout) {
  const Deadline deadline(monotonicNow() + timeout, request.cancelled);
  const auto url = parseUrl(site.url);
  const std::string entity =
      request.entity.empty() ? site.url + request.path_and_query : request.entity;
  if (!url) return makeError(entity, url.error().reason);
  if (!fitsHead(url->prefix + request.path_and_query + url->authority)) {
    return makeError(entity, "contains a space");
  }
  // Services behind Envoy refuse HTTP/1.0.
  std::string text = fmt::format(
      "{} {}{} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nAccept: */*\r\nUser-Agent: pingloom\r\n"
      "Content-Length: {}\r\n{}",
      request.method, url->prefix, request.path_and_query, url->authority, request.body.size(),
      authorization(site));
  if (!request.body.empty()) text += "Content-Type: " + request.content_type + "\r\n";
  for (const auto& [name, value] : request.headers) {
    if (!fitsHead(name) || hasControls(value)) return makeError(entity, "has a malformed header");
    text.append(name).append(": ").append(value).append("\r\n");
  }
  text += "\r\n" + request.body;
  return exchange(site, *url, text, {request.most_answer, true, true}, entity, deadline);
}

}  // namespace pingloom::http
