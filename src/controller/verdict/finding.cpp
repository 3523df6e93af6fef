#include "controller/verdict/finding.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <tuple>
#include <utility>

#include "controller/model/host_labels.h"
#include "controller/model/limits.h"
#include "controller/verdict/sentence.h"

namespace pingloom::controller {
namespace {

// A severity counts for a culprit if this share of its bad pairs has it.
constexpr double kSeverityShare = 0.3;
// The figures of a culprit are taken from at most so many pairs.
constexpr std::size_t kMaxSummed = 1000;
// A culprit's trouble shows while the newest window of one of so many of its bad pairs has it. One
// lost ping among pairs that are only not forgiven yet is chance.
constexpr std::size_t kShowsOneOf = 4;
// A host is at fault, and not each of its addresses, from this share of its addresses on.
constexpr double kAddressesOfHost = 0.75;

// The suspects of all probes that concern one culprit.
struct Joined {
  Culprit culprit;
  std::size_t most = 0;  // bad pairs of the suspect that named the kind
  std::vector<Suspect> parts;
};
using ByEntity = std::map<std::string, Joined>;

void addTo(ByEntity& joined, const std::string& entity, const Culprit& culprit, Suspect suspect) {
  Joined& into = joined[entity];
  if (into.parts.empty() || suspect.bad.size() > into.most) {
    into.culprit = culprit;
    into.most = suspect.bad.size();
  }
  into.parts.push_back(std::move(suspect));
}

std::uint32_t hostOf(const Places& places, const Culprit& culprit) {
  if (culprit.kind <= CulpritKind::kHostCpu) return places.hostNamed(culprit.name);
  const std::size_t slash = culprit.name.rfind('/');
  const bool address = culprit.kind <= CulpritKind::kAddressReceive;
  if (!address || slash == std::string::npos) return Places::kNone;
  return places.hostNamed(culprit.name.substr(0, slash));
}

// Several addresses of a host become the host.
void joinAddresses(const Places& places, ByEntity& joined) {
  std::map<std::uint32_t, std::vector<std::string>> by_host;
  for (const auto& [entity, found] : joined) {
    if (!entity.starts_with("address:")) continue;
    const std::uint32_t host = hostOf(places, found.culprit);
    if (host != Places::kNone) by_host[host].push_back(entity);
  }
  for (const auto& [host, entities] : by_host) {
    const Places::Host& place = places.hosts()[host];
    const auto all = static_cast<double>(place.addresses.size());
    if (entities.size() < 2 || static_cast<double>(entities.size()) < kAddressesOfHost * all) {
      continue;
    }
    for (const std::string& entity : entities) {
      Joined found = std::move(joined[entity]);
      joined.erase(entity);
      const int side =
          static_cast<int>(found.culprit.kind) - static_cast<int>(CulpritKind::kAddress);
      for (Suspect& part : found.parts) {
        addTo(joined, "host:" + place.name, {static_cast<CulpritKind>(side), place.name},
              std::move(part));
      }
    }
  }
}

// A bad pair of one probe is explained by a host that another probe accuses.
void absorbPairs(const Places& places, ByEntity& joined) {
  for (auto at = joined.begin(); at != joined.end();) {
    if (!at->first.starts_with("pair:")) {
      ++at;
      continue;
    }
    const BadPair& pair = at->second.parts.front().bad.front();
    auto accused = joined.end();
    for (const std::uint32_t end : {pair.from, pair.to}) {
      const auto host = "host:" + places.hosts()[places.addresses()[end].host].name;
      if (accused == joined.end()) accused = joined.find(host);
    }
    if (accused == joined.end()) {
      ++at;
      continue;
    }
    for (Suspect& part : at->second.parts) accused->second.parts.push_back(std::move(part));
    at = joined.erase(at);
  }
}

Severity severityOf(const std::vector<Suspect>& parts) {
  std::array<std::size_t, kSeverityNames.size()> counts{};
  std::size_t all = 0;
  for (const Suspect& part : parts) {
    all += part.bad.size();
    for (const BadPair& pair : part.bad) ++counts[static_cast<std::size_t>(pair.severity)];
  }
  std::size_t beyond = 0;
  for (std::size_t i = counts.size(); i-- > static_cast<std::size_t>(Severity::kSlow);) {
    beyond += counts[i];
    if (beyond > 0 && static_cast<double>(beyond) >= kSeverityShare * static_cast<double>(all)) {
      return static_cast<Severity>(i);
    }
  }
  return Severity::kSlow;
}

// The figure that most of the pairs have, of those that accuse this kind of culprit.
Figure figureOf(const Culprit& culprit, Severity severity, const std::vector<Suspect>& parts) {
  if (severity >= Severity::kLossy) return Figure::kLoss;
  std::uint8_t mask = 0xFF;
  if (culprit.kind == CulpritKind::kHostCpu) mask = static_cast<std::uint8_t>(~kNetworkFigures);
  std::array<std::size_t, kFigureNames.size()> counts{};
  for (const Suspect& part : parts) {
    for (const BadPair& pair : part.bad) {
      for (std::size_t i = 0; i < counts.size(); ++i) {
        counts[i] += (pair.figures & mask & 1U << i) != 0 ? 1 : 0;
      }
    }
  }
  return static_cast<Figure>(std::max_element(counts.begin(), counts.end()) - counts.begin());
}

// Reads the rows behind the bad pairs of one culprit.
class RowReader {
 public:
  RowReader(const Places& places, const JudgedSources& sources, Figure figure)
      : places_(places), sources_(sources), figure_(figure) {}

