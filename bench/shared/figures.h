// The figures of a benchmark, printed in the one form that people read and bench/report parses:
//
//     committed  952000 (945000 .. 954000) rows/s [945000 952000 954000]
//
// A line has the name, the median, the lowest and the highest sample, the unit, and all samples,
// one for each run. A name of the form "row | column" belongs to a table with several columns, and
// "table | row | column" to one of several such tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pingloom::bench {

double medianOf(std::vector<double> values);

class Figures {
 public:
  // Adds a sample. Lines are printed in the order in which their names were first used. `unit` is
  // empty for a ratio.
  void add(std::string_view name, std::string_view unit, double sample);
  void print() const;

 private:
  struct Figure {
    std::string name;
    std::string unit;
    std::vector<double> samples;
  };
  std::vector<Figure> figures_;
};

}  // namespace pingloom::bench
