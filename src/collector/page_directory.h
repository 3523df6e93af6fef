// The parsed directory of an agent's range (wire/pages.proto). An agent is trusted with nothing
// beyond its own pages. One thread; the PageInfos are immutable and shared.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "common/error.h"
#include "common/pod.h"
#include "pages/schema.h"

namespace pingloom::wire {
class Directory;
class DirectoryPage;
}  // namespace pingloom::wire

namespace pingloom::collector {

struct PageInfo {
  std::uint32_t place = 0;
  std::uint64_t generation = 0;
  std::uint64_t owner = 0;
  bool grouped = false;
  std::string application;
  pages::Labels labels;
  std::uint32_t user = 0;
  std::uint32_t process = 0;
  Pod pod;  // without a uid if it is in none
  // Whether its series have the label `owner`, because others share its application and process.
  bool numbered = false;
  pages::Schema schema;
  std::uint32_t schema_version = 0;
  std::size_t schema_bytes = 0;
  std::size_t slots = 0;  // number of slots to read, up to the schema's last one
};

// Why a page is left out.
enum class PageFault : std::uint8_t {
  kSchema,  // the schema is malformed
  kOwner,   // the application's name or labels are invalid
  kSpace,   // the schemas of all pages together are too large
};
constexpr std::array<std::string_view, 3> kPageFaults = {"schema", "owner", "space"};

struct LeftOutPage {
  std::uint64_t generation = 0;
  std::uint64_t owner = 0;
  std::string application;  // "" if the name is invalid
  std::uint32_t user = 0;
  std::uint32_t process = 0;
  PageFault fault = PageFault::kSchema;
};

class PageDirectory {
 public:
  static constexpr std::uint32_t kMaxPages = 1U << 15;  // limit for a range
  // limit for all pages of an agent
  static constexpr std::size_t kMaxSchemaBytes = std::size_t{64} << 20;

  // Applies an answer. On an error nothing has changed, and the error says why.
  Status apply(const wire::Directory& update);

  // Begins without pages for the agent whose answers are applied from now on. A restarted agent
  // numbers its owners in the order in which they return, so all owners that had namesakes get the
  // label `owner` from then on; otherwise one could continue another one's series.
  void begin(std::uint64_t incarnation);

  std::uint64_t epoch() const { return epoch_; }
  std::uint64_t version() const { return version_; }
  std::uint64_t address() const { return address_; }
  std::uint32_t rkey() const { return rkey_; }
  std::uint32_t pages() const { return pages_; }
  const std::map<std::uint32_t, std::shared_ptr<const PageInfo>>& byPlace() const {
    return by_place_;
  }
  // Pages that are not read, keyed by place.
  const std::map<std::uint32_t, LeftOutPage>& leftOut() const { return left_out_; }

 private:
  tl::expected<std::shared_ptr<const PageInfo>, PageFault> infoOf(
      const wire::DirectoryPage& page) const;
  bool repeatsGeneration(const wire::Directory& update) const;
  void erase(std::uint32_t place);

  std::uint64_t incarnation_ = 0;
  // Applications and processes with namesakes, in this and in earlier incarnations. Bound:
  // kMaxPages each.
  std::set<std::pair<std::string, std::uint32_t>> shared_, shared_before_;
  std::uint64_t epoch_ = 0;
  std::uint64_t version_ = 0;
  std::uint64_t address_ = 0;
  std::uint32_t rkey_ = 0;
  std::uint32_t pages_ = 0;
  std::map<std::uint32_t, std::shared_ptr<const PageInfo>> by_place_;
  std::unordered_map<std::uint64_t, std::uint32_t> place_of_;  // keyed by generation
  std::size_t schema_bytes_ = 0;
  std::map<std::uint32_t, LeftOutPage> left_out_;
};

}  // namespace pingloom::collector
