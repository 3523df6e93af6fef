// What translators or readers and collectors say to each other (wire/store.proto), checked. Plain
// values and pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/error.h"
#include "common/time.h"
#include "rdma/rc_endpoint.h"
#include "store/layout.h"

namespace pingloom::store {

constexpr std::uint32_t kStoreControlVersion = 1;
constexpr std::uint16_t kDefaultStorePort = 20717;
constexpr Nanos kKeepAlive = 5 * kSecond;  // between a translator's requests
constexpr Nanos kPatience = 30 * kSecond;  // without one its endpoint is closed
constexpr std::size_t kMaxRequestBytes = 1024;
constexpr std::size_t kMaxReplyBytes = 2 * kPageBytes;
constexpr std::size_t kMaxStores = 64;   // of a collector
constexpr std::size_t kMaxReason = 512;  // bytes

enum class Purpose : std::uint8_t { kWrite, kRead };

struct ConnectRequest {
  std::string translator;  // a name (isName())
  std::uint64_t incarnation = 0;
  rdma::RcAddress endpoint;
  Purpose purpose = Purpose::kWrite;

  bool operator==(const ConnectRequest&) const = default;
};

struct Connected {
  rdma::RcAddress endpoint;
  std::uint64_t address = 0;  // the remote address of file offset kRegionOffset
  std::uint32_t rkey = 0;
  Head head;  // its epoch is this connection's
};

struct Refused {
  std::string reason;
  bool permanent = false;  // asking again soon is of no use
};

// The stores that somebody may read.
struct StoreNames {
  std::vector<std::string> translators;  // at most kMaxStores names
};

struct ListRequest {};
// Ends what a reader's request began.
struct LeaveRequest {
  ConnectRequest began;
};
struct Left {};
using Request = std::variant<ConnectRequest, ListRequest, LeaveRequest>;
using ConnectReply = std::variant<Connected, Refused, StoreNames, Left>;

// Why a request was refused before it was looked at.
enum class BadRequest : std::uint8_t { kMalformed, kVersion };

std::string encodeRequest(const Request& request);
tl::expected<Request, BadRequest> decodeRequest(std::string_view bytes);

// REQUIRES: checkHead(head) of what is connected.
std::string encodeReply(const ConnectReply& reply);
// An error for what is malformed, of another version, or has an impossible head. The reason of a
// refusal is one line.
Result<ConnectReply> decodeReply(std::string_view bytes);

}  // namespace pingloom::store
