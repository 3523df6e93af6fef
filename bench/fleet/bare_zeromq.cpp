#include "bare_zeromq.h"

#include <functional>
#include <string>
#include <thread>
#include <zmq.hpp>

#include "common/time.h"

namespace pingloom::bench {
namespace {

constexpr std::uint64_t kInFlight = 64;
constexpr int kMaxSilenceMs = 10'000;

void answerAll(zmq::socket_t& router, std::uint64_t frames) {
  zmq::message_t route;
  zmq::message_t frame;
  for (std::uint64_t i = 0; i < frames; ++i) {
    if (!router.recv(route) || !router.recv(frame)) return;
    (void)router.send(route, zmq::send_flags::sndmore);
    (void)router.send(zmq::str_buffer("acknowledged"));
  }
}

// Sends all frames, of which at most kInFlight have no answer yet.
Status sendAll(zmq::socket_t& dealer, const std::string& frame, std::uint64_t frames) {
  zmq::message_t answer;
  for (std::uint64_t i = 0; i < frames + kInFlight; ++i) {
    if (i < frames && !dealer.send(zmq::buffer(frame))) {
      return makeError("bare ZeroMQ", "a frame was not sent");
    }
    if (i >= kInFlight && !dealer.recv(answer)) {
      return makeError("bare ZeroMQ", "a frame was not answered");
    }
  }
  return {};
}

}  // namespace

Result<double> bareZeromq(std::size_t frame_bytes, std::uint64_t frames) {
  zmq::context_t context;
  zmq::socket_t router(context, zmq::socket_type::router);
  zmq::socket_t dealer(context, zmq::socket_type::dealer);
  for (zmq::socket_t* socket : {&router, &dealer}) {
    socket->set(zmq::sockopt::linger, 0);
    socket->set(zmq::sockopt::rcvtimeo, kMaxSilenceMs);
    socket->set(zmq::sockopt::sndtimeo, kMaxSilenceMs);
  }
  router.bind("tcp://127.0.0.1:*");
  dealer.connect(router.get(zmq::sockopt::last_endpoint));
  const Nanos start = monotonicNow();
  std::thread other(answerAll, std::ref(router), frames);
  const Status sent = sendAll(dealer, std::string(frame_bytes, 'x'), frames);
  const Nanos took = monotonicNow() - start;
  other.join();
  if (!sent) return tl::unexpected(sent.error());
  return static_cast<double>(frames) * kSecond / static_cast<double>(took);
}

}  // namespace pingloom::bench
