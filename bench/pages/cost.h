// Measures what one operation costs, in one thread or in several at the same time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace pingloom::bench {

// Does `operations` operations as thread number `thread`.
using Loop = std::function<void(unsigned thread, std::uint64_t operations)>;

// A round counts only if all threads had a processor all the time and ran together. Otherwise what
// they share would seem cheaper than it is, and what they wait for more expensive.
class CostTable {
 public:
  explicit CostTable(unsigned runs) : runs_(runs) {}

  void add(const std::string& name, unsigned threads, Loop loop);
  // Tells how many times as much `other` costs as `one`; both have been added.
  void compare(const std::string& what, const std::string& one, const std::string& other,
               unsigned threads);
  // Measures all loops run by run, so that a busy moment of the machine meets them all, and prints
  // the median of each run.
  void measureAndPrint();

 private:
  struct Row {
    std::string name;  // with the number of threads
    unsigned threads;
    Loop loop;
  };
  // Gives the median of the rounds that count, or 0 if none does.
  static double measure(const Row& row);

  struct Ratio {
    std::string name, one, other;
  };

  const unsigned runs_;
  std::vector<Row> rows_;
  std::vector<Ratio> ratios_;
};

}  // namespace pingloom::bench
