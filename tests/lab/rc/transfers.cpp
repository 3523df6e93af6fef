#include "transfers.h"

#include <algorithm>
#include <cstring>

#include "check.h"
#include "common/duration.h"

namespace pingloom::lab {
namespace {

using rdma::RcOperation;
using rdma::RcStatus;

constexpr std::uint8_t kUntouched = 0xA5;
constexpr std::uint32_t kImmediate = 0xFEEDBEEF;
constexpr std::size_t kAdds = 40;

const char* nameOf(RcOperation operation) {
  if (operation == RcOperation::kRead) return "READ";
  return operation == RcOperation::kWrite ? "WRITE" : "WRITE with immediate";
}

// Different at every place and every time.
void fill(std::span<std::uint8_t> memory, std::uint64_t seed) {
  std::uint64_t word = seed * 0x9E3779B97F4A7C15ULL + 1;
  for (std::uint8_t& byte : memory) {
    word = word * 6364136223846793005ULL + 1442695040888963407ULL;
    byte = static_cast<std::uint8_t>(word >> 56);
  }
}

bool untouched(std::span<const std::uint8_t> memory) {
  return std::all_of(memory.begin(), memory.end(),
                     [](std::uint8_t byte) { return byte == kUntouched; });
}

void requireOk(Connection& connection, const std::string& what) {
  const rdma::RcDone& last = connection.asker().done().back();
  require(last.status == RcStatus::kOk,
          fmt::format("{}, {}: {}; {} {}", connection.name(), what, rdma::name(last.status),
                      connection.asker().whyFailed(), connection.answerer().whyFailed()));
}

void transfer(Connection& connection, RcOperation operation, std::size_t bytes) {
  const Transfer transfer{operation, bytes, 5, 3};  // aligned to nothing
  const bool reads = operation == RcOperation::kRead;
  Host& from = reads ? connection.answerer() : connection.asker();
  Host& to = reads ? connection.asker() : connection.answerer();
  const std::size_t source = reads ? transfer.remote : transfer.local;
  const std::size_t target = reads ? transfer.local : transfer.remote;
  const std::size_t done = connection.asker().done().size();
  fill(from.memory(), bytes + done);
  std::fill(to.memory().begin(), to.memory().end(), kUntouched);
  rdma::RcRequest request = connection.request(transfer, done);
  request.immediate = kImmediate;
  const std::size_t arrived = connection.answerer().arrived().size();
  connection.post(request);
  connection.untilDone(done + 1);
  const std::string what = fmt::format("{} of {} bytes", nameOf(operation), bytes);
  requireOk(connection, what);
  const auto sent = from.memory().subspan(source, bytes);
  const auto got = to.memory().subspan(target, bytes);
  require(std::equal(sent.begin(), sent.end(), got.begin()),
          connection.name() + ", " + what + ": not what was sent");
  require(untouched(to.memory().first(target)) && untouched(to.memory().subspan(target + bytes)),
          connection.name() + ", " + what + ": bytes beside it have changed");
  if (operation != RcOperation::kWriteImmediate) return;
  require(connection.until([&] { return connection.answerer().arrived().size() > arrived; }),
          connection.name() + ", " + what + ": the immediate did not arrive");
  const rdma::RcArrived& came = connection.answerer().arrived().back();
  require(came.immediate == kImmediate && came.bytes == bytes,
          fmt::format("{}, {}: immediate {:#x} with {} bytes", connection.name(), what,
                      came.immediate, came.bytes));
}

std::uint64_t wordAt(std::span<const std::uint8_t> memory, std::size_t offset) {
  std::uint64_t word = 0;
  std::memcpy(&word, memory.data() + offset, sizeof(word));
  return word;
}

// Each sees the one before: none is lost, none is done twice.
void adds(Connection& connection) {
  constexpr std::size_t kCounter = 64;
  constexpr std::uint64_t kStep = 0x100000001;
  Host& asker = connection.asker();
  fill(connection.answerer().memory(), 7);
  const std::uint64_t before = wordAt(connection.answerer().memory(), kCounter);
  const std::size_t done = asker.done().size();
  for (std::size_t i = 0; i < kAdds; ++i) {
    auto request = connection.request({RcOperation::kFetchAdd, 8, 8 * i, kCounter}, i);
    request.add_or_swap = kStep;
    connection.post(request);
  }
  connection.untilDone(done + kAdds);
  requireOk(connection, "FETCH_ADD");
  for (std::size_t i = 0; i < kAdds; ++i) {
    require(wordAt(asker.memory(), 8 * i) == before + i * kStep,
            fmt::format("{}, FETCH_ADD {}: the value before is wrong", connection.name(), i));
  }
  require(wordAt(connection.answerer().memory(), kCounter) == before + kAdds * kStep,
          connection.name() + ": the sum of the FETCH_ADDs is wrong");

  for (const bool matches : {false, true}) {
    const std::uint64_t value = wordAt(connection.answerer().memory(), kCounter);
    auto request = connection.request({RcOperation::kCompareSwap, 8, 0, kCounter}, 0);
    request.compare = matches ? value : value ^ 1;
    request.add_or_swap = 0x1122334455667788;
    const std::size_t so_far = asker.done().size();
    connection.post(request);
    connection.untilDone(so_far + 1);
    requireOk(connection, "COMPARE_SWAP");
    require(
        wordAt(asker.memory(), 0) == value && wordAt(connection.answerer().memory(), kCounter) ==
                                                  (matches ? request.add_or_swap : value),
        fmt::format("{}, COMPARE_SWAP that {}", connection.name(),
                    matches ? "matches" : "does not match"));
  }
}

// Many READs at a time, more than are answered at a time.
void manyReads(Connection& connection) {
  constexpr std::size_t kReads = 60;
  constexpr std::size_t kEach = 4000;
  const std::size_t done = connection.asker().done().size();
  fill(connection.answerer().memory(), 11);
  for (std::size_t i = 0; i < kReads; ++i) {
    auto request = connection.request({RcOperation::kRead, kEach, i * kEach, i * kEach}, i);
    request.signalled = i + 1 == kReads;
    connection.post(request);
  }
  connection.untilDone(done + 1);
  requireOk(connection, "many READs");
  require(std::equal(connection.asker().memory().begin(),
                     connection.asker().memory().begin() + kReads * kEach,
                     connection.answerer().memory().begin()),
          connection.name() + ": many READs: not what was sent");
}

}  // namespace

void transfers(Connection& connection, std::uint32_t mtu, const std::vector<std::size_t>& sizes) {
  connection.connect(permitting(kAll, mtu));
  const Nanos begin = monotonicNow();
  for (const auto operation :
       {RcOperation::kRead, RcOperation::kWrite, RcOperation::kWriteImmediate}) {
    for (const std::size_t bytes : sizes) transfer(connection, operation, bytes);
  }
  adds(connection);
  manyReads(connection);
  // rxe says nothing of what it drops.
  Host& soft = connection.asker().isSoft() ? connection.asker() : connection.answerer();
  std::string dropped;
  for (const rdma::DropCount& drop : soft.endpoint().drops()) {
    if (drop.count != 0) dropped += fmt::format(", {} {}", drop.reason, drop.count);
  }
  say("{}, MTU {}: all bytes as sent, {}{}", connection.name(), mtu,
      humanNanos(monotonicNow() - begin), dropped);
}

}  // namespace pingloom::lab
