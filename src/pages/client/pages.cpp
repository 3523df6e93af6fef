#include "pages/client/pages.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <utility>

namespace pingloom::pages::client {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMaxReported = 32;
// The delay keeps a child that only calls exec from registering.
constexpr auto kChildDelay = 100ms;

// Returns the time until `next`, clamped to between a millisecond and a second.
int millisecondsUntil(Instant next, Instant now) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now);
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 1, 1000));
}

}  // namespace

Pages::Pages(std::string socket, const std::string& application, CommonLabels labels,
             Listener listener)
    : labels_(std::move(labels)),
      listener_(listener),
      session_(std::move(socket), application, labels_.application) {
  startThread();
}

Pages::~Pages() { stopThread(); }

void Pages::startThread() {
  next_beat_ = std::chrono::steady_clock::now() + 1s;
  wakeup_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  // This thread must not handle the application's signals.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto body = [](void* self) -> void* {
    static_cast<Pages*>(self)->run();
    return nullptr;
  };
  has_thread_ = wakeup_.valid() && pthread_create(&thread_, nullptr, body, this) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!has_thread_) last_trouble_ = {PINGLOOM_NO_MEMORY, "no thread: nobody can read the pages"};
}

void Pages::stopThread() {
  if (!has_thread_) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake();
  pthread_join(thread_, nullptr);
}

void Pages::wake() const {
  const std::uint64_t one = 1;
  // The write fails only if a wake-up is already pending.
  [[maybe_unused]] const auto written = write(wakeup_.get(), &one, sizeof one);
}

void Pages::run() {
  while (true) {
    std::vector<Outcome> news;
    std::array<pollfd, 2> waited{};
    int timeout = 0;
    {
      std::unique_lock lock(mutex_);
      if (stop_) return;
      std::uint64_t wakeups = 0;
      [[maybe_unused]] const auto got = read(wakeup_.get(), &wakeups, sizeof wakeups);
      beat(lock);
      const Instant now = std::chrono::steady_clock::now();
      session_.step(now, pages_);
      keepTroubles(session_.takeTroubles(), &news);
      waited = {{{wakeup_.get(), POLLIN, 0}, {session_.fd(), POLLIN, 0}}};
      timeout = millisecondsUntil(std::min(next_beat_, session_.nextStep(now)), now);
    }
    answered_.notify_all();
    for (const Outcome& trouble : news) {
      listener_.on_error(listener_.context, trouble.error, trouble.text.c_str());
    }
    poll(waited.data(), waited.size(), timeout);
  }
}

void Pages::beat(std::unique_lock<std::mutex>& lock) {
  if (std::chrono::steady_clock::now() < next_beat_) return;
  if (const HeartbeatCallback callback = on_heartbeat_; callback.call != nullptr) {
    calling_ = true;
    lock.unlock();
    callback.call(callback.context);
    lock.lock();
    calling_ = false;
    answered_.notify_all();
  }
  const Instant now = std::chrono::steady_clock::now();
  for (const auto& page : pages_) page->beat();
  next_beat_ += 1s;
  if (next_beat_ <= now) next_beat_ = now + 1s;  // the process was stopped for a while
}

void Pages::onHeartbeat(HeartbeatCallback callback) {
  std::unique_lock lock(mutex_);
  on_heartbeat_ = callback;
  if (has_thread_ && pthread_equal(thread_, pthread_self()) != 0) return;
  answered_.wait(lock, [this] { return !calling_; });
}

void Pages::keepTroubles(std::vector<Outcome> troubles, std::vector<Outcome>* news) {
  for (Outcome& trouble : troubles) {
    last_trouble_ = trouble;
    const bool first = reported_.size() < kMaxReported && reported_.insert(trouble.text).second;
    if (first && listener_.on_error != nullptr) news->push_back(std::move(trouble));
  }
  if (session_.registered() && last_trouble_.error == PINGLOOM_NO_AGENT) last_trouble_ = {};
}

void Pages::report(Outcome trouble) {
  const std::lock_guard lock(mutex_);
  session_.addTrouble(std::move(trouble));
}

void Pages::status(pingloom_pages_status* status) {
  const std::lock_guard lock(mutex_);
  *status = {};
  status->connected = session_.registered() ? 1 : 0;
  status->owner = session_.registered() ? session_.owner() : 0;
  status->refused = session_.refused();
  for (const auto& page : pages_) {
    status->pages += 1;
    status->known_pages += page->standing() == Standing::kKnown ? 1 : 0;
    status->metrics += static_cast<std::uint32_t>(page->metrics());
    status->known_metrics += static_cast<std::uint32_t>(page->knownMetrics());
  }
  status->error = last_trouble_.error;
  last_trouble_.text.copy(status->error_text, sizeof status->error_text - 1);
}

std::uint32_t Pages::keepOneIn() const {
  const pingloom_page* const page = first_page_;
  return page == nullptr ? 0 : __atomic_load_n(&page->header.keep_one_in, __ATOMIC_RELAXED);
}

void Pages::holdForFork() {
  creating_.lock();
  mutex_.lock();
}

void Pages::continueAfterFork() {
  mutex_.unlock();
  creating_.unlock();
}

void Pages::startAnewInChild() {
  const Instant now = std::chrono::steady_clock::now();
  session_.startAnew(now + kChildDelay);
  last_trouble_ = {};
  // A thread of the parent may wait for its callback, and would be waited for when this one ends.
  calling_ = false;
  new (&answered_) std::condition_variable;
  for (const auto& page : pages_) {
    if (!page->startAnew(now)) {
      last_trouble_ = {PINGLOOM_NO_MEMORY, "no page for this child: nobody can read its values"};
    }
  }
  // The parent's thread does not exist in this process.
  if (has_thread_) startThread();
}

}  // namespace pingloom::pages::client
