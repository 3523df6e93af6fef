#include "forged.h"

#include <algorithm>
#include <array>

#include "check.h"
#include "rdma/soft/rc/syndrome.h"

namespace pingloom::lab {
namespace {

using namespace rdma::soft;
using rdma::RcState;
using rdma::RcStatus;

constexpr std::uint32_t kBytes = 64;
constexpr Nanos kQuiet = 300 * kMillisecond;  // nothing is to come within

std::string heardText(const RawPeer& peer) {
  std::string text;
  for (const Heard& heard : peer.heard()) {
    text += fmt::format(" {:#x}/{:#x}/{}B", static_cast<int>(heard.opcode), heard.syndrome,
                        heard.bytes);
  }
  return text;
}

std::ptrdiff_t count(const RawPeer& peer, Opcode opcode, std::uint8_t syndrome) {
  return std::count_if(peer.heard().begin(), peer.heard().end(), [&](const Heard& heard) {
    return heard.opcode == opcode && heard.syndrome == syndrome;
  });
}
std::ptrdiff_t naks(const RawPeer& peer, std::uint8_t syndrome) {
  return count(peer, Opcode::kRcAcknowledge, syndrome);
}
std::ptrdiff_t requests(const RawPeer& peer) { return count(peer, Opcode::kRcReadRequest, 0); }
bool answered(RawPeer& peer) {
  return peer.until([&] {
    return std::any_of(peer.heard().begin(), peer.heard().end(), [](const Heard& heard) {
      return heard.opcode == Opcode::kRcReadResponseOnly && heard.bytes == kBytes;
    });
  });
}

// ---- requests ----

// Named once, and nothing is broken by it.
void gap(Host& subject, RawPeer& peer) {
  peer.connect(subject, permitting(kAll));
  const std::uint32_t psn = peer.ownPsn();
  peer.sendRead(psn + 3, kBytes);
  require(peer.until([&] { return naks(peer, kNakSequence) == 1; }),
          "no NAK of a gap:" + heardText(peer));
  require(peer.heard()[0].psn == psn, "the NAK does not say what is missing");
  peer.sendRead(psn + 4, kBytes);
  require(!peer.until([&] { return peer.heard().size() > 1; }, kQuiet),
          "a second NAK:" + heardText(peer));
  peer.sendRead(psn, kBytes);
  require(answered(peer), "not answered after a gap:" + heardText(peer));
  require(subject.endpoint().state() == RcState::kConnected,
          "a gap broke it: " + subject.whyFailed());
  say("{}: a gap: NAK {:#x} once, and it goes on", subject.name(), kNakSequence);
}

// Refused, and the endpoint has failed: it answers nothing else any more.
void tooLong(Host& subject, RawPeer& peer) {
  constexpr std::uint32_t kTooLong = (1U << 31) + 1;
  // The specification's answer, and the one of kernel Soft-RoCE, for which it is out of bounds.
  const std::uint8_t expected = subject.isSoft() ? kNakInvalidRequest : kNakRemoteAccess;
  peer.connect(subject, permitting(kAll));
  peer.sendRead(peer.ownPsn(), kTooLong);
  require(peer.until([&] { return naks(peer, expected) == 1; }),
          "a READ of 2^31 + 1 bytes:" + heardText(peer));
  const std::size_t heard = peer.heard().size();
  peer.sendRead(peer.ownPsn() + 1, kBytes);
  require(!peer.until([&] { return peer.heard().size() > heard; }, kQuiet),
          "it answers after a refusal:" + heardText(peer));
  say("{}: a READ of 2^31 + 1 bytes: NAK {:#x}, then silence", subject.name(), expected);
}

// ---- responses ----

void ask(Host& subject, RawPeer& peer, const rdma::LocalPiece& piece, std::uint8_t retries) {
  rdma::RcOptions options = permitting(kAll);
  options.retries = retries;
  peer.connect(subject, options);
  rdma::RcRequest request;
  request.local = {&piece, 1};
  require(subject.endpoint().post(request) == rdma::PostResult::kPosted, "not posted");
  subject.endpoint().flush();
  // A guest that stood still for a while may hear the first request together with its repetition.
  require(peer.until([&] { return requests(peer) >= 1; }), "no request came:" + heardText(peer));
}

void respond(RawPeer& peer) {
  constexpr std::array<std::uint8_t, kBytes> kPayload{};
  Packet packet;
  packet.bth.opcode = Opcode::kRcReadResponseOnly;
  packet.bth.psn = peer.subjectsPsn();
  packet.aeth = {kAckWithoutCredits, 1};
  packet.payload = kPayload;
  peer.send(packet);
}

void requireStatus(Host& subject, RawPeer& peer, RcStatus wanted, const std::string& what) {
  require(peer.until([&] { return !subject.done().empty(); }), what + ": not done");
  const RcStatus got = subject.done()[0].status;
  require(got == wanted,
          fmt::format("{}: '{}', not '{}'", what, rdma::name(got), rdma::name(wanted)));
}

void refusal(Host& subject, RawPeer& peer, std::uint8_t syndrome, RcStatus status) {
  const rdma::LocalPiece piece{&subject.region(), subject.memory().first(kBytes)};
  ask(subject, peer, piece, 7);
  peer.sendSyndrome(syndrome, peer.subjectsPsn());
  requireStatus(subject, peer, status, fmt::format("NAK {:#x}", syndrome));
  require(subject.endpoint().state() == RcState::kFailed,
          fmt::format("NAK {:#x} did not end it", syndrome));
  say("{}: NAK {:#x} is '{}'", subject.name(), syndrome, rdma::name(status));
}

// "Receiver not ready" and a gap: it asks again.
void asksAgain(Host& subject, RawPeer& peer, std::uint8_t syndrome) {
  const rdma::LocalPiece piece{&subject.region(), subject.memory().first(kBytes)};
  ask(subject, peer, piece, 7);
  const std::ptrdiff_t before = requests(peer);
  peer.sendSyndrome(syndrome, peer.subjectsPsn());
  require(peer.until([&] { return requests(peer) > before; }),
          fmt::format("NAK {:#x}: it does not ask again", syndrome));
  respond(peer);
  requireStatus(subject, peer, RcStatus::kOk, fmt::format("NAK {:#x}", syndrome));
  say("{}: NAK {:#x}: it asks again", subject.name(), syndrome);
}

// Acknowledges and data for what was never asked change nothing.
void strayResponses(Host& subject, RawPeer& peer) {
  const rdma::LocalPiece piece{&subject.region(), subject.memory().first(kBytes)};
  ask(subject, peer, piece, 7);
  for (const std::uint32_t ahead : {1U, 1000U, 0x7FFFFFU, 0x800000U}) {
    peer.sendSyndrome(kAckWithoutCredits, peer.subjectsPsn() + ahead);
    peer.sendSyndrome(kNakRemoteAccess, peer.subjectsPsn() + ahead);
  }
  require(!peer.until([&] { return !subject.done().empty(); }, kQuiet),
          "done by an answer to nothing");
  respond(peer);
  requireStatus(subject, peer, RcStatus::kOk, "after answers to nothing");
  say("{}: answers to what was never asked change nothing", subject.name());
}

}  // namespace

void forged(Host& subject, RawPeer& peer) {
  gap(subject, peer);
  tooLong(subject, peer);
  refusal(subject, peer, kNakInvalidRequest, RcStatus::kRemoteInvalid);
  refusal(subject, peer, kNakRemoteAccess, RcStatus::kRemoteAccess);
  refusal(subject, peer, kNakRemoteOperation, RcStatus::kRemoteOperation);
  asksAgain(subject, peer, kNakSequence);
  asksAgain(subject, peer, kReceiverNotReady);
  if (subject.isSoft()) strayResponses(subject, peer);
}

}  // namespace pingloom::lab
