// Who may ask an HTTP server for what: tokens, the browsers that have signed in with one, and the
// certificate it shows. What the files hold can be read anew at any time; a token that is no longer
// in its file ends what was opened with it. Any thread.
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

// What of a request tells who sent it.
struct Credentials {
  IpAddress peer;
  std::string_view authorization;  // the header's value; "" without
  std::string_view cookie;
};

class Access {
 public:
  // A source address may fail so many times, and again one every 1 / kAttemptsPerSecond.
  static constexpr double kAttempts = 20;
  static constexpr double kAttemptsPerSecond = 0.2;
  static constexpr std::string_view kCookie = "pingloom-session";

  // The error names file and line.
  static Result<std::shared_ptr<Access>> open(const AccessFiles& files);

  // Reads the files again. After an error everything stays as it was.
  Status reload();

  // Otherwise everybody may do everything.
  bool wantsTokens() const { return !files_.tokens.empty(); }
  bool encrypts() const { return !files_.certificate.empty(); }
  // For new connections; nullptr where they are not encrypted.
  std::shared_ptr<TlsContext> tls() const;

  // A token that comes with the request counts more than a session.
  tl::expected<Pass, Refusal> admit(const Credentials& credentials, Nanos now_mono);
  // Whether it is still good.
  bool holds(const Pass& pass, Nanos now_mono);

  struct SignedIn {
    Role role;
    std::string session;  // its id, for the cookie; "" where no tokens are wanted
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

// nullptr where no file is named.
Result<std::shared_ptr<Access>> openAccess(const AccessFiles& files);

// Access::reload(), with what comes of it in the log. `access` may be nullptr: then there is
// nothing to do.
void reloadAccess(Access* access);

// Says in the log, once, what is open to whom on that address: everything without tokens, or the
// tokens themselves without TLS. Nothing on loopback. `access` may be nullptr; `powers`: what
// anybody can do ("see all results and have pairs probed").
void warnWhereOpen(const SocketAddress& listen, const Access* access, std::string_view powers);

}  // namespace pingloom::http
