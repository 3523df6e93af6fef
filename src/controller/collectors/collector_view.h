// What a collector has said about the applications whose metric pages it reads. The records come
// from outside: only known members of the expected types are kept, and their number is bounded.
// Plain values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/time.h"
#include "controller/model/page_anomaly.h"

namespace pingloom::controller {

// An application of a host, or an event of one, as a JSON object.
struct CollectorRecord {
  std::string host;
  Nanos utc = 0;  // when an event happened; 0 for an application
  std::string json;
};

struct CollectorRecords {
  static constexpr std::size_t kMaxApplications = 10'000;
  static constexpr std::size_t kMaxEvents = 1'000;
  static constexpr std::size_t kMaxDeviations = 5;  // of an event
  static constexpr std::size_t kMaxText = 1'024;    // bytes of a text

  std::vector<CollectorRecord> records;
  std::uint64_t malformed = 0;  // objects that were left out
  std::uint64_t beyond = 0;     // those that exceed the bound
};

struct CollectorApplications {
  bool watched = false;      // whether the collector looks for anomalies
  std::uint64_t events = 0;  // how many events it has logged
  CollectorRecords applications{};
  std::vector<PageAnomaly> anomalies{};  // of applications that are anomalous
};

// Parse the answers of a collector to /api/v1/applications and to /api/v1/events. The error says
// that the whole document is of no use.
Result<CollectorApplications> parseApplications(std::string_view text);
Result<CollectorRecords> parseEvents(std::string_view text);

// Whether the text is a document of /api/v1/pages, which is passed on as it is.
bool isPagesDocument(std::string_view text);

// The newest answers of a collector.
struct CollectorView {
  Nanos answered_utc = 0;  // when the last question was answered; 0: none yet
  std::string problem;     // why the last question was not answered; "" if it was
  bool watched = false;
  std::uint64_t events_logged = 0;
  std::vector<CollectorRecord> applications, events;
  std::uint64_t malformed = 0, beyond = 0;  // records left out of these answers
};

}  // namespace pingloom::controller
