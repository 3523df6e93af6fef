#include "bare_zeromq.h"

#include <array>
#include <functional>
#include <string>
#include <thread>
#include <zmq.hpp>

#include "common/time.h"

namespace pingloom::bench {
namespace {

constexpr std::uint64_t kInFlight = 64;

void answerAll(zmq::socket_t& router, std::uint64_t frames) {
  zmq::message_t route;
  zmq::message_t frame;
  for (std::uint64_t i = 0; i < frames; ++i) {
    (void)router.recv(route);
    (void)router.recv(frame);
    router.send(route, zmq::send_flags::sndmore);
    router.send(zmq::str_buffer("acknowledged"));
  }
}

}  // namespace

double bareZeromq(std::size_t frame_bytes, std::uint64_t frames) {
  zmq::context_t context;
  zmq::socket_t router(context, zmq::socket_type::router);
  zmq::socket_t dealer(context, zmq::socket_type::dealer);
  for (zmq::socket_t* socket : {&router, &dealer}) socket->set(zmq::sockopt::linger, 0);
  router.bind("tcp://127.0.0.1:*");
  dealer.connect(router.get(zmq::sockopt::last_endpoint));
  const std::string frame(frame_bytes, 'x');
  std::array<char, 32> answer{};
  const Nanos start = monotonicNow();
  std::thread other(answerAll, std::ref(router), frames);
  for (std::uint64_t i = 0; i < frames; ++i) {
    dealer.send(zmq::buffer(frame));
    if (i >= kInFlight) (void)dealer.recv(zmq::buffer(answer));
  }
  other.join();
  return static_cast<double>(frames) / (static_cast<double>(monotonicNow() - start) / 1e9);
}

}  // namespace pingloom::bench
