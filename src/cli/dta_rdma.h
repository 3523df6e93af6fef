// Where `pingloom dta --rdma` reads stores: in a collector's memory, by RDMA READ. Blocking; main
// thread.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>
#include <memory>
#include <string>
#include <vector>

#include "common/error.h"
#include "rdma/open_device.h"
#include "store/store_client.h"
#include "store/store_view.h"

namespace pingloom::cli {

struct RdmaSource {
  store::StoreClientOptions client;
  rdma::DeviceOptions device;
  std::vector<std::string> stores;  // by their translators' names; all if empty
};

// A store, and its name, which is its translator's unless configured otherwise.
struct OpenedStore {
  std::string name;
  store::StoreView view;
};
struct OpenedStores {
  std::shared_ptr<rdma::Device> device;  // outlives the views; nullptr for files
  std::vector<OpenedStore> stores;

  // An error if one of the stores could not be reached.
  Status reachable() const;
};

// Adds --rdma and what belongs to it.
void addRdmaOptions(boost::program_options::options_description& options);
// REQUIRES: --rdma was given.
Result<RdmaSource> rdmaSourceOf(const boost::program_options::variables_map& values);
Result<OpenedStores> openRemoteStores(const RdmaSource& source);

}  // namespace pingloom::cli