  void add(const Suspect& part) {
    for (const BadPair& pair : part.bad) {
      const SourceSnapshot& snapshot = *sources_[part.probe][pair.source];
      if (snapshot.rows == nullptr) continue;
      const RowFigures row = figuresOf(snapshot.rows->rows.packed(pair.destination));
      const PairCounts& counts = row.counts;
      if (counts.sent == 0) continue;
      window_ = std::max(window_, snapshot.rows->window);
      std::uint64_t value = 0;
      (void)judgedValue(row, figure_, value);
      const std::uint64_t base = snapshot.baseline[static_cast<std::size_t>(figure_)];
      if (values_.size() < kMaxSummed && value != 0) {
        values_.push_back(value);
        base_ = std::max(base_, base);
      }
      sent_ += counts.sent;
      lost_ += std::uint64_t{counts.lost} + counts.refused + counts.unreachable;
      worst_.emplace_back(pair.severity, value, part.probe, pair);
      if (worst_.size() > 4 * Incident::kMaxEvidence) keepWorst();
    }
  }

  FigureSummary summary() {
    if (figure_ == Figure::kLoss) {
      const double share = sent_ == 0 ? 0 : static_cast<double>(lost_) / static_cast<double>(sent_);
      return {static_cast<std::uint64_t>(share * kMillionth), 0};
    }
    if (values_.empty()) return {};
    const auto middle = values_.begin() + static_cast<std::ptrdiff_t>(values_.size() / 2);
    std::nth_element(values_.begin(), middle, values_.end());
    return {*middle, base_};
  }

  std::vector<Evidence> evidence() {
    keepWorst();
    std::vector<Evidence> made;
    for (const auto& [severity, value, probe, pair] : worst_) {
      const ProbeGrid& grid = places_.plan().probes[probe];
      const SourceSnapshot& snapshot = *sources_[probe][pair.source];
      Evidence& line = made.emplace_back();
      line.probe = grid.spec.name;
      line.source = grid.sources[pair.source];
      line.destination = grid.destinations[pair.destination];
      line.source_name = places_.addresses()[pair.from].name;
      line.destination_name = places_.addresses()[pair.to].name;
      line.state = snapshot.states[pair.destination].value_or(PairState::kPending);
      line.severity = severity;
      for (const std::string& reason :
           becauseOf(figuresOf(snapshot.rows->rows.packed(pair.destination)),
                     snapshot.judged[pair.destination], snapshot.baseline)) {
        line.because += (line.because.empty() ? "" : "; ") + reason;
      }
    }
    return made;
  }

