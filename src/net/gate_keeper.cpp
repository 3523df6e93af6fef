#include "net/gate_keeper.h"

#include <pthread.h>
#include <sys/socket.h>
#include <zmq.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "common/address.h"
#include "common/log.h"

namespace pingloom::net {
namespace {

constexpr const char* kQuestions = "inproc://zeromq.zap.01";
constexpr const char* kEvents = "inproc://handshakes";
constexpr int kWantedEvents = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED |
                              ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                              ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
constexpr std::size_t kMaxFrames = 16;

// All frames of a message; nullopt: the context ends.
std::optional<std::vector<std::string>> receiveAll(void* socket) {
  std::vector<std::string> frames;
  for (bool more = true; more;) {
    zmq_msg_t frame;
    zmq_msg_init(&frame);
    if (zmq_msg_recv(&frame, socket, 0) < 0) {
      const int why = zmq_errno();
      zmq_msg_close(&frame);
      if (why == EINTR) continue;
      errno = why;
      return std::nullopt;
    }
    more = zmq_msg_more(&frame) != 0;
    if (frames.size() < kMaxFrames) {
      frames.emplace_back(static_cast<const char*>(zmq_msg_data(&frame)), zmq_msg_size(&frame));
    }
    zmq_msg_close(&frame);
  }
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

std::optional<PeerRefusal> reasonOf(std::uint16_t event, std::uint32_t value) {
  if (event == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL) return PeerRefusal::kHungUp;
  if (event != ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL) return std::nullopt;
  if (value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH) return PeerRefusal::kNoCurve;
  if (value == ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC) return PeerRefusal::kWrongServerKey;
  return PeerRefusal::kMalformed;
}

}  // namespace

void GateKeeper::Close::operator()(void* socket) const { zmq_close(socket); }

Result<std::unique_ptr<GateKeeper>> GateKeeper::start(void* context, void* router,
                                                      std::shared_ptr<PeerGate> gate) {
  std::unique_ptr<GateKeeper> made(new GateKeeper(context, std::move(gate)));
  if (auto status = made->open(context, router); !status) return tl::unexpected(status.error());
  made->thread_ = std::thread([keeper = made.get()] { keeper->run(); });
  return made;
}

GateKeeper::~GateKeeper() {
  if (thread_.joinable()) thread_.join();
}

Status GateKeeper::open(void* context, void* router) {
  questions_.reset(zmq_socket(context, ZMQ_REP));
  events_.reset(zmq_socket(context, ZMQ_PAIR));
  const int none = 0;
  const bool done = questions_ != nullptr && events_ != nullptr &&
                    zmq_setsockopt(questions_.get(), ZMQ_LINGER, &none, sizeof none) == 0 &&
                    zmq_bind(questions_.get(), kQuestions) == 0 &&
                    zmq_socket_monitor(router, kEvents, kWantedEvents) == 0 &&
                    zmq_connect(events_.get(), kEvents) == 0;
  if (!done) return makeError("keys", zmq_strerror(zmq_errno()));
  return {};
}

void GateKeeper::run() {
  pthread_setname_np(pthread_self(), "gate");
  for (;;) {
    std::array<zmq_pollitem_t, 2> items = {
        {{questions_.get(), 0, ZMQ_POLLIN, 0}, {events_.get(), 0, ZMQ_POLLIN, 0}}};
    if (zmq_poll(items.data(), items.size(), -1) < 0) {
      if (zmq_errno() == EINTR) continue;
      break;
    }
    // Events first: they name the address that a question's connection comes from no better than
    // the question does, and their queue is what libzmq's thread waits for when it is full.
    if ((items[1].revents & ZMQ_POLLIN) != 0 && !takeEvent()) break;
    if ((items[0].revents & ZMQ_POLLIN) != 0 && !answerQuestion()) break;
  }
  // Without this thread libzmq lets everybody in: then rather nobody.
  const int why = zmq_errno();
  if (why != ETERM) {
    log::error("keys: peers cannot be checked any more ({}); nobody is heard until a restart",
               zmq_strerror(why));
    zmq_ctx_shutdown(context_);
  }
  questions_.reset();
  events_.reset();
}

// Frames: version, request id, domain, address, routing id, mechanism, credentials.
bool GateKeeper::answerQuestion() {
  const auto question = receiveAll(questions_.get());
  if (!question) return false;
  constexpr std::size_t kFrames = 7;
  std::string_view status = "400";
  std::string user;
  const bool sane = question->size() == kFrames && (*question)[0] == "1.0" &&
                    (*question)[5] == "CURVE" && (*question)[6].size() == CurveKey::kBytes;
  const std::string peer = question->size() > 3 ? (*question)[3] : "";
  if (sane) {
    const auto key = CurveKey::fromWire((*question)[6]);
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
  const std::string id = question->size() > 1 ? (*question)[1] : "";
  const std::array<std::string_view, 6> answer = {
      "1.0", id, status, status == "200" ? "OK" : "not authorised", user, ""};
  for (std::size_t i = 0; i < answer.size(); ++i) {
    const int more = i + 1 < answer.size() ? ZMQ_SNDMORE : 0;
    int sent = -1;
    do {
      sent = zmq_send(questions_.get(), answer[i].data(), answer[i].size(), more | ZMQ_DONTWAIT);
    } while (sent < 0 && zmq_errno() == EINTR);
    if (sent < 0) return false;
  }
  return true;
}

// A connection whose handshake fails is told of twice by libzmq's one I/O thread: why, and next
// that its descriptor is closed.
bool GateKeeper::takeEvent() {
  const auto frames = receiveAll(events_.get());
  if (!frames) return false;
  std::uint16_t event = 0;
  std::uint32_t value = 0;
  if (frames->empty() || frames->front().size() != sizeof event + sizeof value) return true;
  std::memcpy(&event, frames->front().data(), sizeof event);
  std::memcpy(&value, frames->front().data() + sizeof event, sizeof value);
  const int descriptor = static_cast<int>(value);
  switch (event) {
    case ZMQ_EVENT_ACCEPTED:
      // Where it was closed already this is nobody's address, or of the next one.
      peers_[descriptor] = peerOf(descriptor);
      break;
    case ZMQ_EVENT_DISCONNECTED:
      if (failed_) gate_->refuse(*failed_, peers_[descriptor], "", monotonicNow());
      failed_.reset();
      peers_.erase(descriptor);
      break;
    default:  // a key that was refused has been counted
      failed_ = reasonOf(event, value);
      break;
  }
  return true;
}

}  // namespace pingloom::net
