#include "collector/push/pusher.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "collector/push/push_credentials.h"
#include "common/log.h"
#include "common/time.h"

namespace pingloom::collector {

Pusher::Pusher(std::string name, PushTarget target, std::unique_ptr<PushFormat> format,
               RenderMetrics render)
    : name_(std::move(name)),
      target_(std::move(target)),
      format_(std::move(format)),
      render_(std::move(render)),
      queue_(*format_),
      thread_([this] { run(); }) {}

Pusher::~Pusher() {
  stop();
  thread_.join();
  const std::uint64_t lost = queue_.figures().waiting_samples;
  if (lost > 0) {
    log::warning("push to {} ends: {} samples that waited are lost, and its counters with them",
                 name_, lost);
  }
}

void Pusher::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
}

PushFigures Pusher::figures() const {
  const std::lock_guard lock(mutex_);
  return queue_.figures();
}

void Pusher::render(Nanos now) {
  const Nanos now_utc = utcNow();
  std::string written = render_(format_->writer(now_utc), target_.exact_histograms);
  if (stop_) return;
  auto requests = format_->requests(std::move(written), now_utc, now);
  const std::lock_guard lock(mutex_);
  queue_.add(std::move(requests));
}

Result<http::ClientResponse> Pusher::send(const PushRequest& request) const {
  // The path goes to the receiver as it is written; a site's would lose a '/' at its end.
  const std::size_t path = target_.url.find('/', target_.url.find("//") + 2);
  const http::Site site{target_.url.substr(0, path), "", target_.ca, "ca: FILE"};
  auto authorization = pushAuthorization(target_);
  // The queue logs the reason only, so that names the file.
  if (!authorization) return makeError(target_.url, authorization.error().text());
  http::ClientRequest post;
  post.path_and_query = target_.url.substr(path);
  post.body = request.body;
  post.content_type = format_->contentType();
  post.headers = format_->headers();
  if (!authorization->empty()) {
    post.headers.emplace_back("Authorization", std::move(*authorization));
  }
  if (!request.encoding.empty()) post.headers.emplace_back("Content-Encoding", request.encoding);
  post.cancelled = &stop_;
  return http::send(site, post, std::min(target_.interval, kMaxTimeout));
}

void Pusher::run() {
  pthread_setname_np(pthread_self(), "push");
  Nanos next = monotonicNow() + target_.interval;
  bool rendered = false;  // since the last request was sent
  std::unique_lock lock(mutex_);
  while (!stop_) {
    const Nanos now = monotonicNow();
    const PushRequest* request = queue_.due(now);
    if (now >= next && (request == nullptr || !rendered)) {
      lock.unlock();
      render(now);
      rendered = true;
      next += target_.interval;
      // Rendering that takes longer than the interval must leave time for sending.
      if (const Nanos end = monotonicNow(); next <= end) next = end + target_.interval;
      lock.lock();
      continue;
    }
    if (request != nullptr) {
      rendered = false;
      lock.unlock();
      const auto answer = send(*request);
      const bool taken = answer && answer->status / 100 == 2;
      const PushRejection rejection = taken ? format_->rejectionIn(answer->body) : PushRejection{};
      lock.lock();
      if (stop_) return;  // the answer says that it was cancelled
      const std::string said = queue_.answered(answer, monotonicNow(), rejection);
      if (!said.empty()) log::warning("push to {}: {}", name_, said);
      continue;
    }
    const Nanos wait = std::min(next, queue_.dueAt()) - now;
    wake_.wait_for(lock, std::chrono::nanoseconds(wait), [this] { return stop_.load(); });
  }
}

}  // namespace pingloom::collector
