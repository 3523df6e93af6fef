#include "controller/control/cover_pairs.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/file.h"
#include "common/json_text.h"
#include "common/log.h"

namespace pingloom::controller {
namespace {

constexpr std::size_t kMaxCoverBytes = 64U << 20;

const plan::ProbeSpec* sampledProbe(const pinglist::Pinglist& list, const std::string& name) {
  for (const plan::ProbeSpec& spec : list.plan.probes) {
    if (spec.name == name && list.samplings.contains(name)) return &spec;
  }
  return nullptr;
}

std::string inputsOf(const pinglist::Pinglist& list, const plan::ProbeSpec& spec) {
  const pinglist::Sampling& sampling = list.samplings.at(spec.name);
  return fmt::format("{} {} {} {}", spec.across, spec.paths, sampling.cover, sampling.label);
}

}  // namespace

CoverPairsFile::CoverPairsFile(std::filesystem::path file) : file_(std::move(file)) { load(); }

std::size_t CoverPairsFile::add(const std::vector<CoverPairs>& chosen,
                                const pinglist::Pinglist& pinglist) {
  std::size_t added = 0;
  for (const CoverPairs& each : chosen) {
    const plan::ProbeSpec* spec = sampledProbe(pinglist, each.probe);
    if (spec == nullptr) continue;
    const std::string inputs = inputsOf(pinglist, *spec);
    if (!each.inputs.empty() && each.inputs != inputs) continue;
    // A pair of a host that is no member here would be forgotten again at once.
    const plan::AddressList& members = pinglist.plan.list(spec->destinations);
    for (const auto& pair : each.pairs) {
      if (!plan::contains(members, pair.first) || !plan::contains(members, pair.second)) continue;
      OfProbe& known = probes_[each.probe];
      if (known.pairs.size() >= plan::kMaxExtraPairs) break;
      known.inputs = inputs;
      added += known.pairs.insert(pair).second ? 1 : 0;
    }
  }
  if (added > 0) save();
  return added;
}

std::vector<CoverPairs> CoverPairsFile::all() const {
  std::vector<CoverPairs> made;
  for (const auto& [name, known] : probes_) {
    if (!known.pairs.empty()) {
      made.push_back({name, {known.pairs.begin(), known.pairs.end()}, known.inputs});
    }
  }
  return made;
}

std::shared_ptr<const pinglist::Pinglist> CoverPairsFile::applied(
    std::shared_ptr<const pinglist::Pinglist> pinglist) {
  bool forgot = false;
  for (auto at = probes_.begin(); at != probes_.end();) {
    const plan::ProbeSpec* spec = sampledProbe(*pinglist, at->first);
    if (spec == nullptr || inputsOf(*pinglist, *spec) != at->second.inputs) {
      at = probes_.erase(at);
      forgot = true;
      continue;
    }
    const plan::AddressList& members = pinglist->plan.list(spec->destinations);
    const std::size_t gone = std::erase_if(at->second.pairs, [&](const auto& pair) {
      return !plan::contains(members, pair.first) || !plan::contains(members, pair.second);
    });
    forgot = forgot || gone > 0;
    ++at;
  }
  if (forgot) save();
  if (probes_.empty()) return pinglist;
  auto made = std::make_shared<pinglist::Pinglist>(*pinglist);
  for (plan::ProbeSpec& spec : made->plan.probes) {
    const auto known = probes_.find(spec.name);
    if (known != probes_.end())
      spec.extra.assign(known->second.pairs.begin(), known->second.pairs.end());
  }
  return made;
}

void CoverPairsFile::load() {
  std::error_code ignored;
  if (!std::filesystem::exists(file_, ignored)) return;
  const auto text = readFile(file_, kMaxCoverBytes);
  try {
    if (!text) throw std::runtime_error(text.error().text());
    const nlohmann::json document = nlohmann::json::parse(*text);
    for (const nlohmann::json& json : document.at("probes")) {
      OfProbe& known = probes_[json.at("probe").get<std::string>()];
      known.inputs = json.at("inputs").get<std::string>();
      for (const nlohmann::json& pair : json.at("pairs")) {
        const auto source = IpAddress::parse(pair.at(0).get<std::string>());
        const auto destination = IpAddress::parse(pair.at(1).get<std::string>());
        if (!source || !destination || source->isV4() != destination->isV4()) continue;
        if (known.pairs.size() >= plan::kMaxExtraPairs) continue;
        known.pairs.emplace(*source, *destination);
      }
    }
  } catch (const std::exception& bad) {
    probes_.clear();
    log::warning("{}: {}; pairs for links are chosen anew", file_.string(), bad.what());
  }
}

void CoverPairsFile::save() {
  nlohmann::json document = {{"probes", nlohmann::json::array()}};
  for (const auto& [name, known] : probes_) {
    nlohmann::json pairs = nlohmann::json::array();
    for (const auto& [source, destination] : known.pairs) {
      pairs.push_back({source.text(), destination.text()});
    }
    document["probes"].push_back(
        {{"probe", name}, {"inputs", known.inputs}, {"pairs", std::move(pairs)}});
  }
  const auto status = writeFileAtomic(file_, jsonLine(document) + "\n");
  if (status) {
    failure_logged_ = false;
  } else if (!std::exchange(failure_logged_, true)) {
    log::error("{}; after a restart pairs for links are chosen anew", status.error().text());
  }
}

}  // namespace pingloom::controller
