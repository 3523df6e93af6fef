// The live view of `pingloom top` on a terminal. One thread. It owns the terminal while it runs and
// restores it on every exit except SIGKILL.
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
  // Runs until q, SIGINT or SIGTERM; returns the exit code.
  int run();

 private:
  void refresh();
  void draw() const;
  std::string statusLine() const;
  bool key(int pressed);  // returns false to quit
  void filterKey(int pressed);
  void scroll(std::ptrdiff_t by);
  void rerank();
  std::size_t visibleLines() const;

  TopQuery query_;
  TopMesh mesh_;
  std::string trouble_;  // why the last refresh failed; "" when it succeeded
  Nanos next_mono_ = 0;
  std::size_t offset_ = 0;
  bool paused_ = false;
  bool typing_filter_ = false;
};

}  // namespace pingloom::cli
