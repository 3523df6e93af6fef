// What the lab's programs have instead of a test framework: the first thing that is wrong ends
// them.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace pingloom::lab {

[[noreturn]] inline void fail(const std::string& why) {
  std::printf("FAILED: %s\n", why.c_str());
  std::exit(1);
}
inline void require(bool holds, const std::string& why) {
  if (!holds) fail(why);
}
template <typename... Values>
void say(fmt::format_string<Values...> text, Values&&... values) {
  std::printf("  %s\n", fmt::format(text, std::forward<Values>(values)...).c_str());
}

}  // namespace pingloom::lab
