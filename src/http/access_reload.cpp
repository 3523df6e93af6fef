// The part of Access that reads its files: the tokens, and the certificate and key for TLS.
#include <utility>

#include "common/log.h"
#include "http/access.h"
#include "http/tls_context.h"

namespace pingloom::http {

Result<std::shared_ptr<Access>> Access::open(const AccessFiles& files) {
  std::shared_ptr<Access> made(new Access(files));
  if (auto status = made->reload(); !status) return tl::unexpected(status.error());
  return made;
}

Status Access::reload() {
  std::optional<Tokens> tokens;
  if (wantsTokens()) {
    auto loaded = Tokens::load(files_.tokens);
    if (!loaded) return tl::unexpected(loaded.error());
    tokens = std::move(*loaded);
  }
  std::shared_ptr<TlsContext> tls;
  if (encrypts()) {
    auto loaded = loadTls(files_.certificate, files_.key);
    if (!loaded) return tl::unexpected(loaded.error());
    tls = std::move(*loaded);
  }
  const std::lock_guard lock(mutex_);
  tokens_ = std::move(tokens);
  tls_ = std::move(tls);
  if (tokens_) {
    sessions_.endIf([this](const Digest& token) { return tokens_->roleOf(token) == Role::kNone; });
  }
  return {};
}

std::shared_ptr<TlsContext> Access::tls() const {
  const std::lock_guard lock(mutex_);
  return tls_;
}

Result<std::shared_ptr<Access>> openAccess(const AccessFiles& files) {
  if (files.empty()) return nullptr;
  return Access::open(files);
}

void reloadAccess(Access* access) {
  if (access == nullptr) return;
  if (const auto status = access->reload(); !status) {
    log::error("{}; the old tokens and the old certificate stay in force", status.error().text());
  } else {
    log::info("http_access: the files were read again");
  }
}

}  // namespace pingloom::http
