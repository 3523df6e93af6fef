// Whatever a collector answers, the controller keeps records of known members only, within their
// bounds, one line each, and reads the same from a document that consists of what it has kept.
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>

#include "controller/collectors/collector_view.h"

namespace {

using namespace pingloom::controller;

std::string documentOf(const char* list, const CollectorRecords& kept) {
  std::string text = std::string(R"({"watched":true,")") + list + R"(":[)";
  for (const CollectorRecord& record : kept.records) {
    if (record.json.find('\n') != std::string::npos) std::abort();
    if (&record != &kept.records.front()) text += ',';
    text += record.json;
  }
  return text + "]}";
}

void checkSame(const CollectorRecords& kept, const CollectorRecords& again) {
  if (again.malformed != 0 || again.beyond != 0) std::abort();
  if (again.records.size() != kept.records.size()) std::abort();
  for (std::size_t i = 0; i < kept.records.size(); ++i) {
    const CollectorRecord& a = kept.records[i];
    const CollectorRecord& b = again.records[i];
    if (a.host != b.host || a.utc != b.utc || a.json != b.json) std::abort();
    if (a.host.size() > CollectorRecords::kMaxText) std::abort();
  }
}

void checkApplications(std::string_view text) {
  const auto parsed = parseApplications(text);
  if (!parsed) return;
  const CollectorRecords& kept = parsed->applications;
  if (kept.records.size() > CollectorRecords::kMaxApplications) std::abort();
  if (parsed->anomalies.size() > kept.records.size()) std::abort();
  for (const PageAnomaly& anomaly : parsed->anomalies) {
    if (!std::isfinite(anomaly.score)) std::abort();
    if (anomaly.application.size() > PageAnomaly::kMaxText) std::abort();
  }
  const auto again = parseApplications(documentOf("applications", kept));
  if (!again || again->anomalies.size() != parsed->anomalies.size()) std::abort();
  checkSame(kept, again->applications);
}

void checkEvents(std::string_view text) {
  const auto parsed = parseEvents(text);
  if (!parsed) return;
  if (parsed->records.size() > CollectorRecords::kMaxEvents) std::abort();
  const auto again = parseEvents(documentOf("events", *parsed));
  if (!again) std::abort();
  checkSame(*parsed, *again);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  checkApplications(text);
  checkEvents(text);
  static_cast<void>(isPagesDocument(text));
  return 0;
}
