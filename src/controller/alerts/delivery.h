// One attempt to deliver a notification to one place. Any thread; it blocks for at most
// kDeliveryTimeout.
#pragma once

#include <atomic>
#include <string>

#include "common/time.h"
#include "controller/alerts/notification.h"
#include "controller/alerts/target.h"

namespace pingloom::controller {

constexpr Nanos kDeliveryTimeout = 10 * kSecond;

struct DeliveryResult {
  bool delivered = false;
  bool permanent = false;  // the target will never take this notification
  // HTTP's status code; 0 where there was no answer.
  unsigned status = 0;
  std::string answer;  // the beginning of what came back; at most kMaxShownAnswer
  std::string error;   // "" when it was delivered; never contains a secret
};
constexpr std::size_t kMaxShownAnswer = 500;

// Returns how a place is called in logs and answers: scheme and host of a URL, because its path may
// be a secret, or the command's path. `url` is "" where the target has none.
std::string placeName(const AlertTarget& target, const std::string& url);

DeliveryResult deliver(const AlertTarget& target, const std::string& url,
                       const Notification& notification, const std::atomic<bool>& cancelled);

}  // namespace pingloom::controller
