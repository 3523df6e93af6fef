#include "bare_zeromq.h"

#include <zmq.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "common/time.h"

namespace pingloom::bench {
namespace {

constexpr std::uint64_t kInFlight = 64;

void answerAll(void* router, std::uint64_t frames) {
  std::array<char, 32> route{};
  for (std::uint64_t i = 0; i < frames; ++i) {
    const int size = zmq_recv(router, route.data(), route.size(), 0);
    zmq_msg_t frame;
    zmq_msg_init(&frame);
    zmq_msg_recv(&frame, router, 0);
    zmq_msg_close(&frame);
    zmq_send(router, route.data(), static_cast<std::size_t>(size), ZMQ_SNDMORE);
    zmq_send(router, "acknowledged", 12, 0);
  }
}

}  // namespace

double bareZeromq(std::size_t frame_bytes, std::uint64_t frames) {
  void* context = zmq_ctx_new();
  void* router = zmq_socket(context, ZMQ_ROUTER);
  void* dealer = zmq_socket(context, ZMQ_DEALER);
  zmq_bind(router, "tcp://127.0.0.1:*");
  std::array<char, 128> endpoint{};
  std::size_t size = endpoint.size();
  zmq_getsockopt(router, ZMQ_LAST_ENDPOINT, endpoint.data(), &size);
  zmq_connect(dealer, endpoint.data());
  const std::string frame(frame_bytes, 'x');
  std::array<char, 32> answer{};
  const Nanos start = monotonicNow();
  std::thread other(answerAll, router, frames);
  for (std::uint64_t i = 0; i < frames; ++i) {
    zmq_send(dealer, frame.data(), frame.size(), 0);
    if (i >= kInFlight) zmq_recv(dealer, answer.data(), answer.size(), 0);
  }
  other.join();
  const double seconds = static_cast<double>(monotonicNow() - start) / 1e9;
  const int linger = 0;
  for (void* socket : {dealer, router}) {
    zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger);
    zmq_close(socket);
  }
  zmq_ctx_term(context);
  return static_cast<double>(frames) / seconds;
}

}  // namespace pingloom::bench
