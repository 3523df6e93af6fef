#include "net/gate_keeper.h"

#include <pthread.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/address.h"
#include "common/log.h"
#include "net/zmq_calls.h"

namespace pingloom::net {
namespace {

constexpr const char* kQuestions = "inproc://zeromq.zap.01";
constexpr int kWantedEvents = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED |
                              ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                              ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
constexpr std::size_t kMaxFrames = 16;

// All frames of a message, of which those behind kMaxFrames are dropped.
std::vector<std::string> receiveAll(zmq::socket_t& socket) {
  std::vector<std::string> frames;
  zmq::message_t frame;
  do {
    (void)zmqUninterrupted([&] { return socket.recv(frame); });
    if (frames.size() < kMaxFrames) frames.push_back(frame.to_string());
  } while (frame.more());
  return frames;
}

std::string peerOf(int descriptor) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  auto* named = reinterpret_cast<sockaddr*>(&address);
  if (::getpeername(descriptor, named, &size) != 0) return "";
  if (address.ss_family != AF_INET && address.ss_family != AF_INET6) return "";
  return IpAddress::fromSockaddr(named).text();
}

std::optional<PeerRefusal> reasonOf(const ZmqMonitor::Event& event) {
  if (event.kind == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL) return PeerRefusal::kHungUp;
  if (event.kind != ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL) return std::nullopt;
  if (event.value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH) return PeerRefusal::kNoCurve;
  if (event.value == ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC) return PeerRefusal::kWrongServerKey;
  return PeerRefusal::kMalformed;
}

}  // namespace

GateKeeper::GateKeeper(zmq::context_t& context, zmq::socket_t& router,
                       std::shared_ptr<PeerGate> gate, bool plaintext)
    : context_(context),
      gate_(std::move(gate)),
      plaintext_(plaintext),
      questions_(context, zmq::socket_type::rep),
      handshakes_(std::in_place, context, router, kWantedEvents) {
  questions_.set(zmq::sockopt::linger, 0);
  questions_.bind(kQuestions);
}

Result<std::unique_ptr<GateKeeper>> GateKeeper::start(zmq::context_t& context,
                                                      zmq::socket_t& router,
                                                      std::shared_ptr<PeerGate> gate,
                                                      bool plaintext) {
  std::unique_ptr<GateKeeper> made;
  auto status = zmqCall("keys", "cannot watch handshakes", [&] {
    made.reset(new GateKeeper(context, router, std::move(gate), plaintext));
  });
  if (!status) return tl::unexpected(status.error());
  made->thread_ = std::thread([keeper = made.get()] { keeper->run(); });
  return made;
}

GateKeeper::~GateKeeper() {
  if (thread_.joinable()) thread_.join();
}

void GateKeeper::run() {
  pthread_setname_np(pthread_self(), "gate");
  try {
    answerUntilFailure();
  } catch (const zmq::error_t& error) {
    // Without this thread libzmq would admit every peer, so the ROUTER is made to hear none.
    if (error.num() != ETERM) {
      log::error("keys: peers can no longer be checked ({}); nobody is heard until a restart",
                 error.what());
      context_.shutdown();
    }
  }
  // The context cannot end before its sockets are closed.
  questions_.close();
  handshakes_.reset();
}

void GateKeeper::answerUntilFailure() {
  for (;;) {
    std::array<zmq::pollitem_t, 2> items = {{{questions_.handle(), 0, ZMQ_POLLIN, 0},
                                             {handshakes_->socket().handle(), 0, ZMQ_POLLIN, 0}}};
    zmqUninterrupted([&] { return zmq::poll(items, std::chrono::milliseconds(-1)); });
    // Events come first, because libzmq's thread waits for their queue when it is full. A question
    // does not need them: it names its peer itself.
    if ((items[1].revents & ZMQ_POLLIN) != 0) takeEvent();
    if ((items[0].revents & ZMQ_POLLIN) != 0) answerQuestion();
  }
}

// Frames: version, request id, domain, address, routing id, mechanism, credentials.
void GateKeeper::answerQuestion() {
  const auto question = receiveAll(questions_);
  constexpr std::size_t kFrames = 7;
  std::string_view status = "400";
  std::string user;
  const bool sane = question.size() == kFrames && question[0] == "1.0" && question[5] == "CURVE" &&
                    question[6].size() == CurveKey::kBytes;
  const std::string peer = question.size() > 3 ? question[3] : "";
  // A listener that encrypts has refused this mechanism already.
  const bool plain =
      plaintext_ && question.size() == kFrames - 1 && question[0] == "1.0" && question[5] == "NULL";
  if (plain) {
    status = "200";
  } else if (sane) {
    const auto key = CurveKey::fromWire(question[6]);
    const auto refused = gate_->verdict(*key);
    if (refused) {
      gate_->refuse(*refused, peer, "public key " + std::string(key->text()), monotonicNow());
    } else {
      status = "200";
      user = key->text();
    }
  } else {
    gate_->refuse(PeerRefusal::kMalformed, peer, "", monotonicNow());
  }
  const std::string id = question.size() > 1 ? question[1] : "";
  const std::array<std::string_view, 6> answer = {
      "1.0", id, status, status == "200" ? "OK" : "not authorised", user, ""};
  for (std::size_t i = 0; i < answer.size(); ++i) {
    auto flags = zmq::send_flags::dontwait;
    if (i + 1 < answer.size()) flags = flags | zmq::send_flags::sndmore;
    const auto sent =
        zmqUninterrupted([&] { return questions_.send(zmq::buffer(answer[i]), flags); });
    if (!sent) throw zmq::error_t(EAGAIN);
  }
}

// libzmq's I/O thread reports a connection whose handshake fails twice: first why, and next that
// its descriptor is closed.
void GateKeeper::takeEvent() {
  const auto event = handshakes_->take();
  if (!event) return;
  const int descriptor = static_cast<int>(event->value);
  switch (event->kind) {
    case ZMQ_EVENT_ACCEPTED:
      // If the descriptor is closed already, this is no address or that of the next connection.
      peers_[descriptor] = peerOf(descriptor);
      break;
    case ZMQ_EVENT_DISCONNECTED:
      if (failed_) gate_->refuse(*failed_, peers_[descriptor], "", monotonicNow());
      failed_.reset();
      peers_.erase(descriptor);
      break;
    default:  // a refused key has been counted by answerQuestion()
      failed_ = reasonOf(*event);
      break;
  }
}

}  // namespace pingloom::net
