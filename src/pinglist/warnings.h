// Collects warnings about a valid pinglist. They are bounded, because a generated file can cause
// the same warning ten thousand times. One thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pingloom::pinglist {

class Warnings {
 public:
  static constexpr std::size_t kMax = 100;

  void add(const std::string& place, std::string_view text) {
    if (kept_.size() < kMax) {
      kept_.push_back(place + ": " + std::string(text));
    } else {
      ++more_;
    }
  }

  std::vector<std::string> take() {
    if (more_ > 0) kept_.push_back("and " + std::to_string(more_) + " more warnings");
    return std::move(kept_);
  }

 private:
  std::vector<std::string> kept_;
  std::size_t more_ = 0;
};

}  // namespace pingloom::pinglist
