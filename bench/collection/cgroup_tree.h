// Makes files as the kernel has them of cgroups (version 2) in a folder of their own, because not
// every machine lets a benchmark make cgroups. They are removed at the end.
#pragma once

#include <filesystem>

namespace pingloom::bench {

class CgroupTree {
 public:
  explicit CgroupTree(int count);  // ends this process if they cannot be made
  CgroupTree(const CgroupTree&) = delete;
  CgroupTree& operator=(const CgroupTree&) = delete;
  ~CgroupTree();

  const std::filesystem::path& root() const { return root_; }

 private:
  std::filesystem::path root_;
};

}  // namespace pingloom::bench
