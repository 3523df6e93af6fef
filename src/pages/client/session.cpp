#include "pages/client/session.h"

#include <unistd.h>

#include <utility>

#include "pages/client/encoder.h"

namespace pingloom::pages::client {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kFirstDelay = 100ms;
constexpr std::chrono::milliseconds kMaxDelay = 5s;
constexpr auto kLongEnough = 5s;        // a connection that lasted this long resets the back-off
constexpr auto kAnswerTime = 10s;       // an agent that takes longer is stuck
constexpr auto kFullSocketTime = 10ms;  // time until the next attempt
constexpr std::size_t kMaxUnanswered = 32;

}  // namespace

Session::Session(std::string path, const std::string& application, const std::vector<Label>& labels)
    : path_(std::move(path)),
      backoff_(kFirstDelay.count(), kMaxDelay.count()),
      random_(static_cast<unsigned>(getpid()) ^
              static_cast<unsigned>(std::chrono::steady_clock::now().time_since_epoch().count())) {
  Encoder encoder;
  encoder.shortText(application);
  encoder.u8(static_cast<std::uint8_t>(labels.size()));
  for (const Label& label : labels) {
    encoder.shortText(label.name);
    encoder.text(label.value);
  }
  registration_ = encoder.take();
}

void Session::step(Instant now, const PageList& pages) {
  if (!connection_.isOpen()) {
    if (state_ == State::kDown && now < retry_at_) return;
    connect(now, pages);
  }
  takeAnswers(now, pages);
  if (connection_.isOpen()) tell(now, pages);
  if (broken_) hangUp(now, pages, {});
  if (!expected_.empty() && now - expected_.front().since > kAnswerTime) {
    hangUp(now, pages, {PINGLOOM_BAD_AGENT, path_ + ": the agent does not answer"});
  }
}

Instant Session::nextStep(Instant now) const {
  if (state_ == State::kDown) return retry_at_;
  return send_again_at_ > now ? send_again_at_ : now + 1s;
}

void Session::connect(Instant now, const PageList& pages) {
  state_ = State::kRegistering;
  if (std::string why = connection_.open(path_); !why.empty()) {
    hangUp(now, pages, {PINGLOOM_NO_AGENT, std::move(why)});
    return;
  }
  send(now, {MessageType::kRegister, 0, nullptr, 0, now}, registration_, -1);
}

void Session::hangUp(Instant now, const PageList& pages, Outcome trouble) {
  if (!trouble.ok()) troubles_.push_back(std::move(trouble));
  if (registered() && now - registered_at_ >= kLongEnough) backoff_.reset();
  connection_.close();
  expected_.clear();
  releases_.clear();
  broken_ = slow_ = false;
  state_ = State::kDown;
  if (request_.waiting()) request_.state = PageRequest::State::kUnavailable;
  request_.known = false;
  for (const auto& page : pages) page->forget(now);
  // Half of the delay is random, so that the processes of a host do not all reconnect at once.
  const std::int64_t half = backoff_.fail() / 2;
  retry_at_ = now + std::chrono::milliseconds(
                        half + std::uniform_int_distribution<std::int64_t>(0, half)(random_));
}

void Session::takeAnswers(Instant now, const PageList& pages) {
  while (connection_.isOpen() && !broken_) {
    Answer answer;
    const Received received = connection_.receive(&answer);
    if (received == Received::kNothing) return;
    if (received == Received::kEnd) return hangUp(now, pages, {});
    if (received == Received::kBroken || !accept(now, &answer)) {
      return hangUp(now, pages, {PINGLOOM_BAD_AGENT, path_ + ": what the agent sent is no answer"});
    }
  }
}

bool Session::send(Instant now, const Expected& message, const std::vector<std::uint8_t>& body,
                   int fd) {
  if (expected_.size() >= kMaxUnanswered) return false;
  const auto sent = connection_.send(message.type, message.number, body, fd);
  if (sent == Connection::Sent::kLater) send_again_at_ = now + kFullSocketTime;
  if (sent == Connection::Sent::kNo) broken_ = true;
  if (sent != Connection::Sent::kYes) return false;
  if (message.type != MessageType::kRelease) expected_.push_back(message);
  return true;
}

void Session::tell(Instant now, const PageList& pages) {
  if (now < send_again_at_) return;
  if (state_ == State::kRegistering && expected_.empty()) {  // the socket was full
    send(now, {MessageType::kRegister, 0, nullptr, 0, now}, registration_, -1);
  }
  if (!registered()) return;
  while (!releases_.empty()) {
    if (!send(now, {MessageType::kRelease, releases_.back(), nullptr, 0, now}, {}, -1)) return;
    releases_.pop_back();
  }
  if (request_.state == PageRequest::State::kWanted) {
    Encoder encoder;
    encoder.u16(request_.flags);
    if (!send(now, {MessageType::kPage, request_.number, nullptr, 0, now}, encoder.take(), -1)) {
      return;
    }
    request_.state = PageRequest::State::kAsked;
  }
  const bool again = now >= ask_again_at_;
  for (const auto& page : pages) {
    if (again && page->standing() == Standing::kRefused) page->setStanding(Standing::kUnknown);
    if (!tellPage(now, page.get())) return;
  }
}

bool Session::tellPage(Instant now, Page* page) {
  if (page->standing() == Standing::kUnknown && page->fd() >= 0) {
    Encoder encoder;
    encoder.u16(page->flags());
    if (!send(now, {MessageType::kAdopt, page->number(), page, 0, now}, encoder.take(),
              page->fd())) {
      return false;
    }
    page->setStanding(Standing::kAsked);
  }
  while (const auto news = page->news()) {
    const MessageType type = news->removed ? MessageType::kRemove : MessageType::kDefine;
    if (!send(now, {type, page->number(), page, news->number, now},
              page->metric(news->number).encode(), -1)) {
      return false;
    }
    page->told();
  }
  return true;
}

void Session::request(std::uint32_t number, std::uint16_t flags) {
  request_ = PageRequest{};
  request_.number = number;
  request_.flags = flags;
  request_.state = PageRequest::State::kWanted;
}

void Session::endRequest() {
  if (request_.state == PageRequest::State::kAsked) slow_ = true;
  request_ = PageRequest{};
}

void Session::startAnew(Instant first_connection) {
  connection_.close();
  expected_.clear();
  releases_.clear();
  troubles_.clear();
  request_ = PageRequest{};
  broken_ = slow_ = false;
  state_ = State::kDown;
  owner_ = 0;
  backoff_.reset();
  retry_at_ = first_connection;
  send_again_at_ = ask_again_at_ = Instant{};
  random_.seed(static_cast<unsigned>(getpid()));
}

}  // namespace pingloom::pages::client
