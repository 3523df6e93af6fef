// Turns judged pairs into findings that people can read: collects the evidence of each probe, lets
// cover.h explain it, joins the findings of several probes about the same culprit, and writes the
// sentence. Pure; the control thread calls it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controller/model/board.h"
#include "controller/verdict/cover.h"
#include "controller/verdict/places.h"

namespace pingloom::controller {

// The conclusion about one culprit at one moment.
struct Finding {
  std::string entity;  // entityOf(culprit), however its kind changes
  Culprit culprit;
  Severity severity = Severity::kNone;
  Figure figure = Figure::kNetwork;
  std::vector<std::string> probes;
  std::uint64_t bad_pairs = 0;
  std::uint64_t judged_pairs = 0;
  std::string sentence;
  std::vector<Culprit> candidates;
  std::string tell;
  std::vector<Evidence> evidence;
  std::vector<MovedCounter> counters;  // of the accused hosts; filled in by control/verdicts.h
  std::vector<PageAnomaly> anomalies;  // likewise
  std::map<std::string, std::string> labels;
  Nanos window = 0;  // the longest of its probes
  // Whether the newest windows still show the problem. If not, only earlier windows keep the pairs
  // bad, and the figures of the newest windows say nothing about it.
  bool shows = true;
  // False while the next window may well name another culprit instead.
  bool settled = true;
  // Another culprit explains the newest window nearly as well, which the next window decides.
  bool close_call = false;
};

// The snapshots of each probe's sources; no element is nullptr.
using JudgedSources = std::vector<std::vector<std::shared_ptr<const SourceSnapshot>>>;

ProbeEvidence collectEvidence(const Places& places, std::uint32_t probe,
                              const std::vector<std::shared_ptr<const SourceSnapshot>>& sources);

// Returns the findings of all probes, the worst first, then by entity.
std::vector<Finding> findCulprits(const Places& places, const JudgedSources& sources);

// Returns the labels of the host with this name, and its name as "host". Returns nothing if the
// plan does not have the host.
std::map<std::string, std::string> labelsOfHost(const Places& places, const std::string& host);

}  // namespace pingloom::controller
