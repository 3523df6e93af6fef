#include "translator/store_session.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "common/log.h"

namespace pingloom::translator {

Result<std::unique_ptr<StoreSession>> StoreSession::create(SessionOptions options,
                                                           rdma::Device& device,
                                                           net::ZmqContext& context,
                                                           Counters& counters) {
  std::unique_ptr<StoreSession> made(new StoreSession(std::move(options), context, counters));
  auto domain = device.createDomain();
  if (!domain) return tl::unexpected(domain.error());
  made->domain_ = std::move(*domain);
  return made;
}

int StoreSession::writerDescriptor() const {
  return writer_ != nullptr && state_ >= State::kConnecting ? writer_->descriptor() : -1;
}

Shadow* StoreSession::shadow() { return restored_ ? shadow_.get() : nullptr; }

void StoreSession::flush(const store::WriterStatus& status) {
  if (serving()) writer_->flush(status);
}

void StoreSession::flushLists(store::ListFlush which) {
  if (serving()) writer_->flushLists(which);
}

void StoreSession::openLink(Nanos now) {
  link_opened_ = now;
  asked_ = 0;
  net::DealerOptions options;
  options.source = options_.source;
  options.largest = store::kMaxReplyBytes;
  options.curve = options_.curve;
  if (auto opened = link_.open(context_, options_.collector, options); !opened) {
    restart(now, opened.error());
  }
}

void StoreSession::restart(Nanos now, const Error& why) {
  ++counters_.failures;
  counters_.connected = false;
  writer_.reset();
  asked_ = 0;
  state_ = State::kWaiting;
  resume_ = now + backoff_.fail();
  report(why);
}

void StoreSession::report(const Error& why) {
  if (std::exchange(said_, why.reason) == why.reason) return;
  log::warning("collector {}: {}; trying again", options_.collector, why.text());
}

void StoreSession::work(Nanos now) {
  if (link_opened_ == 0 || (!link_.connected() && now - link_opened_ >= kReopenAfter)) {
    openLink(now);
  }
  takeReplies(now);
  if (asked_ != 0 && now - asked_ >= kAnswerWithin) {
    openLink(now);  // what is on its way may be an answer to an earlier request
    restart(now, {options_.collector, "does not answer"});
  }
  step(now);
  setWake(now);
}

void StoreSession::step(Nanos now) {
  if (state_ == State::kWaiting && now >= resume_) state_ = State::kLinking;
  if (state_ == State::kLinking) {
    if (link_.connected()) {
      ask(now);
    } else if (now - link_opened_ >= kAnswerWithin) {
      report({options_.collector, options_.curve ? "cannot be reached, or does not take our key"
                                                 : "cannot be reached"});
    }
  }
  if (state_ != State::kConnecting && state_ != State::kServing) return;
  if (auto polled = writer_->poll(); !polled) return restart(now, polled.error());
  if (state_ == State::kConnecting && !writer_->connecting()) serve(now);
  if (state_ != State::kServing) return;
  if (!restored_ && !writer_->restoring()) {
    restored_ = true;
    backoff_.reset();
  }
  if (asked_ == 0 && now >= next_ask_) ask(now);
}

// Asks for a connection, or gives a sign of life for the one that there is.
void StoreSession::ask(Nanos now) {
  next_ask_ = now + store::kKeepAlive;
  if (writer_ == nullptr) {
    auto writer = StoreWriter::create(*domain_, counters_);
    if (!writer) return restart(now, writer.error());
    writer_ = std::move(*writer);
  }
  const store::ConnectRequest request{options_.name, options_.incarnation, writer_->address()};
  if (!link_.send(store::encodeRequest(request), {})) return;  // it connects again by itself
  asked_ = now;
  if (state_ == State::kLinking) state_ = State::kAsking;
}

void StoreSession::takeReplies(Nanos now) {
  std::string frame;
  while (link_.isOpen()) {
    const auto received = link_.receive(frame);
    if (received == net::ZmqDealer::Received::kNothing) return;
    auto reply =
        received == net::ZmqDealer::Received::kMessage
            ? store::decodeReply(frame)
            : Result<store::ConnectReply>(makeError("the collector's answer", "is malformed"));
    if (asked_ == 0) continue;  // it was given up
    asked_ = 0;
    const Status taken = reply ? take(*reply, now) : tl::unexpected(reply.error());
    if (!taken) return restart(now, taken.error());
  }
}

Status StoreSession::take(const store::ConnectReply& reply, Nanos now) {
  if (const auto* refused = std::get_if<store::Refused>(&reply)) {
    return makeError("refuses", refused->reason);
  }
  const auto* answer = std::get_if<store::Connected>(&reply);
  if (answer == nullptr) return makeError("the collector's answer", "is not what was asked for");
  const store::Connected& connected = *answer;
  if (state_ == State::kAsking) return takeConnected(connected, now);
  // The answer to a sign of life. Another epoch means that the collector has made a new endpoint.
  if (connected.head.epoch != epoch_) return makeError("", "the collector has restarted");
  return {};
}

Status StoreSession::takeConnected(const store::Connected& connected, Nanos now) {
  epoch_ = connected.head.epoch;
  if (shadow_ == nullptr || !shadow_->matches(connected.head)) {
    restored_ = false;
    shadow_.reset();
    auto made = Shadow::create(connected.head, *domain_);
    if (!made) return tl::unexpected(made.error());
    shadow_ = std::move(*made);
  }
  if (auto started = writer_->connect(connected); !started) return started;
  state_ = State::kConnecting;
  if (!writer_->connecting()) serve(now);
  return {};
}

void StoreSession::serve(Nanos now) {
  state_ = State::kServing;
  next_ask_ = now + store::kKeepAlive;
  ++counters_.connects;
  counters_.connected = true;
  said_.clear();
  log::info("writing into store '{}' of collector {}: {} tables, epoch {}", options_.name,
            options_.collector, shadow_->tables().size(), epoch_);
  writer_->serve(*shadow_, !restored_);
}

void StoreSession::setWake(Nanos now) {
  wake_ = now + kSecond;
  if (link_.isOpen() && link_.readable()) wake_ = now;
  if (asked_ != 0) wake_ = std::min(wake_, asked_ + kAnswerWithin);
  if (state_ == State::kWaiting) wake_ = std::min(wake_, resume_);
  if (state_ >= State::kConnecting) wake_ = std::min(wake_, writer_->nextWake());
}

}  // namespace pingloom::translator
