// Where applications get their pages: the agent's unix socket (registration.h says what is spoken).
// A connection is an owner; when it closes, however its process ended, its pages are nobody's.
// One thread, the pool's. Bounds: kConnections, of a user kConnectionsPerUser, each with the pool's
// limits; one that has not registered within kPatience, or does not take its answers, is hung up
// on.
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
  // Both empty: whoever the file's owner and group let in. Otherwise: everyone may connect, and
  // those of these users and groups are served.
  std::vector<uid_t> users;
  std::vector<gid_t> groups;
};

// By Refusal, which begins with 1.
constexpr std::array<std::string_view, 9> kRefusalNames = {
    "",     "malformed",  "version", "not_allowed", "quota",
    "page", "not_a_page", "metric",  "unavailable"};
static_assert(kRefusalNames.size() == static_cast<std::size_t>(Refusal::kUnavailable) + 1);

struct RegistrationCounters {
  std::uint64_t registered = 0;
  std::uint64_t messages = 0;
  std::uint64_t connections_refused = 0;                      // more than there may be
  std::array<std::uint64_t, kRefusalNames.size()> refused{};  // by Refusal
};

class RegistrationServer {
 public:
  static constexpr std::size_t kConnections = 2048;
  static constexpr std::size_t kConnectionsPerUser = 1024;
  static constexpr Nanos kPatience = 5 * kSecond;

  // Replaces a socket file that nobody listens at any more. The pool outlives the server.
  static Result<std::unique_ptr<RegistrationServer>> create(const RegistrationOptions& options,
                                                            PagePool& pool);
  ~RegistrationServer();  // removes the file; connections are closed, their pages released
  RegistrationServer(const RegistrationServer&) = delete;
  RegistrationServer& operator=(const RegistrationServer&) = delete;

  int descriptor() const { return epoll_.get(); }  // readable: call work()
  void work(Nanos now);                            // never waits
  Nanos nextWake() const;
  std::size_t connections() const { return connections_.size(); }
  const RegistrationCounters& counters() const { return counters_; }

 private:
  struct Connection {
    UniqueFd socket;
    Nanos since = 0;
    Owner peer;                                    // what the kernel says of it
    std::shared_ptr<const Owner> owner;            // once it has registered
    std::map<std::uint32_t, std::uint64_t> pages;  // generations, by the application's number
  };
  using Message = std::span<const std::uint8_t>;

  RegistrationServer(const RegistrationOptions& options, PagePool& pool)
      : options_(options), pool_(pool) {}
  Status listen();
  void accept(Nanos now);
  void welcome(UniqueFd socket, Nanos now);
  bool allowed(int socket, uid_t user) const;
  bool hasNamesake(const Owner& owner) const;
  // False: to be hung up on.
  bool serve(Connection& connection);
  bool take(Connection& connection, const Head& head, Message body, UniqueFd descriptor);
  bool takeRegister(Connection& connection, Message body);
  bool takePage(Connection& connection, const Head& head, Message body, UniqueFd descriptor);
  bool takeDefine(Connection& connection, const Head& head, Message body);
  bool takeRelease(Connection& connection, const Head& head);
  bool answer(Connection& connection, MessageType type, std::uint32_t page,
              std::span<const std::uint8_t> body, int descriptor = -1);
  // What answer() says: whether the connection stays.
  bool refuse(Connection& connection, std::uint32_t page, const Refused& refused);
  void close(Connection& connection);

  const RegistrationOptions options_;
  PagePool& pool_;
  UniqueFd epoll_;
  UniqueFd listener_;
  std::map<int, Connection> connections_;  // by descriptor
  std::map<uid_t, std::size_t> of_user_;   // connections
  std::size_t strangers_ = 0;              // that have not registered
  RegistrationCounters counters_;
};

}  // namespace pingloom::pages
