// What the tests of alerts build: incidents, targets, and an HTTP server that can misbehave.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/address.h"
#include "common/fd.h"
#include "controller/alerts/target.h"
#include "controller/model/board.h"
#include "unit/controller/support.h"

namespace pingloom::controller::test {

constexpr Nanos kOpened = 1'795'230'720 * kSecond;  // 2026-11-21T03:12:00Z

inline Incident incidentOf(std::uint64_t id, Severity severity = Severity::kDown) {
  Incident made;
  made.id = id;
  made.culprit = {CulpritKind::kHost, "gpu-3"};
  made.severity = severity;
  made.opened_utc = made.updated_utc = kOpened;
  made.probes = {"rdma"};
  made.bad_pairs = 46;
  made.judged_pairs = 46;
  made.sentence = "gpu-3 is <slow> & more";
  made.labels = {{"rack", "r1"}, {"data center", "x"}};
  made.evidence.push_back({"rdma", ip("10.0.0.3"), ip("10.0.0.1"), "gpu-3", "gpu-1", PairState::kOk,
                           severity, "network_p50 2.4 ms"});
  return made;
}

inline std::shared_ptr<const Verdict> verdictOf(const std::vector<Incident>& open,
                                                const std::vector<Incident>& recent = {}) {
  auto made = std::make_shared<Verdict>();
  for (const Incident& one : open) made->open.push_back(std::make_shared<const Incident>(one));
  for (const Incident& one : recent) made->recent.push_back(std::make_shared<const Incident>(one));
  return made;
}

inline AlertTarget targetOf(AlertKind kind, std::vector<std::string> urls,
                            const std::string& name = "oncall") {
  AlertTarget made;
  made.name = name;
  made.kind = kind;
  made.urls = std::move(urls);
  return made;
}

// Hands each connection to a function, one after the other, on its own thread.
class OddServer {
 public:
  // The function gets the connection and the request. It may take its time until `stopping`.
  using Serve = std::function<void(int socket, const std::string& request)>;

  explicit OddServer(Serve serve) : serve_(std::move(serve)) {
    listener_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
    EXPECT_EQ(::listen(listener_.get(), 16), 0);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &length);
    url_ = "http://" + SocketAddress::fromSockaddr(reinterpret_cast<sockaddr*>(&address)).text();
    thread_ = std::thread([this] { run(); });
  }
  ~OddServer() {
    stopping = true;
    thread_.join();
  }

  const std::string& url() const { return url_; }
  std::vector<std::string> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  // The bodies of all requests.
  std::vector<std::string> bodies() const {
    std::vector<std::string> made;
    for (const std::string& request : requests()) {
      made.push_back(request.substr(request.find("\r\n\r\n") + 4));
    }
    return made;
  }

  static void answer(int socket, const std::string& status, const std::string& more = "") {
    const std::string text = "HTTP/1.1 " + status + "\r\n" + more + "Content-Length: 0\r\n\r\n";
    ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
  }

  std::atomic<bool> stopping{false};

 private:
  void run() {
    while (!stopping) {
      pollfd waiting{listener_.get(), POLLIN, 0};
      if (::poll(&waiting, 1, 20) <= 0) continue;
      const UniqueFd peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      const std::string request = receive(peer.get());
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
      }
      serve_(peer.get(), request);
    }
  }
  // Reads until the request has the length that its head says.
  static std::string receive(int socket) {
    std::string request;
    char bytes[16384];
    const timeval patience{2, 0};
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    for (;;) {
      const ssize_t got = ::recv(socket, bytes, sizeof bytes, 0);
      if (got <= 0) return request;
      request.append(bytes, static_cast<std::size_t>(got));
      const std::size_t end = request.find("\r\n\r\n");
      const std::size_t length = request.find("Content-Length: ");
      if (end == std::string::npos || length == std::string::npos) continue;
      if (request.size() >= end + 4 + std::stoul(request.substr(length + 16))) return request;
    }
  }

  Serve serve_;
  UniqueFd listener_;
  std::string url_;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

}  // namespace pingloom::controller::test
