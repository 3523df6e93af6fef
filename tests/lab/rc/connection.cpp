#include "connection.h"

#include <poll.h>

#include <algorithm>
#include <array>

#include "check.h"

namespace pingloom::lab {

void Connection::connect(const rdma::RcOptions& asking, const rdma::RcOptions& answering) {
  asker_.makeEndpoint(asking);
  answerer_.makeEndpoint(answering);
  // The answerer first: it has to know whom it answers.
  for (const auto& [one, other] :
       {std::pair<Host*, Host*>(&answerer_, &asker_), {&asker_, &answerer_}}) {
    if (auto connected = one->endpoint().connect(other->endpoint().address()); !connected) {
      fail(connected.error().text());
    }
  }
}

rdma::RcRequest Connection::request(const Transfer& transfer, std::uint64_t id) {
  piece_ = {&asker_.region(), asker_.memory().subspan(transfer.local, transfer.bytes)};
  rdma::RcRequest made;
  made.operation = transfer.operation;
  made.id = id;
  made.local = {&piece_, 1};
  made.remote_address = answerer_.region().address() + transfer.remote;
  made.rkey = answerer_.region().rkey();
  return made;
}

void Connection::post(const rdma::RcRequest& request) {
  const rdma::PostResult posted = asker_.endpoint().post(request);
  require(
      posted == rdma::PostResult::kPosted,
      fmt::format("{}: not posted ({}); {}", name(), static_cast<int>(posted), asker_.whyFailed()));
}

bool Connection::until(const std::function<bool()>& holds, Nanos limit) {
  const Nanos deadline = monotonicNow() + limit;
  asker_.endpoint().flush();
  for (;;) {
    asker_.poll();
    answerer_.poll();
    if (holds()) return true;
    const Nanos now = monotonicNow();
    if (now >= deadline) return false;
    const Nanos due = std::min(asker_.endpoint().nextWake(), answerer_.endpoint().nextWake());
    const Nanos wait = std::clamp<Nanos>(due - now, 0, deadline - now);
    std::array<pollfd, 2> readable = {{{asker_.endpoint().descriptor(), POLLIN, 0},
                                       {answerer_.endpoint().descriptor(), POLLIN, 0}}};
    const timespec timeout = {wait / kSecond, wait % kSecond};
    ::ppoll(readable.data(), readable.size(), &timeout, nullptr);
  }
}

void Connection::untilDone(std::size_t count) {
  require(until([&] { return asker_.done().size() >= count; }),
          fmt::format("{}: {} of {} done; {} {}", name(), asker_.done().size(), count,
                      asker_.whyFailed(), answerer_.whyFailed()));
}

}  // namespace pingloom::lab
