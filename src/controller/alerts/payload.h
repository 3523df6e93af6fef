// What each kind of target is sent; docs/alerts.md has the fields. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "controller/alerts/notification.h"

namespace pingloom::controller {

// An Alertmanager ends an alert by itself this long after the last time that it heard of it.
constexpr Nanos kAlertEndsAfter = 5 * kMinute;

// The body of POST /api/v2/alerts.
std::string alertmanagerBody(const Notification& notification, Nanos now_utc);
// The payload of Alertmanager's webhooks, version 4, for webhooks and commands.
std::string webhookBody(const Notification& notification, std::string_view target);
// An event of PagerDuty's Events API v2.
std::string pagerdutyBody(const Notification& notification, std::string_view routing_key);
std::string slackBody(const Notification& notification);

}  // namespace pingloom::controller
