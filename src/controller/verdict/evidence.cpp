// The part of finding.h that reads the judged pairs.
#include "controller/verdict/finding.h"

namespace pingloom::controller {
namespace {

// Counts the judged pairs of one source by everything that could be at fault.
void countSource(const Places& places, const SourceSnapshot& snapshot, std::uint32_t from,
                 const std::vector<std::uint32_t>& to, ProbeEvidence& evidence) {
  std::uint64_t judged = 0;
  for (std::size_t i = 0; i < snapshot.judged.size(); ++i) {
    const bool counts = snapshot.judged[i].severity != Severity::kNone;
    judged += counts ? 1 : 0;
    evidence.judged_in[to[i]] += counts ? 1 : 0;
  }
  evidence.judged_out[from] += judged;
  evidence.judged += judged;
  for (std::size_t label = 0; label < places.labels().size(); ++label) {
    const auto& of = places.labels()[label].of;
    const std::uint32_t value = of[from];
    if (value == Places::kNone) continue;
    std::uint64_t within = 0;
    for (std::size_t i = 0; i < snapshot.judged.size(); ++i) {
      within += of[to[i]] == value && snapshot.judged[i].severity != Severity::kNone ? 1 : 0;
    }
    evidence.judged_within[label][value] += within;
  }
}

}  // namespace

ProbeEvidence collectEvidence(const Places& places, std::uint32_t probe,
                              const std::vector<std::shared_ptr<const SourceSnapshot>>& sources) {
  ProbeEvidence made;
  made.probe = probe;
  made.judged_out.resize(places.addresses().size());
  made.judged_in.resize(places.addresses().size());
  for (const Places::Label& label : places.labels()) {
    made.judged_within.emplace_back(label.values.size());
  }
  const auto& to = places.destinations(probe);
  for (std::uint32_t source = 0; source < sources.size(); ++source) {
    const SourceSnapshot& snapshot = *sources[source];
    const std::uint32_t from = places.sources(probe)[source];
    countSource(places, snapshot, from, to, made);
    for (std::uint32_t i = 0; i < snapshot.judged.size(); ++i) {
      const Judged judged = snapshot.judged[i];
      if (judged.severity == Severity::kNone || judged.figures == 0) continue;
      auto& pairs = judged.severity < Severity::kSlow ? made.unsettled : made.bad;
      pairs.push_back({source, i, from, to[i], judged.severity, judged.figures});
    }
  }
  return made;
}

}  // namespace pingloom::controller
