#include "collector/page_directory.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "pages.pb.h"
#include "pages/definition_rules.h"

namespace pingloom::collector {
namespace {

bool isPlace(std::uint32_t place, const wire::Directory& update) {
  return place > 0 && place < update.pages();  // place 0 is the range's head
}

bool isApplication(const std::string& name) {
  return name.size() <= pages::kMaxApplicationBytes && pages::isText(name);
}

LeftOutPage leftOutOf(const wire::DirectoryPage& page, PageFault fault) {
  LeftOutPage made;
  made.generation = page.generation();
  made.owner = page.owner();
  if (isApplication(page.application())) made.application = page.application();
  made.user = page.user();
  made.process = page.process();
  made.fault = fault;
  return made;
}

}  // namespace

void PageDirectory::begin(std::uint64_t incarnation) {
  PageDirectory fresh;
  fresh.incarnation_ = incarnation;
  fresh.shared_ = std::move(shared_);
  fresh.shared_before_ = std::move(shared_before_);
  if (incarnation != incarnation_ && fresh.shared_before_.size() < kMaxPages) {
    fresh.shared_before_.merge(std::exchange(fresh.shared_, {}));
  }
  *this = std::move(fresh);
}

Status PageDirectory::apply(const wire::Directory& update) {
  constexpr const char* kEntity = "page directory";
  if (update.pages() == 0 || update.pages() > kMaxPages) {
    return makeError(kEntity, "a range of " + std::to_string(update.pages()) + " pages");
  }
  if (!update.complete() && update.epoch() != epoch_) {
    return makeError(kEntity, "a difference to an epoch that was not asked for");
  }
  const bool sane = std::all_of(update.changed().begin(), update.changed().end(),
                                [&](const auto& page) { return isPlace(page.place(), update); }) &&
                    std::all_of(update.gone().begin(), update.gone().end(),
                                [&](std::uint32_t place) { return isPlace(place, update); });
  if (!sane) return makeError(kEntity, "a page outside the range");
  if (repeatsGeneration(update)) return makeError(kEntity, "two pages of one generation");
  if (update.complete()) {
    by_place_.clear();
    place_of_.clear();
    left_out_.clear();
    schema_bytes_ = 0;
  }
  epoch_ = update.epoch();
  version_ = update.version();
  address_ = update.address();
  rkey_ = update.rkey();
  pages_ = update.pages();
  for (const std::uint32_t place : update.gone()) erase(place);
  for (const wire::DirectoryPage& page : update.changed()) {
    erase(page.place());
    auto known = infoOf(page);
    if (!known) {
      left_out_[page.place()] = leftOutOf(page, known.error());
      continue;
    }
    std::shared_ptr<const PageInfo>& info = *known;
    // Owners of process 0 have the label anyway.
    if (info->numbered && info->process != 0 && shared_.size() < kMaxPages) {
      shared_.emplace(info->application, info->process);
    }
    schema_bytes_ += info->schema_bytes;
    place_of_[page.generation()] = page.place();
    by_place_[page.place()] = std::move(info);
  }
  return {};
}

// Readers identify pages by generation, so no generation may be at two places once the update is
// applied.
bool PageDirectory::repeatsGeneration(const wire::Directory& update) const {
  std::unordered_set<std::uint32_t> replaced(update.gone().begin(), update.gone().end());
  for (const wire::DirectoryPage& page : update.changed()) replaced.insert(page.place());
  std::unordered_map<std::uint64_t, std::uint32_t> fresh;
  return std::any_of(
      update.changed().begin(), update.changed().end(), [&](const wire::DirectoryPage& page) {
        if (fresh.emplace(page.generation(), page.place()).first->second != page.place()) {
          return true;
        }
        const auto known = place_of_.find(page.generation());
        return !update.complete() && known != place_of_.end() && known->second != page.place() &&
               !replaced.contains(known->second);
      });
}

void PageDirectory::erase(std::uint32_t place) {
  left_out_.erase(place);
  const auto found = by_place_.find(place);
  if (found == by_place_.end()) return;
  schema_bytes_ -= found->second->schema_bytes;
  // The entry stays if this update has placed the generation elsewhere.
  const auto known = place_of_.find(found->second->generation);
  if (known != place_of_.end() && known->second == place) place_of_.erase(known);
  by_place_.erase(found);
}

tl::expected<std::shared_ptr<const PageInfo>, PageFault> PageDirectory::infoOf(
    const wire::DirectoryPage& page) const {
  const std::string& raw = page.schema();
  if (raw.size() > kMaxSchemaBytes - schema_bytes_) return tl::unexpected(PageFault::kSpace);
  auto schema = pages::readSchema({reinterpret_cast<const std::uint8_t*>(raw.data()), raw.size()});
  if (!schema) return tl::unexpected(PageFault::kSchema);
  if (!isApplication(page.application()) ||
      static_cast<std::size_t>(page.labels_size()) > pages::kMaxLabels) {
    return tl::unexpected(PageFault::kOwner);
  }
  auto info = std::make_shared<PageInfo>();
  for (const auto& [name, value] : page.labels()) {
    if (!pages::isLabelName(name) || value.size() > pages::kMaxLabelBytes ||
        !pages::isText(value)) {
      return tl::unexpected(PageFault::kOwner);
    }
    info->labels.emplace_back(name, value);
  }
  std::sort(info->labels.begin(), info->labels.end());
  info->place = page.place();
  info->generation = page.generation();
  info->owner = page.owner();
  info->grouped = (page.flags() & PINGLOOM_PAGE_GROUPED) != 0;
  info->application = page.application();
  info->user = page.user();
  info->process = page.process();
  if (isPodUid(page.pod_uid())) {
    info->pod.uid = page.pod_uid();
    if (isContainer(page.container_id())) info->pod.container = page.container_id();
  }
  info->numbered = page.namesake() || page.process() == 0 ||
                   shared_before_.contains({page.application(), page.process()});
  info->schema_bytes = raw.size();
  info->schema_version = page.schema_version();
  for (const pages::Metric& metric : *schema) {
    info->slots = std::max<std::size_t>(info->slots, metric.first_slot + metric.allSlots());
  }
  info->schema = std::move(*schema);
  return info;
}

}  // namespace pingloom::collector
