// Creates address handles on threads of its own (lookup_threads.h), because ibv_create_ah blocks
// while the kernel resolves the neighbour. New paths go ahead of those that are resolved again.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "rdma/ud_endpoint.h"
#include "rdma/verbs/lookup_threads.h"
#include "rdma/verbs/opened_device.h"

namespace pingloom::rdma::verbs {

class AhResolver {
 public:
  static constexpr std::size_t kMaxPlanned = 32768;
  static constexpr std::size_t kMaxOthers = 1024;

  struct Answer {
    UdPath path;
    std::shared_ptr<ibv_ah> handle;  // nullptr if there is no route
  };

  AhResolver(std::shared_ptr<OpenedDevice> device, const PathDefaults& defaults);
  AhResolver(const AhResolver&) = delete;
  AhResolver& operator=(const AhResolver&) = delete;

  // Returns false if too many requests are waiting.
  bool request(const UdPath& path, bool planned);
  // Returns the results since the last call. One thread.
  bool hasAnswers() const;
  std::vector<Answer> takeAnswers();

 private:
  struct Shared;
  static AddressHandle make(Shared& shared, const UdPath& path);
  static void resolve(Shared& shared, const UdPath& path);

  std::shared_ptr<Shared> shared_;
  LookupThreads threads_;
};

}  // namespace pingloom::rdma::verbs
