// Values and entries as `pingloom dta` shows them. Pure functions; any thread.
#pragma once

#include <string>

namespace pingloom::cli {

// Returns the text that the hexadecimal digits stand for, in quotes and behind two blanks, if all
// of it is printable ASCII apart from zeros at the end; otherwise "".
std::string quotedText(const std::string& hex);

// Returns an entry of the table `path-changes` as "  TIME KEY hop N: BEFORE > AFTER"; "" if the
// hexadecimal digits are none.
std::string pathChangeText(const std::string& hex);

}  // namespace pingloom::cli
