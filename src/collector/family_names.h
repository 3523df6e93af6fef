// The names under which /metrics shows the families of applications. A family is all metrics of one
// name and kind. The first family of a name is shown under it. A later one of another kind, or one
// whose samples would have the names of another family's samples, is shown under the name with its
// kind, so that no value is left out because of what somebody else declares. Both formats of
// /metrics use the same names.
//
// A family keeps its name for as long as any page declares it, so series are not renamed while
// their owners live. Bounds: the families of all pages that are read, and at most as many that have
// ended. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pages/schema.h"

namespace pingloom::collector {

// The process that declares a metric. The strings are the caller's.
struct Declarer {
  std::string_view host;
  std::string_view application;
  std::uint32_t process = 0;
};

struct FamilyName {
  pingloom_metric_kind kind = PINGLOOM_COUNTER;
  std::string name;      // as it was declared
  std::string shown;     // "" if no name is free
  std::string declared;  // kind, name and declarer, for people
  std::string conflict;  // why `shown` is not `name`, naming both sides; "" if it is
};

class FamilyNames {
 public:
  // The families that the collector shows about itself, to which applications may add series.
  FamilyNames();

  // Returns the name of the metric's family, which is taken for as long as the caller keeps it.
  // Logs a warning for each new conflict, up to kMaxLogged.
  std::shared_ptr<const FamilyName> claim(const pages::Metric& metric, const Declarer& by);

 private:
  static constexpr std::size_t kMaxLogged = 100;
  using Key = std::pair<std::string, pingloom_metric_kind>;

  std::shared_ptr<const FamilyName> claimed(const Key& key) const;
  std::shared_ptr<const FamilyName> firstOf(const std::vector<std::string>& samples) const;
  void chooseName(FamilyName& made) const;
  std::shared_ptr<const FamilyName> add(FamilyName made);
  void forgetEnded();
  void warn(const FamilyName& made);

  std::mutex mutex_;
  std::map<Key, std::weak_ptr<const FamilyName>> families_;
  // Families by the names of their samples, in either format.
  std::unordered_map<std::string, std::weak_ptr<const FamilyName>> samples_;
  std::vector<std::shared_ptr<const FamilyName>> own_;
  std::size_t forget_at_ = 0;  // how many families there have to be
  std::size_t logged_ = 0;
};

}  // namespace pingloom::collector
