// What an application and its host's agent say to each other over the unix socket (SOCK_SEQPACKET:
// a message is a datagram). Little endian; docs/page-format.md. Used by the client library too,
// which links nothing of pingloom's: this header includes the C++ library only.
//
// A message is Head and then `length` bytes. A string is its length (u8, or u16 where it says so)
// and its bytes, UTF-8. The agent answers every message but kRelease with one, in order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pingloom::pages {

constexpr const char* kDefaultSocket = "/run/pingloom/pages.sock";
constexpr const char* kSocketVariable = "PINGLOOM_PAGES_SOCKET";  // another one, for applications

constexpr std::uint32_t kRegistrationMagic = 0x47524c50;  // the bytes "PLRG"
constexpr std::uint16_t kRegistrationVersion = 1;
constexpr std::size_t kMaxMessageBytes = 16384;

enum class MessageType : std::uint16_t {
  // From the application.
  kRegister =
      1,         // string application, u8 count, count x (string name, u16-string value): labels of
                 // all its metrics. First, and once.
  kPage = 2,     // u16 flags (PINGLOOM_PAGE_...): a new page, `page` being the application's number
                 // for it
  kAdopt = 3,    // as kPage, and the page's memfd with it: a page that the application has already,
                 // because there was no agent, or another one
  kDefine = 4,   // a metric of `page`, as below
  kRelease = 5,  // `page` is not written any more. No answer.
  // From the agent.
  kRegistered = 101,  // u64 owner, u32 pages it may have
  kGranted = 102,     // u64 generation; kPage: and the page's memfd with it
  kDefined = 103,
  kRefused = 104,  // u16 Refusal, u16-string why, for people. After kRegister the agent hangs up.
};

enum class Refusal : std::uint16_t {
  kMalformed = 1,    // the message is not as above; the agent hangs up
  kVersion = 2,      // of the protocol; the agent hangs up
  kNotAllowed = 3,   // this user may not have pages
  kQuota = 4,        // the owner has as many pages as it may, or the host has
  kPage = 5,         // the number is in use, or in none
  kNotAPage = 6,     // kAdopt: the descriptor is no sealed memfd of the right size
  kMetric = 7,       // kDefine: a name, label or slot is not as it has to be
  kUnavailable = 8,  // the agent has no memory or no device for it; try again later
};

struct Head {
  std::uint32_t magic = kRegistrationMagic;
  std::uint16_t version = kRegistrationVersion;
  std::uint16_t type = 0;
  std::uint32_t page = 0;    // the application's number for the page it is about, or 0
  std::uint32_t length = 0;  // bytes that follow
};
static_assert(sizeof(Head) == 16);

// kDefine, and a page's schema, which is these one after the other as the collector gets it:
//   u8 kind (pingloom_metric_kind), u8 flags (MetricFlag), u16 first slot, u16 slots,
//   u8 lowest, u8 highest, u8 precision (a histogram's shape; otherwise 0), u8 count of labels,
//   f64 unit: the value shown is the slot's times this (histograms: bounds and sum; otherwise 1),
//   1e-30 .. 1e30,
//   string name, u16-string help, count x (string name, u16-string value)
// Slots of metrics do not overlap and come in order.
enum MetricFlag : std::uint8_t { kSharedWriters = 1 };

constexpr std::size_t kMaxNameBytes = 128;  // [a-zA-Z_:][a-zA-Z0-9_:]*; a label's has no colon
constexpr std::size_t kMaxHelpBytes = 512;
constexpr std::size_t kMaxLabels = 16;
constexpr std::size_t kMaxLabelBytes = 256;  // of a value
constexpr std::size_t kMaxApplicationBytes = 64;
constexpr std::size_t kMaxSchemaBytes = 256 * 1024;  // of a page
constexpr std::size_t kMaxInfos = 64;                // metrics without slots of a page

}  // namespace pingloom::pages
