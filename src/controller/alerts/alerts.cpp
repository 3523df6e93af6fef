#include "controller/alerts/alerts.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/fnv1a.h"
#include "common/log.h"

namespace pingloom::controller {
namespace {

constexpr Nanos kAlertsIdle = kSecond;               // repetitions are due by the clock
constexpr Nanos kBetweenLooks = 100 * kMillisecond;  // lanes wake for each message

// Returns the folder of a place's queue. Each URL of an alertmanager has its own, because each
// instance gets every alert.
std::string queueFolder(const AlertTarget& target, const std::string& url) {
  if (target.kind != AlertKind::kAlertmanager) return "queue";
  return fmt::format("queue-{:016x}", fnv1a64(url));
}

}  // namespace

struct Alerts::Target {
  explicit Target(const AlertTarget& configured) : target(configured) {}

  const AlertTarget& target;
  std::atomic<bool> testing{false};
  std::vector<std::unique_ptr<AlertLane>> lanes;
  std::unique_ptr<Notifier> notifier;
};

// It lives until each lane has replied.
struct Alerts::Test {
  std::mutex mutex;
  AlertTestAnswer answer;
  std::size_t missing = 0;
  TestReply reply;
};

Alerts::Alerts(std::vector<AlertTarget> targets, Board& board, Sends sends)
    : configured_(std::move(targets)), board_(board), sends_(std::move(sends)) {}

Result<std::unique_ptr<Alerts>> Alerts::start(std::vector<AlertTarget> targets,
                                              const std::filesystem::path& folder, Board& board,
                                              Sends sends) {
  std::unique_ptr<Alerts> made(new Alerts(std::move(targets), board, std::move(sends)));
  if (auto status = made->open(folder); !status) return tl::unexpected(status.error());
  made->begin();
  return made;
}

Status Alerts::open(const std::filesystem::path& folder) {
  for (const AlertTarget& target : configured_) {
    if (auto opened = openTarget(target, folder / target.name); !opened) return opened;
  }
  return {};
}

Status Alerts::openTarget(const AlertTarget& target, const std::filesystem::path& folder) {
  auto made = std::make_unique<Target>(target);
  auto told = ToldIncidents::open(folder / "told");
  if (!told) return tl::unexpected(told.error());
  std::vector<std::string> urls = target.urls;
  if (urls.empty()) urls.emplace_back();
  for (const std::string& url : urls) {
    auto queue = NotificationQueue::open(folder / queueFolder(target, url));
    if (!queue) return tl::unexpected(queue.error());
    made->lanes.push_back(
        std::make_unique<AlertLane>(target, url, std::move(*queue), [this] { wake(); }));
  }
  made->notifier = std::make_unique<Notifier>(
      target, std::move(*told), [this, lanes = &made->lanes](const Notification& notification) {
        if (sends_ && !sends_()) return;
        for (const auto& lane : *lanes) lane->add(notification);
      });
  targets_.push_back(std::move(made));
  return {};
}

void Alerts::begin() {
  publish();
  feed_ = board_.subscribe([this] { wake(); }, {.sources = false, .events = false, .paths = false});
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "alerts");
}

Alerts::~Alerts() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
  targets_.clear();  // the lanes wake this object
}

void Alerts::wake() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(changed_, true)) return;
  }
  wake_.notify_one();
}

bool Alerts::waitFor(Nanos longest, bool for_changes) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, std::chrono::nanoseconds(longest),
                 [&] { return stop_ || (for_changes && changed_); });
  if (for_changes) changed_ = false;
  return !stop_;
}

void Alerts::run() {
  while (waitFor(kAlertsIdle, true)) {
    feed_->take();  // only the newest verdict counts
    const auto verdict = board_.verdict();
    const Instant now = Instant::now();
    for (const auto& target : targets_) target->notifier->look(*verdict, now);
    publish();
    if (!waitFor(kBetweenLooks, false)) return;
  }
}

void Alerts::publish() {
  AlertStatuses statuses;
  for (const auto& target : targets_) {
    AlertTargetStatus& status = statuses.emplace_back();
    status.name = target->target.name;
    status.kind = name(target->target.kind);
    for (const auto& lane : target->lanes) {
      LaneCounts counts = lane->counts();
      status.delivered += counts.delivered;
      status.failed += counts.failed;
      status.dropped += counts.dropped;
      status.waiting += counts.waiting;
      if (status.last_error.empty()) status.last_error = std::move(counts.last_error);
      status.last_delivered_utc = std::max(status.last_delivered_utc, counts.last_delivered_utc);
    }
  }
  if (statuses == published_) return;
  published_ = statuses;
  board_.publishAlerts(std::make_shared<const AlertStatuses>(std::move(statuses)));
}

void Alerts::test(const std::string& name, TestReply reply) {
  const auto found = std::find_if(targets_.begin(), targets_.end(),
                                  [&](const auto& one) { return one->target.name == name; });
  if (found == targets_.end()) return reply({AlertTestRefusal::kUnknown, {}});
  Target& target = **found;
  if (target.testing.exchange(true)) return reply({AlertTestRefusal::kBusy, {}});
  const auto test = std::make_shared<Test>();
  test->missing = target.lanes.size();
  test->reply = std::move(reply);
  for (const auto& lane : target.lanes) test->answer.places.push_back({lane->place(), {}});
  const Notification notification = testNotification(utcNow());
  {
    // Held while the lanes take the test, so that stopTests() finds it in all of them or in none.
    const std::unique_lock lock(mutex_);
    if (!tests_stopped_) {
      for (std::size_t i = 0; i < target.lanes.size(); ++i) {
        target.lanes[i]->test(notification, [test, i, &target](const DeliveryResult& result) {
          const std::unique_lock answer_lock(test->mutex);
          test->answer.places[i].result = result;
          if (--test->missing > 0) return;
          target.testing = false;
          test->reply(std::move(test->answer));
        });
      }
      return;
    }
  }
  target.testing = false;
  test->reply({AlertTestRefusal::kEnding, {}});
}

void Alerts::stopTests() {
  {
    const std::lock_guard lock(mutex_);
    tests_stopped_ = true;
  }
  for (const auto& target : targets_) {
    for (const auto& lane : target->lanes) lane->giveUpTest();
  }
}

}  // namespace pingloom::controller
