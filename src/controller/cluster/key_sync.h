// Makes this controller's list of authorised keys and its join book the same as those of the other
// controllers that share its history (key_store.h): what either side has changed is merged
// (keys/key_merge.h), written to the database, and then into the files, whose watcher takes it from
// there (control/authorized_source.h). The common state is kept in the folder shared_keys beside
// the list, so that a key which was revoked while the controller did not run does not come back.
// Without that folder, as on a new controller, nothing counts as removed here. One thread.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "common/error.h"
#include "common/time.h"
#include "controller/cluster/key_store.h"
#include "controller/history/fence.h"
#include "controller/history/sql/place.h"

namespace pingloom::controller {

class KeySync {
 public:
  struct Options {
    HistoryPlace place;
    std::filesystem::path authorized;  // the list; the join book is beside it
    std::filesystem::path state_dir;   // knows the installation (cluster/lease.h)
    std::shared_ptr<const Fence> fence;
  };

  explicit KeySync(Options options) : options_(std::move(options)) {}
  // Makes the files and the database the same. `changed` says whether the files may have changed.
  // If it fails, nothing is lost, and the next call continues.
  Status step(bool changed, Nanos now_utc);

 private:
  Status connect();
  Status prepareBase();
  void loadBase();
  Status saveBase();
  Result<keys::KeySet> mine();
  Result<bool> merge(Nanos now_utc);
  Status writeFiles(const keys::KeySet& before, Nanos now_utc);
  bool baseExists() const;
  void tellDropped(const keys::KeySet& before) const;

  const Options options_;
  std::optional<KeyStore> store_;
  std::optional<keys::KeySet> base_;  // the last state that both had
  bool saved_ = false;                // whether it is on the disk
  KeyStore::Stored theirs_;           // what the database has, as it was last read
  bool pending_ = true;               // the files have to be looked at
};

}  // namespace pingloom::controller
