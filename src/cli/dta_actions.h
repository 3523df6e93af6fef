// The actions of `pingloom dta`; dta_command.cpp lists them. Each has one .cpp, and its arguments
// are those that follow its name. Main thread.
#pragma once

#include <string>
#include <vector>

namespace pingloom::cli {

int dtaTables(const std::vector<std::string>& arguments);
int dtaGet(const std::vector<std::string>& arguments);
int dtaCount(const std::vector<std::string>& arguments);
int dtaTop(const std::vector<std::string>& arguments);
int dtaPath(const std::vector<std::string>& arguments);
int dtaTail(const std::vector<std::string>& arguments);
int dtaStatus(const std::vector<std::string>& arguments);
int dtaInspect(const std::vector<std::string>& arguments);

}  // namespace pingloom::cli
