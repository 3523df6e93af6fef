// Measures direct telemetry access: what a report costs translator and collector together over soft
// devices, and the collector's soft device alone, beside `direct`, a collector that receives the
// same datagrams and places them with its own CPU; how many keys are found in a table that is 75 %
// full; and what the translator's intake adds to receiving. One thread, CPU time; each run has all
// of them in turn.
#include <algorithm>
#include <boost/program_options.hpp>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "chain.h"
#include "common/program.h"
#include "direct.h"
#include "receive.h"
#include "shared/figures.h"
#include "store/keyed_reader.h"

namespace {

using namespace pingloom;
using namespace pingloom::bench;
using wire::ReportOperation;

constexpr std::uint16_t kKeyed = 1;
constexpr std::uint16_t kLists = 2;
constexpr std::uint16_t kCounters = 3;
constexpr std::uint16_t kPaths = 4;
constexpr std::uint32_t kKeys = 786'432;
constexpr std::uint64_t kSlots = 1'048'576;  // 75 % of them are used
constexpr std::uint32_t kFlows = 131'072;
constexpr std::uint64_t kMillion = 1'000'000;
constexpr std::uint64_t kOften = 2'000;  // reports

struct Case {
  const char* name;
  LoadOptions load;
  std::uint64_t flush_every;
};

std::vector<store::TableSpec> tables() {
  store::TableSpec keyed;
  keyed.id = kKeyed;
  keyed.name = "latest";
  keyed.slots = kSlots;
  keyed.value_bytes = 24;
  store::TableSpec lists;
  lists.kind = store::TableKind::kLists;
  lists.id = kLists;
  lists.name = "events";
  lists.lists = 1;
  lists.blocks = 65'536;
  lists.value_bytes = Load::kValueBytes;
  store::TableSpec counters;
  counters.kind = store::TableKind::kCounters;
  counters.id = kCounters;
  counters.name = "counts";
  counters.counters = kKeys / 2;
  store::TableSpec paths;
  paths.kind = store::TableKind::kPaths;
  paths.id = kPaths;
  paths.name = "paths";
  paths.slots = kFlows / 3 * 4;
  paths.identity_bytes = store::kIpv4Bytes;
  return {keyed, lists, counters, paths};
}

std::vector<Case> cases(std::uint64_t reports) {
  const auto load = [&](ReportOperation operation, std::uint16_t table, Spread spread) {
    return LoadOptions{operation, table, kKeys, spread, reports};
  };
  const auto key_write = ReportOperation::kKeyWrite;
  return {
      {"Append, 63 a block", load(ReportOperation::kAppend, kLists, Spread::kUniform), kOften},
      {"Key-Increment, Zipf", load(ReportOperation::kKeyIncrement, kCounters, Spread::kZipf),
       kMillion},
      {"Postcards, 5 hops",
       {ReportOperation::kPostcard, kPaths, kFlows, Spread::kUniform,
        reports / Load::kHops * Load::kHops},
       kMillion},
      {"Key-Write, Zipf", load(key_write, kKeyed, Spread::kZipf), kMillion},
      {"Key-Write, uniform", load(key_write, kKeyed, Spread::kUniform), kMillion},
      {"Key-Write, uniform, written every 2,000 reports", load(key_write, kKeyed, Spread::kUniform),
       kOften},
  };
}

// Writes every key three times, as a population that is reported again and again.
Status measureFound(Chain& chain, std::uint32_t sequence, Figures& figures) {
  for (int pass = 0; pass < 3; ++pass) {
    const Load load({ReportOperation::kKeyWrite, kKeyed, kKeys, Spread::kInTurn, kKeys}, sequence);
    sequence = load.nextSequence();
    if (auto written = chain.run(load, kMillion); !written) return tl::unexpected(written.error());
  }
  const store::Table& table = chain.head().tables.front();
  const auto memory = chain.tableMemory(table);
  std::uint32_t found = 0;
  for (std::uint32_t i = 0; i < kKeys; ++i) {
    found += store::findKey(table, memory, flowKey(i)).has_value() ? 1 : 0;
  }
  figures.add("keys found at 75 % load", "", static_cast<double>(found) / kKeys);
  return {};
}

Status measureChain(std::uint64_t reports, Figures& figures) {
  auto chain = Chain::create(tables());
  if (!chain) return tl::unexpected(chain.error());
  Direct direct(kSlots * 2);
  std::uint32_t sequence = 1;
  for (const Case& one : cases(reports)) {
    const Load warm(one.load, sequence);
    if (auto warmed = (*chain)->run(warm, one.flush_every); !warmed) {
      return tl::unexpected(warmed.error());
    }
    const Load load(one.load, warm.nextSequence());
    sequence = load.nextSequence();
    const LoadOptions baseline{ReportOperation::kKeyWrite, kKeyed, kKeys, one.load.spread, reports};
    const Load beside(baseline, 1);
    direct.run(beside);
    const double limit = direct.run(beside);
    const auto cost = (*chain)->run(load, one.flush_every);
    if (!cost) return tl::unexpected(cost.error());
    const std::string row = std::string(one.name) + " | ";
    figures.add(row + "translator and collector", "ns/report", cost->both);
    figures.add(row + "collector", "ns/report", cost->collector);
    figures.add(row + "limit: direct", "ns/report", limit);
    figures.add(row + "both of direct", "", cost->both / limit);
    figures.add(row + "collector of direct", "", cost->collector / limit);
  }
  return measureFound(**chain, sequence, figures);
}

Status measureReceive(std::uint64_t reports, Figures& figures) {
  const Load load({ReportOperation::kKeyWrite, kKeyed, kKeys, Spread::kZipf, reports}, 1);
  std::uint64_t bytes = 0;
  const auto bare =
      receive(load, [&](std::span<const std::uint8_t> datagram) { bytes += datagram.size(); });
  if (!bare) return tl::unexpected(bare.error());
  wire::ReportReader reader;
  std::uint64_t parsed = 0;
  const auto parsing = receive(load, [&](std::span<const std::uint8_t> datagram) {
    if (reader.open(datagram) != wire::ReportRefusal::kNone) return;
    while (reader.next()) ++parsed;
  });
  if (!parsing) return tl::unexpected(parsing.error());
  if (bytes == 0 || parsed != load.reports()) return makeError("receive", "reports were lost");
  figures.add("receiving a datagram of 34 reports | limit: bare loop", "ns", *bare);
  figures.add("receiving a datagram of 34 reports | parsed", "ns", *parsing);
  figures.add("receiving a datagram of 34 reports | bare of parsed", "", *bare / *parsing);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  namespace po = boost::program_options;
  int runs = 5;
  std::uint64_t reports = 3'000'000;
  po::options_description options("Options");
  options.add_options()("runs", po::value(&runs)->default_value(runs), "how many runs to make")(
      "reports", po::value(&reports)->default_value(reports), "how many reports a load has");
  po::variables_map values;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto code = program::parse(
          {"dta_bench", "dta_bench [OPTIONS]", "Reports from a datagram to a collector's memory."},
          arguments, options, {}, values)) {
    return *code;
  }
  Figures figures;
  for (int run = 0; run < std::max(runs, 1); ++run) {
    for (const auto measure : {measureChain, measureReceive}) {
      if (auto measured = measure(reports, figures); !measured) {
        std::fprintf(stderr, "dta_bench: %s\n", measured.error().text().c_str());
        return 1;
      }
    }
  }
  figures.print();
  return 0;
}
