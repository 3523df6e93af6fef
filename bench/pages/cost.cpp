#include "cost.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <ctime>
#include <map>
#include <thread>
#include <utility>

#include "shared/clocks.h"
#include "shared/figures.h"

namespace pingloom::bench {

namespace {

constexpr double kRoundTime = 1e-3;   // seconds, about
constexpr double kTimeToWake = 2e-4;  // until all threads spin and wait for the round's begin
constexpr unsigned kMaxRounds = 40;   // in a run
constexpr std::size_t kEnough = 5;    // rounds that count end a run early

double secondsOf(clockid_t clock) { return toSeconds(readClock(clock)); }

std::string columnOf(unsigned threads) {
  return threads == 1 ? " | 1 thread" : " | " + std::to_string(threads) + " threads";
}

struct Round {
  double begin = 0, end = 0, cpu = 0;
  double length() const { return end - begin; }
};

Round timed(const Loop& loop, unsigned thread, std::uint64_t operations, double begin) {
  Round round;
  while (secondsOf(CLOCK_MONOTONIC) < begin) {
  }
  const double used = secondsOf(CLOCK_THREAD_CPUTIME_ID);
  round.begin = secondsOf(CLOCK_MONOTONIC);
  loop(thread, operations);
  round.end = secondsOf(CLOCK_MONOTONIC);
  round.cpu = secondsOf(CLOCK_THREAD_CPUTIME_ID) - used;
  return round;
}

std::uint64_t operationsOfARound(const Loop& loop) {
  constexpr std::uint64_t kTried = 20'000;
  const double one = timed(loop, 0, kTried, 0).length() / static_cast<double>(kTried);
  return static_cast<std::uint64_t>(kRoundTime / one) + 1;
}

// Whether all threads had a processor all the time, and ran together for nine tenths of it.
bool counts(const std::vector<Round>& rounds) {
  double first_end = rounds[0].end, last_begin = rounds[0].begin, longest = 0;
  for (const Round& round : rounds) {
    if (round.length() > 1.05 * round.cpu) return false;
    first_end = std::min(first_end, round.end);
    last_begin = std::max(last_begin, round.begin);
    longest = std::max(longest, round.length());
  }
  return first_end - last_begin >= 0.9 * longest;
}

}  // namespace

void CostTable::add(const std::string& name, unsigned threads, Loop loop) {
  rows_.push_back({name + columnOf(threads), threads, std::move(loop)});
}

void CostTable::compare(const std::string& what, const std::string& one, const std::string& other,
                        unsigned threads) {
  const std::string column = columnOf(threads);
  ratios_.push_back({what + column, one + column, other + column});
}

double CostTable::measure(const Row& row) {
  const std::uint64_t operations = operationsOfARound(row.loop);
  double begin = secondsOf(CLOCK_MONOTONIC) + kTimeToWake;
  std::vector<Round> rounds(row.threads);
  std::vector<double> costs;  // nanoseconds per operation, of the slowest thread
  unsigned done = 0;
  const auto judge = [&]() noexcept {
    begin = secondsOf(CLOCK_MONOTONIC) + kTimeToWake;
    if (++done == 1 || !counts(rounds)) return;  // the first one warms up
    double longest = 0;
    for (const Round& round : rounds) longest = std::max(longest, round.length());
    costs.push_back(longest * 1e9 / static_cast<double>(operations));
  };
  std::barrier all_ended(static_cast<std::ptrdiff_t>(row.threads), judge);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < row.threads; ++i) {
    threads.emplace_back([&, i] {
      while (costs.size() < kEnough && done < kMaxRounds) {
        rounds[i] = timed(row.loop, i, operations, begin);
        all_ended.arrive_and_wait();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return costs.empty() ? 0 : medianOf(std::move(costs));
}

void CostTable::measureAndPrint() {
  Figures figures;
  for (unsigned run = 0; run < runs_; ++run) {
    std::map<std::string, double> costs;
    for (const Row& row : rows_) {
      const double cost = measure(row);
      if (cost > 0) figures.add(row.name, "ns", costs[row.name] = cost);
    }
    for (const Ratio& ratio : ratios_) {
      const auto one = costs.find(ratio.one), other = costs.find(ratio.other);
      if (one == costs.end() || other == costs.end()) continue;
      figures.add(ratio.name, "", other->second / one->second);
    }
  }
  figures.print();
}

}  // namespace pingloom::bench
