#include "controller/collectors/collector_link.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "common/text.h"
#include "http/tokens.h"
#include "http/url.h"

namespace pingloom::controller {
namespace {

constexpr std::size_t kMaxProblem = 300;  // bytes

http::Response notAnswered(const std::string& reason) { return http::errorResponse(503, reason); }

}  // namespace

CollectorLink::CollectorLink(std::string url, CollectorAccess access, PageAnomalies& anomalies,
                             Nanos poll_until_mono, Nanos poll_interval)
    : url_(std::move(url)),
      access_(std::move(access)),
      anomalies_(anomalies),
      poll_interval_(poll_interval),
      poll_until_mono_(poll_until_mono),
      thread_([this] { run(); }) {}

void CollectorLink::cancel() {
  cancelled_ = true;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
}

CollectorLink::~CollectorLink() {
  cancel();
  thread_.join();
  for (const Question& question : waiting_) question.respond(notAnswered("the collector is gone"));
}

void CollectorLink::pollUntil(Nanos mono) {
  const std::lock_guard lock(mutex_);
  poll_until_mono_ = mono;
}

bool CollectorLink::ask(std::string host, http::Respond respond) {
  {
    const std::lock_guard lock(mutex_);
    if (stop_ || waiting_.size() == kMaxWaiting) return false;
    waiting_.push_back({std::move(host), std::move(respond)});
  }
  wake_.notify_all();
  return true;
}

std::shared_ptr<const CollectorView> CollectorLink::view() const {
  const std::lock_guard lock(mutex_);
  return view_;
}

Result<http::ClientResponse> CollectorLink::get(const std::string& path) const {
  http::Site site{url_, "", access_.ca, "collectors: { ca: FILE }"};
  if (!access_.token.empty()) {
    auto token = http::loadToken(access_.token);
    if (!token) return tl::unexpected(token.error());
    site.token = std::move(*token);
  }
  http::ClientRequest request;
  request.method = "GET";
  request.path_and_query = path;
  request.most_answer = kMaxAnswer;
  request.cancelled = &cancelled_;
  return http::send(site, request, kTimeout);
}

Result<std::string> CollectorLink::body(const std::string& path) const {
  auto answer = get(path);
  if (!answer) return tl::unexpected(answer.error());
  if (answer->status == 401 || answer->status == 403) {
    return makeError(
        url_ + path,
        "the collector requires a token; write 'collectors: { token: FILE }' in the "
        "controller's configuration, which also needs tokens of its own "
        "('http_access'), so that only a collector with one gets it; for collectors of "
        "other controllers it needs 'keys', too");
  }
  if (answer->status == 200) return std::move(answer->body);
  return makeError(url_ + path, fmt::format("the collector answers {}", answer->status));
}

void CollectorLink::poll() {
  const std::shared_ptr<const CollectorView> before = view();
  auto next = std::make_shared<CollectorView>(*before);
  const auto fail = [&](const Error& error) {
    next->problem = asOneLine(error.text(), kMaxProblem);
    if (utcNow() - next->answered_utc <= kStale) return;
    next->applications.clear();
    next->events.clear();
    next->events_logged = 0;
  };
  const auto text = body("/api/v1/applications");
  auto applications =
      text.and_then([](const std::string& json) { return parseApplications(json); });
  if (!applications) {
    fail(applications.error());
  } else {
    next->answered_utc = utcNow();
    next->problem.clear();
    anomalies_.set(url_, std::move(applications->anomalies), monotonicNow());
    next->watched = applications->watched;
    next->applications = std::move(applications->applications.records);
    next->malformed = applications->applications.malformed;
    next->beyond = applications->applications.beyond;
  }
  // A restarted collector counts anew, so any other number means that there is something to fetch.
  if (applications && applications->events != before->events_logged) {
    const auto json = body("/api/v1/events");
    auto events = json.and_then([](const std::string& list) { return parseEvents(list); });
    if (!events) {
      fail(events.error());
    } else {
      next->events_logged = applications->events;
      next->events = std::move(events->records);
      next->malformed += events->malformed;
    }
  }
  const std::lock_guard lock(mutex_);
  view_ = std::move(next);
}

http::Response CollectorLink::pagesOf(const std::string& host) const {
  auto answer = get("/api/v1/pages?agent=" + http::percentEncoded(host));
  if (!answer) return notAnswered("the collector did not answer: " + answer.error().text());
  if (answer->status == 404) {
    return http::errorResponse(404, "the collector does not read the pages of '" + host + "'");
  }
  if (answer->status != 200) {
    return notAnswered(fmt::format("the collector at {} answers {}", url_, answer->status));
  }
  if (!isPagesDocument(answer->body)) {
    return notAnswered(
        fmt::format("the answer of the collector at {} is malformed or longer than {} bytes", url_,
                    kMaxAnswer));
  }
  http::Response response;
  response.body = std::move(answer->body);
  return response;
}

// A document may need more memory than there is.
void CollectorLink::pollOrFail() {
  try {
    poll();
  } catch (const std::exception& failure) {
    const std::lock_guard lock(mutex_);
    auto next = std::make_shared<CollectorView>();
    next->problem = asOneLine(failure.what(), kMaxProblem);
    view_ = std::move(next);
  }
}

http::Response CollectorLink::answerTo(const Question& question) const {
  try {
    return pagesOf(question.host);
  } catch (const std::exception& failure) {
    return notAnswered(failure.what());
  }
}

void CollectorLink::run() {
  pthread_setname_np(pthread_self(), "collector");
  Nanos due_mono = 0;
  std::unique_lock lock(mutex_);
  while (!stop_) {
    const Nanos now = monotonicNow();
    // Polls come first, so that questions that never end do not hold them up.
    if (now >= due_mono && now < poll_until_mono_) {
      due_mono = now + poll_interval_;
      lock.unlock();
      pollOrFail();
      lock.lock();
      continue;
    }
    if (!waiting_.empty()) {
      const Question question = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      question.respond(answerTo(question));
      lock.lock();
      continue;
    }
    const Nanos wait = now < due_mono ? due_mono - now : poll_interval_;
    wake_.wait_for(lock, std::chrono::nanoseconds(wait),
                   [this] { return stop_ || !waiting_.empty(); });
  }
}

}  // namespace pingloom::controller
