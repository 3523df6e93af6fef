// Makes address handles on threads of its own: ibv_create_ah asks the network for the neighbour and
// takes a second or more where nobody answers. Several threads, so that a few dead hosts do not
// keep the others waiting; those asked for the first time before those looked up again. Destruction
// does not wait for a look-up under way: its thread ends when that returns.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "rdma/ud_endpoint.h"
#include "rdma/verbs/opened_device.h"

namespace pingloom::rdma::verbs {

class AhResolver {
 public:
  static constexpr std::size_t kMostThreads = 64;
  static constexpr std::size_t kMostPlanned = 32768;
  static constexpr std::size_t kMostOthers = 1024;

  struct Answer {
    UdPath path;
    std::shared_ptr<ibv_ah> handle;  // nullptr: there is no way
  };

  AhResolver(std::shared_ptr<OpenedDevice> device, const PathDefaults& defaults);
  ~AhResolver();
  AhResolver(const AhResolver&) = delete;
  AhResolver& operator=(const AhResolver&) = delete;

  // False: not now; too many are waiting.
  bool request(const UdPath& path, bool planned);
  // What has been found out since the last call. One thread.
  bool hasAnswers() const;
  std::vector<Answer> takeAnswers();

 private:
  struct Shared;
  static void run(const std::shared_ptr<Shared>& shared);
  static bool resolveOne(Shared& shared, std::unique_lock<std::mutex>& lock);

  std::shared_ptr<Shared> shared_;
};

}  // namespace pingloom::rdma::verbs
