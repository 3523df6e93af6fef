#include "controller/alerts/queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include "common/file.h"
#include "common/json_text.h"
#include "common/log.h"
#include "common/text.h"

namespace pingloom::controller {
namespace {

constexpr std::string_view kQueueFile = ".json";
constexpr std::size_t kQueueDigits = 16;

// Returns the number in a file's name, or nullopt if it is not one of the queue's.
std::optional<std::uint64_t> queueNumber(const std::string& name) {
  if (name.size() != kQueueDigits + kQueueFile.size() || !name.ends_with(kQueueFile)) {
    return std::nullopt;
  }
  const auto number = parseUnsigned(name.substr(0, kQueueDigits), INT64_MAX);
  return number ? std::optional<std::uint64_t>(*number) : std::nullopt;
}

}  // namespace

Result<NotificationQueue> NotificationQueue::open(const std::filesystem::path& folder) {
  NotificationQueue made(folder);
  if (auto status = makeDirectories(folder / "malformed"); !status) {
    return tl::unexpected(status.error());
  }
  if (auto status = made.takeOver(); !status) return tl::unexpected(status.error());
  return made;
}

Status NotificationQueue::takeOver() {
  std::error_code error;
  std::vector<std::uint64_t> numbers;
  for (auto entry = std::filesystem::directory_iterator(folder_, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (const auto number = queueNumber(entry->path().filename().native())) {
      numbers.push_back(*number);
    }
  }
  if (error) return makeError(folder_.native(), "cannot list: " + error.message());
  std::sort(numbers.begin(), numbers.end());
  for (const std::uint64_t number : numbers) {
    next_ = number + 1;
    if (const auto notification = read(number)) {
      files_.push_back({number, notification->key, incidentKey(notification->incident)});
    } else {
      moveAside(number, notification.error());
    }
  }
  while (files_.size() > kMax) {
    erase(files_.begin());
    ++dropped_;
  }
  return {};
}

std::filesystem::path NotificationQueue::pathOf(std::uint64_t number) const {
  return folder_ / fmt::format("{:0{}}{}", number, kQueueDigits, kQueueFile);
}

Result<Notification> NotificationQueue::read(std::uint64_t number) const {
  const auto text = readFile(pathOf(number), kMaxFile);
  if (!text) return tl::unexpected(text.error());
  return notificationFrom(*text);
}

void NotificationQueue::moveAside(std::uint64_t number, const Error& error) {
  ++dropped_;
  const auto path = pathOf(number);
  // At most so many are kept; a later one replaces an earlier one.
  const auto aside = folder_ / "malformed" / fmt::format("{:02}.json", number % kMaxAside);
  log::error("{}: {}; the notification is lost, and its file is now {}", path.native(),
             error.reason, aside.native());
  std::error_code failed;
  std::filesystem::rename(path, aside, failed);
  if (failed) std::filesystem::remove(path, failed);
}

void NotificationQueue::erase(const std::deque<File>::iterator& file) {
  std::error_code ignored;
  std::filesystem::remove(pathOf(file->number), ignored);
  files_.erase(file);
}

Status NotificationQueue::add(const Notification& notification, bool newest_only) {
  const std::string incident = incidentKey(notification.incident);
  if (newest_only) {
    for (std::size_t i = files_.size(); i-- > 0;) {
      if (files_[i].incident == incident) erase(files_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  const auto same = [&](const File& file) { return file.key == notification.key; };
  if (std::any_of(files_.begin(), files_.end(), same)) return {};
  const std::string text = jsonLine(toJson(notification));
  if (text.size() > kMaxFile) return makeError(notification.key, "is too large for the queue");
  if (auto wrote = writeFileAtomic(pathOf(next_), text); !wrote) return wrote;
  files_.push_back({next_++, notification.key, incident});
  if (files_.size() > kMax) {
    erase(files_.begin());
    ++dropped_;
  }
  return {};
}

std::optional<NotificationQueue::Waiting> NotificationQueue::front() {
  while (!files_.empty()) {
    const std::uint64_t number = files_.front().number;
    auto notification = read(number);
    if (notification) return Waiting{number, std::move(*notification)};
    moveAside(number, notification.error());
    files_.pop_front();
  }
  return std::nullopt;
}

void NotificationQueue::remove(std::uint64_t number) {
  const auto file = std::find_if(files_.begin(), files_.end(),
                                 [&](const File& one) { return one.number == number; });
  if (file != files_.end()) erase(file);
}

}  // namespace pingloom::controller
