// The protocol between an application and its host's agent over the Unix socket (SOCK_SEQPACKET,
// one message per datagram). Little endian; see docs/page-format.md. The client library uses this
// header too and links no other part of pingloom, so the header includes nothing but the C++
// library.
// A message is a Head followed by `length` bytes. A string is its length (u8, or u16 where stated)
// and its bytes in UTF-8. The agent answers every message except kRelease with one message, in
// order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pingloom::pages {

constexpr const char* kDefaultSocket = "/run/pingloom/pages.sock";
// overrides the socket's path for applications
constexpr const char* kSocketVariable = "PINGLOOM_PAGES_SOCKET";

constexpr std::uint32_t kRegistrationMagic = 0x47524c50;  // the bytes "PLRG"
constexpr std::uint16_t kRegistrationVersion = 1;
constexpr std::size_t kMaxMessageBytes = 16384;

enum class MessageType : std::uint16_t {
  // These messages are sent by the application.
  // Body: string application, u8 count, count x (string name, u16-string value), the labels of all
  // its metrics. It is the first message and is sent once.
  kRegister = 1,
  // Body: u16 flags (PINGLOOM_PAGE_...). Requests a new page; `page` is the application's number
  // for it.
  kPage = 2,
  // The same as kPage, with the page's memfd attached: a page that the application already has,
  // because there was no agent or another one.
  kAdopt = 3,
  kDefine = 4,   // defines a metric of `page`; the body is described below
  kRelease = 5,  // `page` is not written any more. There is no answer.
  kRemove = 6,   // removes a metric of `page`; the body is the one of its kDefine
  // These messages are sent by the agent.
  kRegistered = 101,  // u64 owner, u32 pages it may have
  kGranted = 102,     // u64 generation; after kPage the page's memfd is attached
  kDefined = 103,
  // u16 Refusal, u16-string reason for people. After kRegister the agent closes the connection.
  kRefused = 104,
  kRemoved = 105,
};

enum class Refusal : std::uint16_t {
  kMalformed = 1,    // the message is malformed; the agent closes the connection
  kVersion = 2,      // unknown protocol version; the agent closes the connection
  kNotAllowed = 3,   // this user must not have pages
  kQuota = 4,        // the owner or the host has the maximum number of pages
  kPage = 5,         // the number is already used, or is unknown
  kNotAPage = 6,     // kAdopt: the descriptor is not a sealed memfd of the right size
  kMetric = 7,       // kDefine: a name, label or slot is invalid; kRemove: it is not defined
  kUnavailable = 8,  // the agent has no memory or no device for it; try again later
};

struct Head {
  std::uint32_t magic = kRegistrationMagic;
  std::uint16_t version = kRegistrationVersion;
  std::uint16_t type = 0;
  std::uint32_t page = 0;    // the application's number for the page concerned, or 0
  std::uint32_t length = 0;  // bytes that follow
};
static_assert(sizeof(Head) == 16);

// kDefine, and a page's schema, which is these one after the other as the collector gets it:
//   u8 kind (pingloom_metric_kind), u8 flags (MetricFlag), u16 first slot, u16 slots,
//   u8 lowest, u8 highest, u8 precision (a histogram's shape; otherwise 0), u8 count of labels,
//   f64 unit: the value shown is the slot's times this (counters; histograms: bounds and sum;
//   otherwise 1), 1e-30 .. 1e30,
//   string name, u16-string help, count x (string name, u16-string value),
//   with kBounds: u16 count of bounds or quantiles, count x f64
// With kExemplars more slots are the metric's, see struct pingloom_exemplar; `slots` does not count
// them, so that agents and collectors that do not know the flag read the metric without them.
// Slots of metrics do not overlap. Those of a removed metric rest before others may have them, so
// that no collector takes the value of one for that of the other (docs/page-format.md, "Removal").
enum MetricFlag : std::uint8_t {
  kSharedWriters = 1,
  // A histogram with bounds of its own, whose shape is 0, or a summary with quantiles.
  kBounds = 2,
  // A counter or histogram whose exemplars follow its slots.
  kExemplars = 4,
  // A gauge that is a counter: its double only grows. Readers that do not know the flag show it as
  // a gauge, with the same value.
  kFractions = 8,
  // With kFractions, instead of kExemplars: readers that know neither refuse a gauge with those.
  kFractionsExemplars = 16,
};
// The sum and the last bucket, which has no bound, take a slot each.
constexpr std::size_t kMaxBounds = 502;
constexpr std::size_t kMaxQuantiles = 32;
// A summary takes a slot for its count and one for its sum.
constexpr std::size_t kSummarySlots = 2;
constexpr const char* kQuantileLabel = "quantile";  // which no summary may have

constexpr std::size_t kMaxNameBytes = 128;  // [a-zA-Z_:][a-zA-Z0-9_:]*; a label's has no colon
constexpr std::size_t kMaxHelpBytes = 512;
constexpr std::size_t kMaxLabels = 16;
constexpr std::size_t kMaxLabelBytes = 256;  // maximum length of a label's value
constexpr std::size_t kMaxApplicationBytes = 64;
constexpr std::size_t kMaxSchemaBytes = 256 * 1024;  // maximum size of a page's schema
constexpr std::size_t kMaxInfos = 64;  // maximum number of metrics without slots on a page

}  // namespace pingloom::pages
