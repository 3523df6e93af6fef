// The threads of a translator. Each has a socket, an RDMA endpoint and a store of its own, so they
// share nothing. The kernel gives all datagrams of a reporter to one thread. Any thread may call
// what is const and setReporters(); start() and the destructor belong to one.
#pragma once

#include <memory>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "rdma/device.h"
#include "translator/config.h"
#include "translator/counters.h"
#include "translator/ingest_thread.h"

namespace pingloom::translator {

class IngestGroup {
 public:
  // Opens the devices and the sockets, and starts. REQUIRES: the keys are loaded.
  static Result<std::unique_ptr<IngestGroup>> start(const Config& config);
  ~IngestGroup();
  IngestGroup(const IngestGroup&) = delete;
  IngestGroup& operator=(const IngestGroup&) = delete;

  // Return the sums of what the threads had counted up to 100 ms ago. It is connected if all are.
  Counters counters() const;
  ReporterLosses losses() const;
  // Applies within 100 ms. REQUIRES: the reporters' keys are loaded.
  void setReporters(const ReporterSpecs& specs);
  const SocketAddress& listens() const { return threads_.front()->listens(); }
  const rdma::DeviceInfo& device() const { return threads_.front()->device(); }

 private:
  IngestGroup() = default;
  std::vector<std::unique_ptr<IngestThread>> threads_;
};

// The name of the store that a thread writes, by its number from 0: NAME, NAME-2, NAME-3, ...
std::string storeName(const Config& config, std::uint32_t thread);

}  // namespace pingloom::translator
