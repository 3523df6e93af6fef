#include "report/client/outbox.h"

#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "report/client/clock.h"
#include "wire/big_endian.h"

namespace pingloom::report::client {
namespace {

std::uint32_t randomNumber() {
  std::uint32_t number = 0;
  if (getrandom(&number, sizeof number, 0) == sizeof number) return number;
  return static_cast<std::uint32_t>(utcNanos());
}

// Whether the error is an ICMP error for an earlier datagram.
bool isBounce(int error) {
  return error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH;
}

std::uint16_t reportsIn(std::span<const std::uint8_t> datagram) {
  return wire::loadBe16(datagram.data() + wire::kReportCountOffset);
}

}  // namespace

int Outbox::open(const SocketName& translator) {
  if (kept_ != nullptr) kept_->clear();
  credit_.forget();
  listen_until_ = 0;
  status_ = {};
  last_sent_ = 0;
  sequence_ = 0;
  incarnation_ = randomNumber();
  const int family = translator.address.ss_family;
  socket_.reset(::socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket_.valid()) return errno;
  const auto* to = reinterpret_cast<const sockaddr*>(&translator.address);
  return ::connect(socket_.get(), to, translator.length) == 0 ? 0 : errno;
}

wire::ReportHead Outbox::head() const {
  wire::ReportHead head;
  head.flags = options_.keeps ? wire::kReportKeeps : 0;
  head.reporter = options_.reporter;
  head.incarnation = incarnation_;
  return head;
}

void Outbox::add(std::span<std::uint8_t> datagram, std::int64_t now) {
  if (kept_ == nullptr) {
    if (!send(datagram)) drop(datagram);
    return;
  }
  if (kept_->full()) {
    drop(kept_->oldest());
    kept_->drop();
  }
  kept_->add(datagram);
  if (sequence_ % kLookEvery == 0) takeReplies(now);
  sendWaiting(now);
  if (!kept_->hasWaiting()) return;
  takeReplies(now);
  sendWaiting(now);
}

void Outbox::work(std::int64_t now) {
  takeReplies(now);
  sendWaiting(now);
}

void Outbox::sendAll() {
  credit_.forget();
  sendWaiting(monotonicNanos());
}

void Outbox::sendWaiting(std::int64_t now) {
  while (kept_ != nullptr && kept_->hasWaiting() && credit_.takeOne(sequence_ + 1, now)) {
    const auto datagram = kept_->oldest();
    if (send(datagram)) {
      kept_->sent(sequence_);
      listen_until_ = now + kListen;
    } else {
      drop(datagram);
      kept_->drop();
    }
  }
}

// Gives the datagram the next sequence if it leaves.
bool Outbox::send(std::span<std::uint8_t> datagram) {
  // A call may fail once because of the datagram before, so it is made twice.
  for (int attempt = 0; attempt < 2; ++attempt) {
    wire::storeBe32(datagram.data() + wire::kReportSequenceOffset, sequence_ + 1);
    wire::storeBe32(datagram.data() + wire::kReportSkippedOffset,
                    static_cast<std::uint32_t>(status_.skipped));
    seal(datagram);
    if (::send(socket_.get(), datagram.data(), datagram.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
      ++sequence_;
      ++status_.datagrams;
      last_sent_ = reportsIn(datagram);
      status_.sent += last_sent_;
      return true;
    }
    status_.last_error = errno;
    if (!isBounce(errno)) return false;
    takeBounce(errno);
  }
  return false;
}

void Outbox::seal(std::span<std::uint8_t> datagram) const {
  if (options_.key) wire::writeSeal(*options_.key, datagram);
}

// An ICMP error tells that the datagram before did not reach anybody.
void Outbox::takeBounce(int error) {
  status_.last_error = error;
  status_.sent -= last_sent_;
  status_.skipped += last_sent_;
  last_sent_ = 0;
}

void Outbox::drop(std::span<const std::uint8_t> datagram) {
  status_.skipped += reportsIn(datagram);
}

void Outbox::takeReplies(std::int64_t now) {
  if (kept_ == nullptr) return;
  std::array<std::uint8_t, wire::kMaxReportReplyBytes + 1> bytes{};
  for (int i = 0; i < kMaxReplies; ++i) {
    const auto got = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0) {
      if (isBounce(errno)) takeBounce(errno);
      return;
    }
    const auto reply = wire::parseReportReply(std::span(bytes).first(static_cast<std::size_t>(got)),
                                              options_.key ? &*options_.key : nullptr);
    if (!reply || reply->reporter != options_.reporter || reply->incarnation != incarnation_) {
      continue;
    }
    credit_.grant(reply->until, now);
    // Ranges may overlap, so that they ask for a datagram many times.
    std::size_t most = kept_->datagrams();
    for (std::size_t r = 0; r < reply->ranges; ++r) most -= sendAgain(reply->missing[r], most);
  }
}

std::size_t Outbox::sendAgain(const wire::ReportRange& range, std::size_t most) {
  std::size_t sent = 0;
  const auto count = std::min<std::uint64_t>(range.count, kept_->datagrams());
  for (std::uint32_t i = 0; i < count && sent < most; ++i) {
    const auto datagram = kept_->find(range.first + i);
    if (datagram.empty()) continue;
    datagram[wire::kReportFlagsOffset] |= wire::kReportAgain;
    seal(datagram);
    if (::send(socket_.get(), datagram.data(), datagram.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
      break;  // the translator asks again
    }
    ++status_.repeated;
    ++sent;
  }
  return sent;
}

pingloom_reporter_status Outbox::status() {
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error != 0) {
    takeBounce(error);
  }
  return status_;
}

}  // namespace pingloom::report::client
