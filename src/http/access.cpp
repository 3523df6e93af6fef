#include "http/access.h"

#include <utility>

#include "common/log.h"
#include "http/credentials.h"

namespace pingloom::http {

tl::expected<Pass, Refusal> Access::tokenPass(const IpAddress& peer, std::string_view token,
                                              Nanos now_mono) {
  Pass pass;
  pass.token = digestOf(token);
  pass.role = tokens_->roleOf(pass.token);
  // A valid token passes whatever other peers of its address (behind a proxy, all of them) have
  // tried: nobody can guess 32 characters, and the limit only bounds the cost of attempts.
  if (pass.role != Role::kNone) return pass;
  return tl::unexpected(failures_.take(peer, 1, now_mono) ? Refusal::kWrongToken
                                                          : Refusal::kAttempts);
}

tl::expected<Pass, Refusal> Access::admit(const Credentials& credentials, Nanos now_mono) {
  const std::lock_guard lock(mutex_);
  if (!tokens_) return Pass{Role::kOperate, {}, {}};
  if (const auto token = bearerToken(credentials.authorization)) {
    return tokenPass(credentials.peer, *token, now_mono);
  }
  const auto id = cookieNamed(credentials.cookie, kCookie);
  if (!id) return tl::unexpected(Refusal::kNoToken);
  Pass pass;
  pass.session = digestOf(*id);
  // An unknown session has ended; it is no attempt, because nobody can guess 256 bits.
  const auto token = sessions_.tokenOf(pass.session, now_mono);
  if (!token) return tl::unexpected(Refusal::kNoToken);
  pass.token = *token;
  pass.role = tokens_->roleOf(*token);
  if (pass.role != Role::kNone) return pass;
  sessions_.end(pass.session);
  return tl::unexpected(Refusal::kNoToken);
}

bool Access::holds(const Pass& pass, Nanos now_mono) {
  const std::lock_guard lock(mutex_);
  if (!tokens_) return true;
  if (tokens_->roleOf(pass.token) < pass.role) return false;
  return pass.session == Digest{} || sessions_.tokenOf(pass.session, now_mono).has_value();
}

tl::expected<Access::SignedIn, Refusal> Access::signIn(const IpAddress& peer,
                                                       std::string_view token, Nanos now_mono) {
  const std::lock_guard lock(mutex_);
  if (!tokens_) return SignedIn{Role::kOperate, ""};
  const auto pass = tokenPass(peer, token, now_mono);
  if (!pass) return tl::unexpected(pass.error());
  return SignedIn{pass->role, sessions_.open(pass->token, now_mono)};
}

void Access::signOut(const Pass& pass) {
  const std::lock_guard lock(mutex_);
  sessions_.end(pass.session);
}

std::size_t Access::sessions() const {
  const std::lock_guard lock(mutex_);
  return sessions_.size();
}

void warnWhereOpen(const SocketAddress& listen, const Access* access, std::string_view powers) {
  if (listen.address.isLoopback()) return;
  if (access == nullptr || !access->wantsTokens()) {
    log::warning(
        "http {}: ANYBODY who reaches this address can {}. To require tokens, write 'http_access: "
        "{{ tokens: FILE, certificate: FILE, key: FILE }}' in the configuration, or listen on "
        "127.0.0.1; see docs/http-api.md",
        listen.text(), powers);
  } else if (!access->encrypts()) {
    log::warning(
        "http {}: tokens cross the network unencrypted, so anybody on the path can read them; add "
        "'certificate: FILE, key: FILE' to http_access",
        listen.text());
  }
}

}  // namespace pingloom::http
