// The directory entries a path depends on: every symbolic link on the way and the file itself.
// Pure but for reading the file system; any thread.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace pingloom {

// Directory -> the entries in it whose change makes the path lead elsewhere. Follows at most
// `max_links` links. Where something is missing on the way the route ends there, with the missing
// entry. `file` is absolute.
std::map<std::filesystem::path, std::set<std::string>> routeTo(const std::filesystem::path& file,
                                                               int max_links);

}  // namespace pingloom
