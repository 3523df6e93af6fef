// The pairs that were chosen for links which too few sampled flows cross (verdict/cover_watch.h).
// They are kept in a file, so that a restart probes the same pairs. A pair stays until what the
// pinglist says of the probe's sample changes, or one of its hosts leaves. The control thread owns
// it. Bound: plan::kMaxExtraPairs for each probe that samples.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/address.h"
#include "controller/model/fabric_cover.h"
#include "pinglist/pinglist.h"

namespace pingloom::controller {

class CoverPairsFile {
 public:
  // Reads the file, if there is one. What is damaged is logged, and then there are no pairs.
  explicit CoverPairsFile(std::filesystem::path file);

  // Takes over what was chosen for probes of this pinglist, here or by another controller. What
  // belongs to another sample is left out. Returns how many pairs are new.
  std::size_t add(const std::vector<CoverPairs>& chosen, const pinglist::Pinglist& pinglist);
  // All pairs, with the samples that they belong to.
  std::vector<CoverPairs> all() const;
  // Returns the pinglist with the pairs in its plan; the same one where there are none. Forgets
  // pairs that do not fit to it any more.
  std::shared_ptr<const pinglist::Pinglist> applied(
      std::shared_ptr<const pinglist::Pinglist> pinglist);

 private:
  struct OfProbe {
    std::string inputs;  // what the sample depends on, beside its members
    std::set<std::pair<IpAddress, IpAddress>> pairs;
  };

  void load();
  void save();

  std::filesystem::path file_;
  std::map<std::string, OfProbe> probes_;
  bool failure_logged_ = false;
};

}  // namespace pingloom::controller
