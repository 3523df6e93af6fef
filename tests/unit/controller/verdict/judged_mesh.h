// A mesh of judged pairs for tests: hosts h1..hN with one address each, or one on each of two
// rails, four hosts in a rack. A test spoils pairs, and asks who is at fault.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "controller/verdict/finding.h"

namespace pingloom::controller {

class JudgedMesh {
 public:
  explicit JudgedMesh(std::size_t hosts, std::size_t rails = 1) {
    auto pinglist = std::make_shared<pinglist::Pinglist>();
    auto plan = std::make_shared<GridPlan>();
    for (std::size_t rail = 0; rail < rails; ++rail) {
      ProbeGrid& probe = plan->probes.emplace_back();
      probe.spec.name = rails == 1 ? "mesh" : fmt::format("rail{}", rail);
      for (std::size_t i = 1; i <= hosts; ++i) probe.sources.push_back(address(i, rail));
      probe.destinations = probe.sources;
    }
    for (std::size_t i = 1; i <= hosts; ++i) {
      pinglist::Host& host = pinglist->hosts.emplace_back();
      host.name = fmt::format("h{}", i);
      host.labels["rack"] = fmt::format("r{}", (i - 1) / 4 + 1);
      for (std::size_t rail = 0; rail < rails; ++rail) {
        const std::string label = rails == 1 ? "" : fmt::format("rail{}", rail);
        host.addresses.emplace_back(label, address(i, rail));
        pinglist->names[address(i, rail)] = label.empty() ? host.name : host.name + "/" + label;
      }
    }
    plan->pinglist = pinglist;
    for (const ProbeGrid& probe : plan->probes) {
      auto& sources = made_.emplace_back();
      for (std::size_t i = 0; i < hosts; ++i) sources.push_back(wellSource(probe, i));
    }
    places_ = Places(std::move(plan));
  }

  // Spoils each pair for which `which` holds; hosts count from 1.
  using Which = std::function<bool(std::size_t from, std::size_t to)>;
  void spoil(const Which& which, Figure figure = Figure::kNetwork,
             Severity severity = Severity::kVerySlow, std::size_t rail = 0) {
    for (std::size_t from = 0; from < made_[rail].size(); ++from) {
      SourceSnapshot& source = *made_[rail][from];
      for (std::size_t to = 0; to < source.judged.size(); ++to) {
        if (from == to || !which(from + 1, to + 1)) continue;
        source.judged[to] = {severity, figureBit(figure)};
        auto rows = std::make_shared<SourceRows>(*source.rows);
        Row row = rows->rows[to];
        if (figure == Figure::kLoss) row.lost = row.sent / 2;
        if (figure == Figure::kNetwork) row.network.p50 = 800'000;
        if (figure == Figure::kResponder) row.responder.p50 = 5'000'000;
        rows->rows.set(to, row);
        source.rows = std::move(rows);
      }
    }
  }

  // Makes each bad pair for which `which` holds have a newest window that is well.
  void fade(const Which& which) {
    for (std::size_t from = 0; from < made_[0].size(); ++from) {
      auto& judged = made_[0][from]->judged;
      for (std::size_t to = 0; to < judged.size(); ++to) {
        const bool bad = judged[to].severity >= Severity::kSlow;
        if (bad && which(from + 1, to + 1)) judged[to].figures |= Judged::kFading;
      }
    }
  }

  // Makes each pair for which `which` holds have a newest window beyond the threshold, though it is
  // ok.
  void unsettle(const Which& which, Figure figure) {
    for (std::size_t from = 0; from < made_[0].size(); ++from) {
      SourceSnapshot& source = *made_[0][from];
      for (std::size_t to = 0; to < source.judged.size(); ++to) {
        if (from == to || !which(from + 1, to + 1)) continue;
        source.judged[to] = {Severity::kOk, figureBit(figure)};
      }
    }
  }

  // Takes every judgement of pairs with this host away, as when its agent is gone.
  void forget(std::size_t host) {
    for (auto& sources : made_) {
      for (std::size_t from = 0; from < sources.size(); ++from) {
        for (std::size_t to = 0; to < sources.size(); ++to) {
          if (from + 1 == host || to + 1 == host) sources[from]->judged[to] = {};
        }
      }
    }
  }

  std::vector<Finding> find() const {
    JudgedSources sources;
    for (const auto& probe : made_) sources.emplace_back(probe.begin(), probe.end());
    return findCulprits(places_, sources);
  }
  // The culprits as "kind name", the worst first.
  std::vector<std::string> culprits() const {
    std::vector<std::string> made;
    for (const Finding& finding : find()) {
      made.push_back(std::string(name(finding.culprit.kind)) + " " + finding.culprit.name);
    }
    return made;
  }
  const Places& places() const { return places_; }
  static std::size_t rackOf(std::size_t host) { return (host - 1) / 4 + 1; }

 private:
  static IpAddress address(std::size_t host, std::size_t rail) {
    return *IpAddress::parse(fmt::format("10.{}.{}.{}", rail, host / 256, host % 256));
  }

  static std::shared_ptr<SourceSnapshot> wellSource(const ProbeGrid& probe, std::size_t self) {
    auto rows = std::make_shared<SourceRows>();
    rows->window = kSecond;
    rows->rows.resize(probe.destinations.size());
    auto made = std::make_shared<SourceSnapshot>();
    made->states.resize(probe.destinations.size());
    made->judged.resize(probe.destinations.size());
    made->baseline = {1000, 0, 1000, 1000, 100, 0, 0};
    for (std::size_t to = 0; to < rows->rows.size(); ++to) {
      if (to == self) continue;
      Row row;
      row.sent = row.received = 10;
      row.network = {10, 900, 1000, 1000, 1100, 1200, 1300};
      row.responder = row.prober = row.network;
      rows->rows.set(to, row);
      made->states[to] = PairState::kOk;
      made->judged[to] = {Severity::kOk, 0};
    }
    made->rows = std::move(rows);
    return made;
  }

  Places places_;
  std::vector<std::vector<std::shared_ptr<SourceSnapshot>>> made_;
};

}  // namespace pingloom::controller
