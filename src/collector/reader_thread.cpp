#include "collector/reader_thread.h"

#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "common/time.h"

namespace pingloom::collector {
namespace {

constexpr std::size_t kEvent = 0;  // in ready_

}  // namespace

Result<std::unique_ptr<ReaderThread>> ReaderThread::start(
    ReaderPlace place, std::string collector, Board& board,
    const std::optional<net::CurvePair>& own) {
  std::unique_ptr<ReaderThread> made(
      new ReaderThread(std::move(place), std::move(collector), board, own));
  made->event_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!made->event_.valid()) return makeErrnoError("collector", "no eventfd", errno);
  made->thread_ = std::thread([reader = made.get()] { reader->run(); });
  return made;
}

void ReaderThread::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  eventfd_write(event_.get(), 1);
  thread_.join();
}

void ReaderThread::set(std::vector<AgentSpec> agents) {
  const std::lock_guard lock(mutex_);
  agents_ = std::move(agents);
  eventfd_write(event_.get(), 1);
}

void ReaderThread::takeAgents() {
  const std::vector<AgentSpec>& wanted = agents_;
  const auto is_wanted = [&](const auto& session) {
    return std::find(wanted.begin(), wanted.end(), session->spec()) != wanted.end();
  };
  std::erase_if(sessions_, [&](const auto& session) {
    if (is_wanted(session)) return false;
    board_.remove(session->entry());
    return true;
  });
  for (const AgentSpec& agent : wanted) {
    const bool known = std::any_of(sessions_.begin(), sessions_.end(),
                                   [&](const auto& session) { return session->spec() == agent; });
    if (known) continue;
    sessions_.push_back(std::make_unique<AgentSession>(agent, collector_, *place_.device, context_,
                                                       place_.address, own_,
                                                       board_.add(agent.agent)));
  }
}

void ReaderThread::wait() {
  const Nanos now = monotonicNow();
  Nanos wake = now + kSecond;
  ready_.assign({{event_.get(), POLLIN, 0}});
  first_of_.clear();
  for (const auto& session : sessions_) {
    first_of_.push_back(ready_.size());
    wake = std::min(wake, session->nextWake());
    session->addDescriptors(ready_);
  }
  first_of_.push_back(ready_.size());
  const Nanos time = std::max<Nanos>(wake - now, 0);
  const timespec timeout{time / kSecond, time % kSecond};
  ppoll(ready_.data(), ready_.size(), &timeout, nullptr);
}

void ReaderThread::run() {
  pthread_setname_np(pthread_self(), ("reader-" + std::to_string(place_.number)).c_str());
  for (;;) {
    wait();
    // Only sessions with work are called, because there may be thousands.
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
      const auto begin = ready_.begin() + static_cast<std::ptrdiff_t>(first_of_[i]);
      const auto end = ready_.begin() + static_cast<std::ptrdiff_t>(first_of_[i + 1]);
      const bool spoken_to =
          std::any_of(begin, end, [](const pollfd& one) { return one.revents != 0; });
      const Nanos now = monotonicNow();
      if (spoken_to || sessions_[i]->nextWake() <= now) sessions_[i]->work(now);
    }
    if (ready_[kEvent].revents != 0) {
      eventfd_t count = 0;
      eventfd_read(event_.get(), &count);
      const std::lock_guard lock(mutex_);
      if (stop_) break;
      takeAgents();
    }
  }
  sessions_.clear();  // destroyed before their device and sockets, on their thread
}

}  // namespace pingloom::collector
