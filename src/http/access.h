// Decides what a peer may ask of an HTTP server: tokens, the sessions of browsers that have signed
// in with one, and the server's certificate. The files can be reloaded at any time; removing a
// token from its file ends the sessions and WebSockets that were opened with it. Any thread.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "common/address.h"
#include "common/error.h"
#include "common/time.h"
#include "http/access_config.h"
#include "http/address_limiter.h"
#include "http/refusal.h"
#include "http/role.h"
#include "http/sessions.h"
#include "http/tokens.h"

namespace pingloom::http {

struct TlsContext;

// The parts of a request that identify its sender.
struct Credentials {
  IpAddress peer;
  std::string_view authorization;  // the header's value; "" where there is none
  std::string_view cookie;
};

class Access {
 public:
  // A source address may send kAttempts wrong tokens at once, and kAttemptsPerSecond in the long
  // run.
  static constexpr double kAttempts = 20;
  static constexpr double kAttemptsPerSecond = 0.2;
  static constexpr std::string_view kCookie = "pingloom-session";

  // The error names file and line.
  static Result<std::shared_ptr<Access>> open(const AccessFiles& files);

  // Reads the files again. After an error the old contents stay in force.
  Status reload();

  // Where the server requires no tokens, every peer may do everything.
  bool wantsTokens() const { return !files_.tokens.empty(); }
  bool encrypts() const { return !files_.certificate.empty(); }
  // Returns the context for new connections; nullptr where they are not encrypted.
  std::shared_ptr<TlsContext> tls() const;

  // A token in the request takes precedence over a session.
  tl::expected<Pass, Refusal> admit(const Credentials& credentials, Nanos now_mono);
  // Whether the pass is still valid.
  bool holds(const Pass& pass, Nanos now_mono);

  struct SignedIn {
    Role role;
    std::string session;  // the session's id, for the cookie; "" where no tokens are required
  };
  tl::expected<SignedIn, Refusal> signIn(const IpAddress& peer, std::string_view token,
                                         Nanos now_mono);
  void signOut(const Pass& pass);
  std::size_t sessions() const;

 private:
  explicit Access(AccessFiles files) : files_(std::move(files)) {}
  tl::expected<Pass, Refusal> tokenPass(const IpAddress& peer, std::string_view token,
                                        Nanos now_mono);

  const AccessFiles files_;
  mutable std::mutex mutex_;
  std::optional<Tokens> tokens_;
  std::shared_ptr<TlsContext> tls_;
  Sessions sessions_;
  AddressLimiter failures_{kAttemptsPerSecond, kAttempts};
};

// Returns nullptr where no file is configured.
Result<std::shared_ptr<Access>> openAccess(const AccessFiles& files);

// Calls Access::reload() and logs the result. Does nothing where `access` is nullptr.
void reloadAccess(Access* access);

// Logs a warning, once, where the address is exposed: to everybody without tokens, or with tokens
// that cross the network without TLS. A loopback address is not exposed. `access` may be nullptr;
// `powers` says what any peer can do ("see all results and start bursts").
void warnWhereOpen(const SocketAddress& listen, const Access* access, std::string_view powers);

}  // namespace pingloom::http