  Nanos window() const { return window_; }

 private:
  void keepWorst() {
    std::stable_sort(worst_.begin(), worst_.end(), [](const auto& a, const auto& b) {
      return std::tie(std::get<0>(a), std::get<1>(a)) > std::tie(std::get<0>(b), std::get<1>(b));
    });
    if (worst_.size() > Incident::kMaxEvidence) worst_.resize(Incident::kMaxEvidence);
  }

  const Places& places_;
  const JudgedSources& sources_;
  const Figure figure_;
  std::vector<std::uint64_t> values_;
  std::uint64_t base_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t lost_ = 0;
  Nanos window_ = 0;
  std::vector<std::tuple<Severity, std::uint64_t, std::uint32_t, BadPair>> worst_;
};

Finding findingOf(const Places& places, const JudgedSources& sources, const std::string& entity,
                  const Joined& joined) {
  Finding made;
  made.entity = entity;
  made.culprit = joined.culprit;
  made.severity = severityOf(joined.parts);
  made.figure = figureOf(joined.culprit, made.severity, joined.parts);
  RowReader rows(places, sources, made.figure);
  std::set<std::string> probes;
  std::size_t showing = 0;
  made.settled = false;
  for (const Suspect& part : joined.parts) {
    made.settled = made.settled || part.settled;
    probes.insert(places.plan().probes[part.probe].spec.name);
    made.bad_pairs += part.bad.size();
    made.judged_pairs += part.judged;
    if (made.candidates.empty()) made.candidates = part.candidates;
    if (made.tell.empty()) made.tell = part.tell;
    showing += static_cast<std::size_t>(
        std::count_if(part.bad.begin(), part.bad.end(), std::mem_fn(&BadPair::shows)));
    rows.add(part);
  }
  made.probes.assign(probes.begin(), probes.end());
  made.evidence = rows.evidence();
  made.window = rows.window();
  made.shows = kShowsOneOf * showing >= made.bad_pairs;
  made.sentence = sentenceOf(made, rows.summary());
  const std::uint32_t host = hostOf(places, made.culprit);
  if (host != Places::kNone) made.labels = labelsOfHost(places, places.hosts()[host].name);
  return made;
}

}  // namespace

std::map<std::string, std::string> labelsOfHost(const Places& places, const std::string& host) {
  std::map<std::string, std::string> made;
  const std::uint32_t number = places.hostNamed(host);
  if (number == Places::kNone) return made;
  const pinglist::Host* known = places.hosts()[number].known;
  if (known != nullptr) made = known->labels;
  made["host"] = host;
  return made;
}

std::vector<Finding> findCulprits(const Places& places, const JudgedSources& sources) {
  ByEntity joined;
  for (std::uint32_t probe = 0; probe < sources.size(); ++probe) {
    ProbeEvidence evidence = collectEvidence(places, probe, sources[probe]);
    if (evidence.bad.empty()) continue;
    for (Suspect& suspect : coverProbe(places, std::move(evidence))) {
      const Culprit culprit = suspect.culprit;
      addTo(joined, entityOf(culprit), culprit, std::move(suspect));
    }
  }
  joinAddresses(places, joined);
  absorbPairs(places, joined);
  std::vector<Finding> made;
  made.reserve(joined.size());
  for (const auto& [entity, found] : joined) {
    made.push_back(findingOf(places, sources, entity, found));
  }
  std::stable_sort(made.begin(), made.end(), [](const Finding& a, const Finding& b) {
    return std::tie(a.severity, a.bad_pairs) > std::tie(b.severity, b.bad_pairs);
  });
  return made;
}

}  // namespace pingloom::controller
