// Windows of a mesh with times as they occur, for tests of how history keeps them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <span>
#include <string>

#include "controller/history/codec/report_packer.h"
#include "unit/controller/support.h"

namespace pingloom::controller::test {

inline constexpr std::uint64_t kIndex = 179'523'072;
inline constexpr std::array<const wire::SampleSet& (wire::Row::*)() const, 4> kSets = {
    &wire::Row::network, &wire::Row::responder, &wire::Row::prober, &wire::Row::rtt};

// A window of a mesh: each pair has `samples` of each part, some pairs lose some.
inline wire::Report meshReport(std::mt19937_64& random, std::uint32_t pairs,
                               std::uint32_t samples) {
  wire::Report report = reportOf("mesh", "10.0.0.1", kIndex, {});
  for (std::uint32_t i = 0; i < pairs; ++i) {
    wire::Row& row = *report.add_rows();
    row.set_destination(IpAddress::fromV4(0x0a000002 + i).wire());
    const std::uint32_t lost = random() % 50 == 0 ? 1 : 0;
    row.set_sent(samples);
    row.set_received(samples - lost);
    row.set_lost(lost);
    row.set_jitter_ns(200 + random() % 1000);
    const double base = 8000 + 3000.0 * static_cast<double>(random() % 3);
    std::array<Distribution, 4> parts;
    for (std::uint32_t k = lost; k < samples; ++k) {
      std::lognormal_distribution<double> network(std::log(base), 0.15);
      std::lognormal_distribution<double> other(std::log(5000), 0.3);
      const std::array<double, 3> times = {network(random), other(random), other(random) * 4};
      for (std::size_t part = 0; part < 3; ++part) {
        parts[part].add(static_cast<std::uint64_t>(times[part]));
      }
      parts[3].add(static_cast<std::uint64_t>(times[0] + times[1] + times[2]));
    }
    for (std::size_t part = 0; part < 4; ++part) {
      wire::SampleSet& set = part == 0   ? *row.mutable_network()
                             : part == 1 ? *row.mutable_responder()
                             : part == 2 ? *row.mutable_prober()
                                         : *row.mutable_rtt();
      wire::encode(parts[part], set);
    }
  }
  return report;
}

inline bool ascend(std::span<const Run> runs) {
  return std::is_sorted(runs.begin(), runs.end(),
                        [](const Run& a, const Run& b) { return a.value < b.value; });
}

inline std::string packed(ReportPacker& packer, const wire::Report& report) {
  std::string block;
  const auto taken = packer.pack(report.SerializeAsString(), [&](std::string_view made) -> Status {
    block = made;
    return {};
  });
  EXPECT_TRUE(taken && *taken);
  return block;
}

inline std::string packed(const wire::Report& report) {
  ReportPacker packer;
  return packed(packer, report);
}

inline void expectNear(std::uint64_t kept, std::uint64_t exact, double bound, const char* what) {
  EXPECT_NEAR(static_cast<double>(kept), static_cast<double>(exact),
              1 + bound * static_cast<double>(exact))
      << what;
}

}  // namespace pingloom::controller::test
