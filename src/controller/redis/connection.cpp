#include "controller/redis/connection.h"

#include <hiredis/hiredis.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "common/file.h"

namespace pingloom::controller {
namespace {

constexpr timeval kTimeoutValue = {RedisConnection::kTimeout / kSecond, 0};

redisContext* open(const RedisTarget& target) {
  if (target.kind == RedisTarget::Kind::kTcp) {
    return redisConnectWithTimeout(target.host.c_str(), target.port, kTimeoutValue);
  }
  return redisConnectUnixWithTimeout(target.path.c_str(), kTimeoutValue);
}

}  // namespace

std::vector<std::optional<std::string>> textsIn(const redisReply& reply) {
  std::vector<std::optional<std::string>> made;
  if (reply.type != REDIS_REPLY_ARRAY) return made;
  for (std::size_t i = 0; i < reply.elements; ++i) {
    const redisReply& element = *reply.element[i];
    if (element.type == REDIS_REPLY_NIL) made.emplace_back();
    if (element.type == REDIS_REPLY_STRING)
      made.emplace_back(std::string(element.str, element.len));
  }
  return made;
}

void RedisConnection::FreeContext::operator()(redisContext* context) const { redisFree(context); }
void RedisConnection::FreeReply::operator()(redisReply* reply) const { freeReplyObject(reply); }

Result<std::unique_ptr<RedisConnection>> RedisConnection::connect(const RedisTarget& target,
                                                                  const RedisLogin& login) {
  std::unique_ptr<RedisConnection> made(new RedisConnection);
  made->entity_ = "redis " + target.text();
  made->host_ = target.host;
  made->context_.reset(open(target));
  if (made->context_ == nullptr) return makeError(made->entity_, "out of memory");
  if (made->context_->err != 0) return makeError(made->entity_, made->context_->errstr);
  redisSetTimeout(made->context_.get(), kTimeoutValue);
  if (target.tls) {
    auto tls = RedisTlsStream::open(made->context_->fd, *target.tls, target.host, made->entity_);
    if (!tls) return tl::unexpected(tls.error());
    made->tls_ = std::move(*tls);
  }
  if (auto status = made->authenticate(login); !status) return tl::unexpected(status.error());
  if (auto status = made->ping(); !status) return tl::unexpected(status.error());
  return made;
}

Status RedisConnection::authenticate(const RedisLogin& login) {
  if (login.password_file.empty()) return {};
  const auto password = readPassword(login.password_file);
  if (!password) return tl::unexpected(password.error());
  Commands commands;
  if (login.user.empty()) {
    commands.add(std::string_view("AUTH"), *password);
  } else {
    commands.add(std::string_view("AUTH"), login.user, *password);
  }
  if (auto status = submit(commands); !status) return status;
  auto status = drain();
  // A server that does not know the command repeats its arguments.
  if (!status && status.error().reason.find(*password) != std::string::npos) {
    return makeError(entity_, "does not know AUTH");
  }
  return status;
}

Status RedisConnection::ping() {
  Commands commands;
  commands.add(std::string_view("PING"));
  if (auto status = submit(commands); !status) return status;
  return drain();
}

Status RedisConnection::write(std::string_view bytes) {
  if (tls_ != nullptr) return tls_->send(bytes);
  while (!bytes.empty()) {
    const ssize_t sent = ::send(context_->fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return makeError(entity_, "does not read: timed out");
    if (sent < 0) return makeErrnoError(entity_, "cannot send", errno);
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Status RedisConnection::submit(Commands& commands) {
  if (commands.count() == 0) return {};
  auto status = submit(commands.bytes(), commands.count());
  commands.clear();
  return status;
}

Status RedisConnection::submit(std::string_view commands, std::size_t replies) {
  while (in_flight_.size() >= kChunksInFlight) {
    if (auto status = takeChunk(); !status) return status;
  }
  if (auto status = write(commands); !status) return status;
  in_flight_.push_back({replies, std::string(keeps_redirects_ ? commands : std::string_view())});
  return {};
}

Status RedisConnection::drain() {
  while (!in_flight_.empty()) {
    if (auto status = takeChunk(); !status) return status;
  }
  return {};
}

Status RedisConnection::takeChunk() {
  const Chunk chunk = std::move(in_flight_.front());
  in_flight_.pop_front();
  Redirects redirects;
  for (std::size_t i = 0; i < chunk.replies; ++i) {
    const auto reply = readReply();
    if (!reply) return tl::unexpected(reply.error());
    if (keeps_redirects_ && noteRedirect(i, **reply, redirects)) continue;
    if (auto status = check(**reply); !status) return status;
  }
  if (redirects.empty()) return {};
  for (const CommandUnit& unit : unitsOf(chunk.commands)) {
    const auto at = redirects.lower_bound(unit.first);
    if (at == redirects.end() || at->first >= unit.first + unit.count) continue;
    redirected_.push_back({at->second, std::string(unit.bytes), unit.count});
  }
  return {};
}

std::optional<Redirect> RedisConnection::redirectOf(const redisReply& reply) const {
  if (reply.type != REDIS_REPLY_ERROR) return std::nullopt;
  return parseRedirect({reply.str, reply.len}, host_);
}

bool RedisConnection::noteRedirect(std::size_t number, const redisReply& reply,
                                   Redirects& redirects) const {
  if (auto redirect = redirectOf(reply)) {
    redirects.emplace(number, std::move(*redirect));
    return true;
  }
  if (reply.type != REDIS_REPLY_ERROR) return false;
  const std::string_view text(reply.str, reply.len);
  // EXEC says so when a command before it was redirected; any other error has been returned.
  return text.starts_with("EXECABORT") && !redirects.empty();
}

Result<RedisConnection::Reply> RedisConnection::readEncryptedReply() {
  std::array<char, 16'384> piece;  // one record of TLS
  for (;;) {
    void* raw = nullptr;
    if (redisReaderGetReply(context_->reader, &raw) != REDIS_OK) {
      return makeError(entity_, context_->reader->errstr);
    }
    if (raw != nullptr) return Reply(static_cast<redisReply*>(raw));
    const auto got = tls_->receive(piece);
    if (!got) return tl::unexpected(got.error());
    if (redisReaderFeed(context_->reader, piece.data(), *got) != REDIS_OK) {
      return makeError(entity_, context_->reader->errstr);
    }
  }
}

Result<RedisConnection::Reply> RedisConnection::readReply() {
  if (tls_ != nullptr) return readEncryptedReply();
  void* raw = nullptr;
  if (redisGetReply(context_.get(), &raw) != REDIS_OK) {
    const bool timed_out = context_->err == REDIS_ERR_IO && (errno == EAGAIN);
    return makeError(entity_, timed_out ? "no answer: timed out" : context_->errstr);
  }
  return Reply(static_cast<redisReply*>(raw));
}

Status RedisConnection::check(const redisReply& reply) {
  if (reply.type == REDIS_REPLY_ARRAY) {  // the reply to EXEC
    for (std::size_t i = 0; i < reply.elements; ++i) {
      if (auto status = check(*reply.element[i]); !status) return status;
    }
    return {};
  }
  if (reply.type != REDIS_REPLY_ERROR) return {};
  const std::string_view text(reply.str, reply.len);
  if (!text.starts_with("WRONGTYPE")) return makeError(entity_, text);
  ++wrong_types_;
  return {};
}

Result<RedisConnection::Reply> RedisConnection::ask(std::string_view command) {
  if (auto status = write(command); !status) return tl::unexpected(status.error());
  return readReply();
}

Result<std::vector<std::string>> RedisConnection::list(const Commands& command) {
  const auto reply = ask(command.bytes());
  if (!reply) return tl::unexpected(reply.error());
  if (auto status = check(**reply); !status) return tl::unexpected(status.error());
  std::vector<std::string> made;
  for (auto& text : textsIn(**reply)) {
    if (text) made.push_back(std::move(*text));
  }
  return made;
}

Result<std::vector<std::string>> RedisConnection::members(std::string_view key) {
  Commands command;
  command.add(std::string_view("SMEMBERS"), key);
  return list(command);
}

Status RedisConnection::checkMaster() {
  Commands command;
  command.add(std::string_view("ROLE"));
  const auto role = list(command);
  if (!role) return tl::unexpected(role.error());
  if (!role->empty() && role->front() == "master") return {};
  return makeError(entity_, "is no master, as the sentinel says");
}

}  // namespace pingloom::controller
