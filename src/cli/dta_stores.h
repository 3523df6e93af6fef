// The actions of `pingloom dta` that show the document of all stores, each as a table of its own.
// Main thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace pingloom::cli {

// Runs such an action and returns its exit code. `text` explains it, and `print` prints the
// document for people.
int showStores(const std::vector<std::string>& arguments, const char* action, const char* text,
               void (*print)(const nlohmann::json& document));

// What a described table has room for: "1000 slots", "4 x 10000 blocks".
std::string tableRoom(const nlohmann::json& table);

}  // namespace pingloom::cli
