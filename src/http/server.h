// A small HTTP/1.1 and WebSocket server on one thread of its own. Everything a peer sends is
// bounded (ServerLimits); everything it can make the server keep is bounded too: a viewer that
// reads slowly is not sent what it missed, but what is true when it is ready again.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/time.h"
#include "http/access.h"
#include "http/message.h"
#include "http/refusal.h"

namespace pingloom::http {

struct ServerLimits {
  std::size_t connections = 1024;  // WebSockets included; more are answered 503
  // Of these by one source (address_limiter.h), and its requests and WebSocket messages. Whoever
  // comes from this machine's loopback has no limit of his own: it may be a proxy with everybody
  // behind it.
  std::size_t connections_of_source = 256;
  std::size_t waiting_of_source = 8;  // for answers that take their time (Later)
  double requests_per_second = 200;
  double requests_at_once = 1000;
  bool limit_loopback = false;
  std::size_t header_bytes = 8 * 1024;
  std::size_t target_bytes = 4 * 1024;
  std::size_t body_bytes = 64 * 1024;
  std::size_t websocket_message_bytes = 4 * 1024;  // that a viewer may send
  // Of all answers that their peers have not taken yet. One of more than 64 KiB beyond it becomes a
  // 503; while it is exceeded, requests that need a role are not even handled.
  std::size_t unsent_bytes = 256 * 1024 * 1024;
  // A request must be complete, and an answer taken, within this time; a WebSocket peer that does
  // not answer a ping for as long is dropped.
  Nanos idle_timeout = 60 * kSecond;
};

// Since the start; any thread.
struct ServerCounters {
  std::atomic<std::uint64_t> connections_open{0};
  std::atomic<std::uint64_t> connections_accepted{0};
  std::atomic<std::uint64_t> connections_refused{0};  // above the limit
  std::atomic<std::uint64_t> websockets_open{0};
  std::atomic<std::uint64_t> frames_sent{0};
  std::atomic<std::uint64_t> frame_bytes_sent{0};
  std::atomic<std::uint64_t> unsent_bytes{0};  // of answers
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> requests_bad{0};  // refused before a handler saw them
  // Not let in, by reason; not in the two above, but for answers that became too large (kBusy).
  std::array<std::atomic<std::uint64_t>, kRefusalNames.size()> refused{};

  void refuse(Refusal reason) { ++refused[static_cast<std::size_t>(reason)]; }
};

// kRead for GET, otherwise kOperate.
Role usualNeeds(const Request& request);

struct ServerOptions {
  SocketAddress listen;  // port 0 picks a free one
  // Names that a Host header may carry beside IP addresses and localhost. Only checked while
  // listening on loopback without tokens: there a foreign name means that a web page made its own
  // name point here (DNS rebinding).
  std::vector<std::string> host_names;
  std::shared_ptr<Access> access;  // nullptr: everybody may do everything
  // What a request needs, by method and path. A WebSocket needs kRead.
  std::function<Role(const Request&)> needs = usualNeeds;
  ServerLimits limits;
  std::shared_ptr<ServerCounters> counters = std::make_shared<ServerCounters>();
};

// One viewer of a WebSocket. All calls come from the HTTP thread.
class WebSocketSession {
 public:
  virtual ~WebSocketSession() = default;  // the connection is gone
  // The next frame, asked for when the one before has been written; nullopt when there is nothing
  // to say. Then the session is asked again after its wake function was called.
  virtual std::optional<Frame> next() = 0;
  // What the viewer sent. False closes the connection.
  virtual bool received(std::string_view message) = 0;
  // Asked every ServerLimits::idle_timeout: false closes a connection that nobody has a use for.
  virtual bool inUse() const { return true; }
};

// Accepts viewers at one path. Called on the HTTP thread.
class WebSocketEndpoint {
 public:
  virtual ~WebSocketEndpoint() = default;
  // `wake` may be called on the HTTP thread for as long as the session lives. Never nullptr.
  virtual std::unique_ptr<WebSocketSession> open(std::function<void()> wake) = 0;
};

// Runs tasks on the HTTP thread; callable from any thread. A copy may outlive the server: what it
// is given then never runs. Unbounded, so callers coalesce.
class TaskQueue {
 public:
  void post(std::function<void()> task) const;
  void postAfter(Nanos delay, std::function<void()> task) const;

 private:
  friend class Server;
  struct Loop;
  explicit TaskQueue(std::shared_ptr<Loop> loop) : loop_(std::move(loop)) {}
  std::shared_ptr<Loop> loop_;
};

class Server {
 public:
  // Runs on the HTTP thread, one request at a time: it must not block. What would answers later.
  using Handler = std::function<Answer(const Request&)>;
  using WebSockets = std::map<std::string, std::shared_ptr<WebSocketEndpoint>>;  // by path

  // Listens and starts the thread. The error names the address.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options, Handler handler,
                                               WebSockets websockets = {});
  ~Server();  // closes all connections and joins the thread
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  SocketAddress address() const;  // with the port that was picked
  TaskQueue tasks() const;

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pingloom::http
