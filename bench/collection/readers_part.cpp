#include "readers_part.h"

#include <fmt/format.h>

#include <array>

#include "cores.h"
#include "sides.h"

namespace pingloom::bench {
namespace {

constexpr int kHosts = 2;
constexpr std::array<Shape, 2> kShapes = {{{64, 64}, {64, 504}}};

double rate(const Collected& one) { return one.metrics / one.seconds / 1e6; }

void addCosts(Figures& figures, const std::string& row, const Collected& one) {
  figures.add(row + "rate", "M metrics/s", rate(one));
  figures.add(row + "hosts' CPU a metric", "ns", one.host_cpu / one.metrics * 1e9);
  figures.add(row + "collector's CPU a metric", "ns", one.collector_cpu / one.metrics * 1e9);
  const double cpu = one.collector_cpu + one.host_cpu;
  figures.add(row + "processors used", "", cpu / one.seconds);
  figures.add(row + "rate a processor used", "M metrics/s", one.metrics / cpu / 1e6);
}

}  // namespace

bool addReaders(Figures& figures, double seconds) {
  for (const Shape& shape : kShapes) {
    const std::string row =
        fmt::format("readers | {} hosts, {} x {}, ", kHosts, shape.applications, shape.metrics);
    const Collected one_core = collectPages(shape, seconds, kHosts, 1);
    if (!pinTo(2)) return false;
    const Collected one = collectPages(shape, seconds, kHosts, 1);
    const Collected two = collectPages(shape, seconds, kHosts, 2);
    pinTo(1);
    addCosts(figures, row + "1 reader on 1 core | ", one_core);
    addCosts(figures, row + "1 reader on 2 cores | ", one);
    addCosts(figures, row + "2 readers on 2 cores | ", two);
    const std::string ratios = row + "2 readers on 2 cores | ";
    figures.add(ratios + "times 1 reader on 2 cores", "", rate(two) / rate(one));
    figures.add(ratios + "times 1 reader on 1 core", "", rate(two) / rate(one_core));
  }
  return true;
}

bool addSustained(Figures& figures, double seconds) {
  if (!pinTo(2)) return false;
  const Shape& shape = kShapes.back();
  const Collected two = collectPages(shape, seconds, kHosts, 2);
  pinTo(1);
  const std::string row =
      fmt::format("sustained | {} hosts, {} x {}, 2 readers on 2 cores for {:g} s | ", kHosts,
                  shape.applications, shape.metrics, seconds);
  addCosts(figures, row, two);
  figures.add(row + "rate of the slowest second", "M metrics/s", two.slowest / 1e6);
  return true;
}

}  // namespace pingloom::bench
