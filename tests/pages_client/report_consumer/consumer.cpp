// An application that was built against the installed library. Prints 1500, the reports that it
// made.
#include <iostream>
#include <pingloom/report.hpp>

int main() {
  pingloom::Reporter reporter;
  for (int i = 0; i < 1500; ++i) {
    if (!reporter.keyWrite(1, "queue", "value")) return 1;
  }
  std::cout << reporter.status().taken << "\n";
}
