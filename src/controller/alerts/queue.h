// The notifications that wait for one place, each in a file of its own, so that neither an outage
// nor a restart loses one. Bounds: kMax notifications of kMaxFile bytes; beyond that the oldest is
// dropped. Files that cannot be read are moved aside. One thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>

#include "common/error.h"
#include "controller/alerts/notification.h"

namespace pingloom::controller {

class NotificationQueue {
 public:
  static constexpr std::size_t kMax = 1000;
  static constexpr std::size_t kMaxFile = 256U << 10;
  static constexpr std::size_t kMaxAside = 100;

  struct Waiting {
    std::uint64_t number = 0;
    Notification notification;
  };

  // Makes the folder and takes over what waits there. Fails where that is impossible.
  static Result<NotificationQueue> open(const std::filesystem::path& folder);

  // Adds a notification at the end, unless one with its key waits already. `newest_only` removes
  // what waits for the same incident: the target wants to know the current state only.
  Status add(const Notification& notification, bool newest_only);
  // Returns the oldest; it stays until it is removed.
  std::optional<Waiting> front();
  void remove(std::uint64_t number);

  std::size_t size() const { return files_.size(); }
  // Counts what was given up since the start, because the queue was full or a file malformed.
  std::uint64_t dropped() const { return dropped_; }

 private:
  struct File {
    std::uint64_t number = 0;
    std::string key;
    std::string incident;
  };

  explicit NotificationQueue(std::filesystem::path folder) : folder_(std::move(folder)) {}
  Status takeOver();
  std::filesystem::path pathOf(std::uint64_t number) const;
  Result<Notification> read(std::uint64_t number) const;
  void moveAside(std::uint64_t number, const Error& error);
  void erase(const std::deque<File>::iterator& file);

  std::filesystem::path folder_;
  std::deque<File> files_;  // by number
  std::uint64_t next_ = 1;
  std::uint64_t dropped_ = 0;
};

}  // namespace pingloom::controller
