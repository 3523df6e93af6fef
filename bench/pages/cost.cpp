#include "cost.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <thread>
#include <utility>

namespace pingloom::bench {

namespace {

constexpr double kRoundTime = 1e-3;   // seconds, about
constexpr double kTimeToWake = 2e-4;  // until all threads spin and wait for the round's begin
constexpr unsigned kRounds = 40;      // of a run, at most ...
constexpr std::size_t kEnough = 5;    // ... until so many count

double secondsOf(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
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

// All the time on a processor, at least nine tenths of it together.
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

void CostTable::add(std::string name, unsigned threads, Loop loop) {
  rows_.push_back({std::move(name), threads, std::move(loop), {}});
}

void CostTable::measure(Row& row) {
  const std::uint64_t operations = operationsOfARound(row.loop);
  double begin = secondsOf(CLOCK_MONOTONIC) + kTimeToWake;
  std::vector<Round> rounds(row.threads);
  std::size_t counted = 0;
  unsigned done = 0;
  const auto judge = [&]() noexcept {
    begin = secondsOf(CLOCK_MONOTONIC) + kTimeToWake;
    if (++done == 1 || !counts(rounds)) return;  // the first one warms up
    double longest = 0;
    for (const Round& round : rounds) longest = std::max(longest, round.length());
    row.costs.push_back(longest * 1e9 / static_cast<double>(operations));
    ++counted;
  };
  std::barrier all_ended(static_cast<std::ptrdiff_t>(row.threads), judge);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < row.threads; ++i) {
    threads.emplace_back([&, i] {
      while (counted < kEnough && done < kRounds) {
        rounds[i] = timed(row.loop, i, operations, begin);
        all_ended.arrive_and_wait();
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

void CostTable::measureAndPrint() {
  for (unsigned run = 0; run < runs_; ++run) {
    for (Row& row : rows_) measure(row);
  }
  std::printf("%-54s %7s %6s %8s %18s\n", "ns per operation", "threads", "rounds", "median",
              "p10 .. p90");
  for (Row& row : rows_) {
    std::sort(row.costs.begin(), row.costs.end());
    const std::size_t rounds = row.costs.size();
    std::printf("%-54s %7u %6zu", row.name.c_str(), row.threads, rounds);
    if (rounds == 0) {
      std::printf(" never at the same time\n");
      continue;
    }
    const auto at = [&](std::size_t tenths) {
      return row.costs[std::min(rounds - 1, rounds * tenths / 10)];
    };
    std::printf(" %8.2f %8.2f .. %6.2f\n", at(5), at(1), at(9));
  }
}

}  // namespace pingloom::bench
