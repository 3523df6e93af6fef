// The live view of `pingloom top` on a terminal. One thread; owns the terminal while it runs, and
// gives it back as it was on every way out but SIGKILL.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "cli/top_mesh.h"

namespace pingloom::cli {

class TopScreen {
 public:
  // REQUIRES: standard input and output are a terminal.
  explicit TopScreen(TopQuery query) : query_(std::move(query)) {}
  // Until q or SIGINT/SIGTERM; the exit code.
  int run();

 private:
  void refresh();
  void draw() const;
  std::string statusLine() const;
  bool key(int pressed);  // false: quit
  void filterKey(int pressed);
  void scroll(std::ptrdiff_t by);
  void rerank();
  std::size_t visibleLines() const;

  TopQuery query_;
  TopMesh mesh_;
  std::string trouble_;  // why the last refresh failed; "" = it did not
  Nanos next_mono_ = 0;
  std::size_t offset_ = 0;
  bool paused_ = false;
  bool typing_filter_ = false;
};

}  // namespace pingloom::cli
