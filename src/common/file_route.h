// Finds the directory entries on which a path depends: every symbolic link on the way, and the file
// itself. It only reads the file system; any thread.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace pingloom {

// Maps each directory to those of its entries whose change makes the path lead elsewhere. Follows
// at most `max_links` links. If an entry is missing, the route ends with it. REQUIRES: `file` is
// absolute.
std::map<std::filesystem::path, std::set<std::string>> routeTo(const std::filesystem::path& file,
                                                               int max_links);

}  // namespace pingloom
