// The part of Session that handles the agent's answers, which are hostile until they match a
// request.
#include <utility>

#include "pages/client/session.h"

namespace pingloom::pages::client {

namespace {

constexpr auto kAskAgain = std::chrono::seconds(30);

MessageType answerTo(MessageType asked) {
  switch (asked) {
    case MessageType::kRegister:
      return MessageType::kRegistered;
    case MessageType::kDefine:
      return MessageType::kDefined;
    case MessageType::kRemove:
      return MessageType::kRemoved;
    default:
      return MessageType::kGranted;
  }
}

}  // namespace

bool Session::accept(Instant now, Answer* answer) {
  if (expected_.empty()) return false;
  const Expected asked = expected_.front();
  expected_.pop_front();
  slow_ = false;
  if (answer->page != asked.number) return false;
  const bool wants_descriptor =
      asked.type == MessageType::kPage && answer->type == MessageType::kGranted;
  if (answer->fd.valid() != wants_descriptor) return false;
  if (answer->type == MessageType::kRefused) {
    acceptRefusal(now, asked, *answer);
    return true;
  }
  if (answer->type != answerTo(asked.type)) return false;
  if (asked.type == MessageType::kRegister) {
    state_ = State::kRegistered;
    registered_at_ = now;
    owner_ = answer->owner;
  } else if (asked.type == MessageType::kDefine) {
    asked.page->metricKnown(asked.metric);
  } else if (asked.type == MessageType::kRemove) {
    asked.page->metricRemoved(asked.metric, now);
  } else if (asked.type == MessageType::kAdopt) {
    asked.page->belongsTo(owner_, answer->generation);
  } else {
    return acceptGrant(asked, answer);
  }
  return true;
}

bool Session::acceptGrant(const Expected& asked, Answer* answer) {
  PageMemory memory = PageMemory::take(std::move(answer->fd));
  if (memory.page() == nullptr) return false;
  if (request_.state != PageRequest::State::kAsked || request_.number != asked.number) {
    releases_.push_back(asked.number);
    return true;
  }
  request_.memory = std::move(memory);
  request_.generation = answer->generation;
  request_.known = true;
  request_.state = PageRequest::State::kGranted;
  return true;
}

void Session::acceptRefusal(Instant now, const Expected& asked, const Answer& answer) {
  ++refused_;
  std::string what = "this process";
  if (asked.type == MessageType::kDefine) {
    what = "metric " + asked.page->metric(asked.metric).name;
    asked.page->metricRefused(asked.metric, now);
  } else if (asked.type == MessageType::kRemove) {
    what = "to remove metric " + asked.page->metric(asked.metric).name;
  } else if (asked.type != MessageType::kRegister) {
    what = "a page";
  }
  Outcome trouble{answer.refusal == Refusal::kQuota ? PINGLOOM_QUOTA : PINGLOOM_REFUSED,
                  "the agent refuses " + what + ": " + answer.why};
  // An agent that does not remove a metric, because it is too old or knows something else, forgets
  // it when the connection ends. The next connection defines what is left.
  if (asked.type == MessageType::kRegister || asked.type == MessageType::kRemove) broken_ = true;
  if (asked.type == MessageType::kAdopt) {
    asked.page->setStanding(Standing::kRefused);
    ask_again_at_ = now + kAskAgain;
  }
  if (asked.type == MessageType::kPage && request_.state == PageRequest::State::kAsked &&
      request_.number == asked.number) {
    // The waiting thread reports the refusal or continues with its own memory.
    const bool later = answer.refusal == Refusal::kUnavailable;
    request_.state = later ? PageRequest::State::kUnavailable : PageRequest::State::kRefused;
    request_.why = trouble.text;
  }
  troubles_.push_back(std::move(trouble));
}

}  // namespace pingloom::pages::client
