#include "controller/control/join_desk.h"

#include <pthread.h>
#include <sys/eventfd.h>

#include <chrono>
#include <utility>

#include "common/log.h"
#include "keys/authorized_file.h"
#include "keys/join_token.h"

namespace pingloom::controller {
namespace {

void report(const JoinDesk::Request& request, const keys::JoinDecision& decision) {
  const std::string who = fmt::format(
      "join: {} '{}'{} with token {}: key {}", keys::name(request.wants.role), request.wants.host,
      request.wants.from ? " from " + request.wants.from->text() : "", keys::tokenId(request.token),
      request.wants.key.text());
  switch (decision.outcome) {
    case wire::JoinReply::AUTHORIZED:
      return log::info("{} is authorised", who);
    case wire::JoinReply::WAITING:
      return log::info("{} waits for `pingloom keys approve`: {}", who, decision.text);
    default:  // the control server logs refusals, at most once a minute for each address
      return;
  }
}

}  // namespace

JoinDesk::JoinDesk(std::filesystem::path authorized)
    : authorized_(std::move(authorized)),
      event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { run(); }) {}

JoinDesk::~JoinDesk() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

bool JoinDesk::take(Request request) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kMaxWaiting) return false;
    waiting_.push_back(std::move(request));
  }
  wake_.notify_all();
  return true;
}

std::vector<JoinDesk::Done> JoinDesk::takeDone() {
  eventfd_t ignored = 0;
  (void)::eventfd_read(event_.get(), &ignored);
  const std::lock_guard lock(mutex_);
  return std::exchange(done_, {});
}

void JoinDesk::run() {
  pthread_setname_np(pthread_self(), "joins");
  std::unique_lock lock(mutex_);
  while (!stop_) {
    wake_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    if (stop_) return;
    std::vector<Request> requests = std::exchange(waiting_, {});
    lock.unlock();
    Done done = decide(std::move(requests));
    lock.lock();
    done_.push_back(std::move(done));
    (void)::eventfd_write(event_.get(), 1);
    wake_.wait_for(lock, std::chrono::nanoseconds(kPause), [this] { return stop_; });
  }
}

JoinDesk::Done JoinDesk::decide(std::vector<Request> requests) const {
  Done done;
  for (const Request& request : requests) {
    const auto& from = request.wants.from;
    done.answers.push_back({request.route,
                            from ? from->text() : "",
                            {wire::JoinReply::NOT_KEPT,
                             "the controller cannot change its list of keys; its log says why"}});
  }
  auto authorized = std::make_shared<keys::AuthorizedKeys>();
  auto book = std::make_shared<keys::JoinBook>();
  std::vector<keys::JoinDecision> decisions;
  const auto changed = keys::changeKeyFiles(
      authorized_, false, [&](keys::AuthorizedKeys& keys, keys::JoinBook& joins) -> Status {
        keys::JoinRules rules(keys, joins, utcNow());
        for (const Request& request : requests) {
          decisions.push_back(rules.decide(request.wants, request.token));
        }
        *authorized = keys;
        *book = joins;
        return {};
      });
  if (!changed) {
    log::error("join: {}; nobody can join", changed.error().text());
    return done;
  }
  done.authorized = std::move(authorized);
  done.book = std::move(book);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    report(requests[i], decisions[i]);
    done.answers[i].decision = std::move(decisions[i]);
  }
  return done;
}

}  // namespace pingloom::controller
