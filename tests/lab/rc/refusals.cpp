#include "refusals.h"

#include <algorithm>
#include <array>
#include <vector>

#include "check.h"

namespace pingloom::lab {
namespace {

using rdma::Access;
using rdma::RcOperation;
using rdma::RcState;
using rdma::RcStatus;

struct Refusal {
  const char* what;
  RcOperation operation = RcOperation::kRead;
  RcStatus status = RcStatus::kRemoteAccess;
  const char* reason = "";  // the soft device's counter, where it answers
  Access endpoint = kAll;   // what the answering endpoint and its region permit
  Access region = kAll;
  std::size_t remote = 64;  // offset, of
  std::size_t bytes = 64;
  std::uint32_t key_flip = 0;  // exclusive-ored to the rkey
};

constexpr Access kNoRead = Access::kWrite | Access::kAtomic;
constexpr Access kNoWrite = Access::kRead | Access::kAtomic;
constexpr Access kNoAtomic = Access::kRead | Access::kWrite;
constexpr std::size_t kEnd = Host::kMemory;

constexpr std::array<Refusal, 13> kRefusals = {{
    {.what = "READ with a wrong rkey", .reason = "rkey", .key_flip = 0x10000},
    {.what = "WRITE with a wrong rkey",
     .operation = RcOperation::kWrite,
     .reason = "rkey",
     .key_flip = 0x10000},
    {.what = "FETCH_ADD with a wrong rkey",
     .operation = RcOperation::kFetchAdd,
     .reason = "rkey",
     .bytes = 8,
     .key_flip = 0x10000},
    {.what = "READ across the region's end", .reason = "bounds", .remote = kEnd - 63},
    {.what = "WRITE across the region's end",
     .operation = RcOperation::kWrite,
     .reason = "bounds",
     .remote = kEnd - 63},
    {.what = "FETCH_ADD beyond the region",
     .operation = RcOperation::kFetchAdd,
     .reason = "bounds",
     .remote = kEnd,
     .bytes = 8},
    {.what = "READ of a region that does not permit it", .reason = "permission", .region = kNoRead},
    {.what = "WRITE to a region that does not permit it",
     .operation = RcOperation::kWrite,
     .reason = "permission",
     .region = kNoWrite},
    {.what = "FETCH_ADD in a region that does not permit it",
     .operation = RcOperation::kFetchAdd,
     .reason = "permission",
     .region = kNoAtomic,
     .bytes = 8},
    {.what = "READ on an endpoint that does not permit it",
     .status = RcStatus::kRemoteInvalid,
     .reason = "invalid_request",
     .endpoint = kNoRead},
    {.what = "WRITE on an endpoint that does not permit it",
     .operation = RcOperation::kWrite,
     .status = RcStatus::kRemoteInvalid,
     .reason = "invalid_request",
     .endpoint = kNoWrite},
    {.what = "FETCH_ADD on an endpoint that does not permit it",
     .operation = RcOperation::kFetchAdd,
     .status = RcStatus::kRemoteInvalid,
     .reason = "invalid_request",
     .endpoint = kNoAtomic,
     .bytes = 8},
    {.what = "COMPARE_SWAP on an endpoint that does not permit it",
     .operation = RcOperation::kCompareSwap,
     .status = RcStatus::kRemoteInvalid,
     .reason = "invalid_request",
     .endpoint = kNoAtomic,
     .bytes = 8},
}};

constexpr std::uint8_t kKept = 0x3C;

void requireStatus(Connection& connection, const char* what, std::size_t index, RcStatus wanted) {
  const RcStatus got = connection.asker().done().at(index).status;
  require(got == wanted,
          fmt::format("{}, {}: '{}', not '{}'; {} {}", connection.name(), what, rdma::name(got),
                      rdma::name(wanted), connection.asker().whyFailed(),
                      connection.answerer().whyFailed()));
}

// New endpoints, and a READ between them.
void goesOn(Connection& connection) {
  connection.answerer().registerMemory(kAll);
  connection.connect(permitting(kAll));
  connection.post(connection.request({RcOperation::kRead, 4000, 0, 0}, 1));
  connection.untilDone(1);
  requireStatus(connection, "a READ after that", 0, RcStatus::kOk);
}

void refused(Connection& connection, const Refusal& refusal) {
  Host& asker = connection.asker();
  Host& answerer = connection.answerer();
  answerer.registerMemory(refusal.region);
  connection.connect(permitting(kAll), permitting(refusal.endpoint));
  std::fill(asker.memory().begin(), asker.memory().end(), 0);
  std::fill(answerer.memory().begin(), answerer.memory().end(), kKept);
  auto request = connection.request({refusal.operation, refusal.bytes, 0, refusal.remote}, 1);
  request.rkey ^= refusal.key_flip;
  request.add_or_swap = 1;
  connection.post(request);
  connection.post(connection.request({RcOperation::kRead, 64, 0, 0}, 2));
  connection.untilDone(2);
  requireStatus(connection, refusal.what, 0, refusal.status);
  requireStatus(connection, "the request behind it", 1, RcStatus::kFlushed);
  require(asker.endpoint().state() == RcState::kFailed,
          std::string(refusal.what) + ": the asker has not failed");
  require(std::all_of(answerer.memory().begin(), answerer.memory().end(),
                      [](std::uint8_t byte) { return byte == kKept; }),
          std::string(refusal.what) + ": memory has changed");
  require(std::all_of(asker.memory().begin(), asker.memory().end(),
                      [](std::uint8_t byte) { return byte == 0; }),
          std::string(refusal.what) + ": something was read");
  if (answerer.isSoft()) {
    require(answerer.dropped(refusal.reason) > 0,
            fmt::format("{}: not counted as {}", refusal.what, refusal.reason));
  }
  goesOn(connection);
  say("{}: {}: '{}'", connection.name(), refusal.what, rdma::name(refusal.status));
}

// A region that there was.
void staleKey(Connection& connection) {
  constexpr const char* kWhat = "READ with the rkey of a region that is gone";
  connection.connect(permitting(kAll));
  auto request = connection.request({RcOperation::kRead, 64, 0, 0}, 1);
  connection.answerer().registerMemory(kAll);
  require(connection.answerer().region().rkey() != request.rkey,
          "the new region has the old one's rkey");
  connection.post(request);
  connection.untilDone(1);
  requireStatus(connection, kWhat, 0, RcStatus::kRemoteAccess);
  goesOn(connection);
  say("{}: {}: '{}'", connection.name(), kWhat, rdma::name(RcStatus::kRemoteAccess));
}

// A region of the same device and program, in a protection domain that the endpoint is not in.
void anotherDomain(Connection& connection) {
  constexpr const char* kWhat = "READ with the rkey of a region of another domain";
  connection.connect(permitting(kAll));
  auto domain = connection.answerer().device().createDomain();
  if (!domain) fail(domain.error().text());
  std::vector<std::uint8_t> memory(64, kKept);
  auto region = (*domain)->registerMemory(memory, kAll);
  if (!region) fail(region.error().text());
  std::fill(connection.asker().memory().begin(), connection.asker().memory().end(), 0);
  auto request = connection.request({RcOperation::kRead, 64, 0, 0}, 1);
  request.remote_address = (*region)->address();
  request.rkey = (*region)->rkey();
  connection.post(request);
  connection.untilDone(1);
  requireStatus(connection, kWhat, 0, RcStatus::kRemoteAccess);
  require(connection.asker().memory()[0] == 0, std::string(kWhat) + ": something was read");
  goesOn(connection);
  say("{}: {}: '{}'", connection.name(), kWhat, rdma::name(RcStatus::kRemoteAccess));
}

// No memory is reached, so none has to be permitted.
void nothingWithAWrongKey(Connection& connection) {
  connection.connect(permitting(kAll));
  auto request = connection.request({RcOperation::kRead, 0, 0, 0}, 1);
  request.rkey ^= 0x10000;
  connection.post(request);
  connection.untilDone(1);
  requireStatus(connection, "READ of 0 bytes with a wrong rkey", 0, RcStatus::kOk);
  say("{}: READ of 0 bytes with a wrong rkey: 'ok'", connection.name());
}

// Nothing is broken on the answering side: it only has no room for an immediate.
void notReady(Connection& connection) {
  constexpr const char* kWhat = "WRITE with immediate where nobody waits for one";
  rdma::RcOptions asking = permitting(kAll);
  asking.rnr_retries = 2;
  rdma::RcOptions answering = permitting(kAll);
  answering.immediates = 0;
  connection.connect(asking, answering);
  connection.post(connection.request({RcOperation::kWriteImmediate, 64, 0, 0}, 1));
  connection.untilDone(1);
  requireStatus(connection, kWhat, 0, RcStatus::kRnrExceeded);
  require(connection.answerer().endpoint().state() == RcState::kConnected,
          "the answerer has failed");
  if (connection.answerer().isSoft()) {
    // One more where the asker's timeout came before the answer.
    require(connection.answerer().dropped("not_ready") > asking.rnr_retries,
            fmt::format("refused {} times", connection.answerer().dropped("not_ready")));
  }
  goesOn(connection);
  say("{}: {}: '{}'", connection.name(), kWhat, rdma::name(RcStatus::kRnrExceeded));
}

}  // namespace

void refusals(Connection& connection) {
  for (const Refusal& refusal : kRefusals) refused(connection, refusal);
  staleKey(connection);
  anotherDomain(connection);
  nothingWithAWrongKey(connection);
  notReady(connection);
}

}  // namespace pingloom::lab
