// A small HTTP/1.1 and WebSocket server on one thread of its own. Everything that a peer sends, and
// everything that it can make the server keep, is bounded (ServerLimits): a viewer that reads
// slowly is not sent the changes it missed, but the state at the time when it is ready again.
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
  // The limits of one source (address_limiter.h): connections, later answers, and the rate of
  // requests and WebSocket messages. They do not apply to this machine's loopback addresses, which
  // may be a proxy for all peers.
  std::size_t connections_of_source = 256;
  std::size_t waiting_of_source = 8;  // requests that wait for a later answer (Later)
  double requests_per_second = 200;
  double requests_at_once = 1000;
  bool limit_loopback = false;
  std::size_t header_bytes = 8 * 1024;
  std::size_t target_bytes = 4 * 1024;
  std::size_t body_bytes = 64 * 1024;
  // A viewer's message may have so many bytes.
  std::size_t websocket_message_bytes = 4 * 1024;
  // The bytes of all answers in flight. Beyond the limit, an answer of more than 64 KiB becomes a
  // 503, and requests that need a role are refused before they are handled.
  std::size_t unsent_bytes = 256 * 1024 * 1024;
  // A request must be complete, and an answer or a piece of one taken, within this time; a
  // WebSocket peer that does not answer a ping for as long is dropped.
  Nanos idle_timeout = 60 * kSecond;
};

// Counts since the start. Any thread.
struct ServerCounters {
  std::atomic<std::uint64_t> connections_open{0};
  std::atomic<std::uint64_t> connections_accepted{0};
  std::atomic<std::uint64_t> connections_refused{0};  // above the limit
  std::atomic<std::uint64_t> websockets_open{0};
  std::atomic<std::uint64_t> frames_sent{0};
  std::atomic<std::uint64_t> frame_bytes_sent{0};
  // Bytes of answers that wait to be sent.
  std::atomic<std::uint64_t> unsent_bytes{0};
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> requests_bad{0};  // refused before they reached a handler
  // Refusals by reason. The two counters above do not include them, except for answers that became
  // too large (kBusy).
  std::array<std::atomic<std::uint64_t>, kRefusalNames.size()> refused{};

  void refuse(Refusal reason) { ++refused[static_cast<std::size_t>(reason)]; }
};

// Returns kRead for GET, and kOperate for any other method.
Role usualNeeds(const Request& request);

struct ServerOptions {
  SocketAddress listen;  // port 0 picks a free one
  // The names that a Host header may carry, besides IP addresses and localhost. The server checks
  // them only on a loopback address without tokens, where a foreign name means that a web page let
  // its own name resolve to this server (DNS rebinding).
  std::vector<std::string> host_names;
  std::shared_ptr<Access> access;  // nullptr: every peer may do everything
  // The origins whose pages may show this server's pages in a frame, separated by spaces, as in
  // Content-Security-Policy. "": none.
  std::string frame_ancestors;
  // Returns the role that a request needs, by method and path. A WebSocket needs kRead.
  std::function<Role(const Request&)> needs = usualNeeds;
  ServerLimits limits;
  std::shared_ptr<ServerCounters> counters = std::make_shared<ServerCounters>();
};

// One viewer of a WebSocket. All calls come from the HTTP thread.
class WebSocketSession {
 public:
  virtual ~WebSocketSession() = default;  // runs when the connection has ended
  // Returns the next frame. The server calls this when the previous frame has been written; after
  // nullopt it calls again when the session has called its wake function.
  virtual std::optional<Frame> next() = 0;
  // Takes a message of the viewer. Returning false closes the connection.
  virtual bool received(std::string_view message) = 0;
  // The server calls this every ServerLimits::idle_timeout; false closes an unused connection.
  virtual bool inUse() const { return true; }
};

// Accepts viewers at one path. Called on the HTTP thread.
class WebSocketEndpoint {
 public:
  virtual ~WebSocketEndpoint() = default;
  // `wake` may be called on the HTTP thread for as long as the session lives. Never nullptr.
  virtual std::unique_ptr<WebSocketSession> open(std::function<void()> wake) = 0;
};

// Runs tasks on the HTTP thread; callable from any thread. A copy may outlive the server; it drops
// its tasks then. The queue is unbounded, so callers coalesce.
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
  // Runs on the HTTP thread, one request at a time, so it must not block; work that would block
  // returns a later answer (Later).
  using Handler = std::function<Answer(const Request&)>;
  using WebSockets = std::map<std::string, std::shared_ptr<WebSocketEndpoint>>;  // by path

  // Listens and starts the thread. The error names the address.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options, Handler handler,
                                               WebSockets websockets = {});
  ~Server();  // closes all connections and joins the thread
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  SocketAddress address() const;  // with the actual port
  TaskQueue tasks() const;

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pingloom::http
