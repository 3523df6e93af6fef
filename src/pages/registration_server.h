// The agent's Unix socket on which applications get their pages (registration.h defines the
// protocol). A connection is an owner; when it closes, however its process ended, its pages are
// released. It runs on the pool's thread. Bounds: kConnections connections, kConnectionsPerUser for
// each user, and the pool's limits for each. A connection is closed if it has not registered within
// kPatience, or does not read its answers.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/fd.h"
#include "common/time.h"
#include "pages/page_pool.h"
#include "pages/registration.h"

namespace pingloom::pages {

struct RegistrationOptions {
  std::filesystem::path socket = kDefaultSocket;
  // If both are empty, the file's owner and group decide who may connect. Otherwise everyone may
  // connect, and only these users and groups are served.
  std::vector<uid_t> users;
  std::vector<gid_t> groups;
  std::filesystem::path processes = "/proc";  // where the cgroups of applications are told
  // The process whose pages are about the whole host, so that they have no pod; 0: none.
  std::uint32_t own = 0;
};

// Indexed by Refusal, which begins with 1.
constexpr std::array<std::string_view, 9> kRefusalNames = {
    "",     "malformed",  "version", "not_allowed", "quota",
    "page", "not_a_page", "metric",  "unavailable"};
static_assert(kRefusalNames.size() == static_cast<std::size_t>(Refusal::kUnavailable) + 1);

struct RegistrationCounters {
  std::uint64_t registered = 0;
  std::uint64_t messages = 0;
  std::uint64_t connections_refused = 0;                      // refused because of the limits
  std::array<std::uint64_t, kRefusalNames.size()> refused{};  // indexed by Refusal
};

class RegistrationServer {
 public:
  static constexpr std::size_t kConnections = 2048;
  static constexpr std::size_t kConnectionsPerUser = 1024;
  static constexpr Nanos kPatience = 5 * kSecond;

  // Replaces a socket file that no process listens on any more. REQUIRES: the pool outlives the
  // server.
  static Result<std::unique_ptr<RegistrationServer>> create(const RegistrationOptions& options,
                                                            PagePool& pool);
  ~RegistrationServer();  // removes the file, closes all connections and releases their pages
  RegistrationServer(const RegistrationServer&) = delete;
  RegistrationServer& operator=(const RegistrationServer&) = delete;

  int descriptor() const { return epoll_.get(); }  // call work() when it is readable
  void work(Nanos now);                            // never blocks
  Nanos nextWake() const;
  std::size_t connections() const { return connections_.size(); }
  const RegistrationCounters& counters() const { return counters_; }

 private:
  struct Connection {
    UniqueFd socket;
    Nanos since = 0;
    Owner peer;                                    // what the kernel reports about the peer
    std::shared_ptr<const Owner> owner;            // set once it has registered
    std::map<std::uint32_t, std::uint64_t> pages;  // generations, keyed by the application's number
  };
  using Message = std::span<const std::uint8_t>;

  RegistrationServer(const RegistrationOptions& options, PagePool& pool)
      : options_(options), pool_(pool) {}
  Status listen();
  void accept(Nanos now);
  void welcome(UniqueFd socket, Nanos now);
  bool allowed(int socket, uid_t user) const;
  bool hasNamesake(const Owner& owner) const;
  // Returns false if the connection has to be closed.
  bool serve(Connection& connection, Nanos now);
  bool take(Connection& connection, const Head& head, Message body, UniqueFd descriptor, Nanos now);
  bool takeRegister(Connection& connection, Message body);
  bool takePage(Connection& connection, const Head& head, Message body, UniqueFd descriptor);
  bool takeMetric(Connection& connection, const Head& head, Message body, Nanos now);
  bool takeRelease(Connection& connection, const Head& head);
  bool answer(Connection& connection, MessageType type, std::uint32_t page,
              std::span<const std::uint8_t> body, int descriptor = -1);
  // Sends a refusal. Returns whether the connection stays open, as answer() does.
  bool refuse(Connection& connection, std::uint32_t page, const Refused& refused);
  void close(Connection& connection);

  const RegistrationOptions options_;
  PagePool& pool_;
  UniqueFd epoll_;
  UniqueFd listener_;
  std::map<int, Connection> connections_;  // keyed by descriptor
  std::map<uid_t, std::size_t> of_user_;   // number of connections
  std::size_t strangers_ = 0;              // connections that have not registered
  RegistrationCounters counters_;
};

}  // namespace pingloom::pages
