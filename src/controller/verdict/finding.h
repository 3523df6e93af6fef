// From judged pairs to what people are told: collects the evidence of each probe, lets cover.h
// explain it, joins what concerns the same culprit in several probes, and words it. Pure; the
// control thread calls.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controller/model/board.h"
#include "controller/verdict/cover.h"
#include "controller/verdict/places.h"

namespace pingloom::controller {

// What is concluded about one culprit at this moment.
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
  std::map<std::string, std::string> labels;
  Nanos window = 0;  // the longest of its probes
  // Whether the newest windows show it still. Otherwise it is only not forgiven yet, and its
  // figures say nothing.
  bool shows = true;
};

// The snapshots of each probe's sources; never nullptr inside.
using JudgedSources = std::vector<std::vector<std::shared_ptr<const SourceSnapshot>>>;

ProbeEvidence collectEvidence(const Places& places, std::uint32_t probe,
                              const std::vector<std::shared_ptr<const SourceSnapshot>>& sources);

// Returns the findings of all probes, the worst first, then by entity.
std::vector<Finding> findCulprits(const Places& places, const JudgedSources& sources);

// Returns the labels of a host by its name, with "host"; empty where the pinglist has none.
std::map<std::string, std::string> labelsOfHost(const Places& places, const std::string& host);

}  // namespace pingloom::controller
