// What an agent has said lies where in its range (wire/pages.proto), parsed: an agent is not
// trusted with more than its own pages. One thread; the PageInfos are immutable and shared.
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
  // Its series have the label `owner`, because application and process are others' too.
  bool numbered = false;
  pages::Schema schema;
  std::uint32_t schema_version = 0;
  std::size_t schema_bytes = 0;
  std::size_t slots = 0;  // the schema's last one and those before it: what there is to be read
};

// Why a page is left out: what the agent says of it is not as it has to be.
enum class PageFault : std::uint8_t {
  kSchema,  // it is none
  kOwner,   // the application's name or labels are none
  kSpace,   // the schemas of all pages together are too large
};
constexpr std::array<std::string_view, 3> kPageFaults = {"schema", "owner", "space"};

struct LeftOutPage {
  std::uint64_t generation = 0;
  std::uint64_t owner = 0;
  std::string application;  // "" where it is no name
  std::uint32_t user = 0;
  std::uint32_t process = 0;
  PageFault fault = PageFault::kSchema;
};

class PageDirectory {
 public:
  static constexpr std::uint32_t kMaxPages = 1U << 15;                   // of a range
  static constexpr std::size_t kMaxSchemaBytes = std::size_t{64} << 20;  // of all its pages

  // The error says why the agent's answer is not used; nothing has changed then.
  Status apply(const wire::Directory& update);

  // Of the agent whose answers are applied from now on, with no page yet. Another one than before
  // has taken its owners in whatever order they came back: those that had namesakes have the label
  // `owner` from then on, all of them, or one would go on with another's series.
  void begin(std::uint64_t incarnation);

  std::uint64_t epoch() const { return epoch_; }
  std::uint64_t version() const { return version_; }
  std::uint64_t address() const { return address_; }
  std::uint32_t rkey() const { return rkey_; }
  std::uint32_t pages() const { return pages_; }
  const std::map<std::uint32_t, std::shared_ptr<const PageInfo>>& byPlace() const {
    return by_place_;
  }
  // By place too; they are not read.
  const std::map<std::uint32_t, LeftOutPage>& leftOut() const { return left_out_; }

 private:
  tl::expected<std::shared_ptr<const PageInfo>, PageFault> infoOf(
      const wire::DirectoryPage& page) const;
  bool repeatsGeneration(const wire::Directory& update) const;
  void erase(std::uint32_t place);

  std::uint64_t incarnation_ = 0;
  // Applications and processes with namesakes: at this incarnation, and at those before. At most
  // two times kMaxPages.
  std::set<std::pair<std::string, std::uint32_t>> shared_, shared_before_;
  std::uint64_t epoch_ = 0;
  std::uint64_t version_ = 0;
  std::uint64_t address_ = 0;
  std::uint32_t rkey_ = 0;
  std::uint32_t pages_ = 0;
  std::map<std::uint32_t, std::shared_ptr<const PageInfo>> by_place_;
  std::unordered_map<std::uint64_t, std::uint32_t> place_of_;  // by generation
  std::size_t schema_bytes_ = 0;
  std::map<std::uint32_t, LeftOutPage> left_out_;
};

}  // namespace pingloom::collector
