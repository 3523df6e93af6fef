// What one operation costs, in one thread or in several at the same time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace pingloom::bench {

// Does `operations` operations as thread number `thread`.
using Loop = std::function<void(unsigned thread, std::uint64_t operations)>;

// Rounds count only if all threads had a processor all the time, and at the same time: otherwise
// what they share would seem cheaper than it is, and what they wait for dearer.
class CostTable {
 public:
  explicit CostTable(unsigned runs) : runs_(runs) {}

  void add(std::string name, unsigned threads, Loop loop);
  // All of them, run by run, so that a busy moment of the machine meets them all; prints them.
  void measureAndPrint();

 private:
  struct Row {
    std::string name;
    unsigned threads;
    Loop loop;
    std::vector<double> costs;  // nanoseconds per operation, of the slowest thread, by round
  };
  static void measure(Row& row);

  const unsigned runs_;
  std::vector<Row> rows_;
};

}  // namespace pingloom::bench
