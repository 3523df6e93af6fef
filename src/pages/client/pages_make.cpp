// The part of Pages that creates metrics, groups and their pages, and that removes metrics.
#include <utility>

#include "pages/client/pages.h"

namespace pingloom::pages::client {

namespace {

// How long to wait for a page from the agent; after that the library creates its own.
constexpr auto kAgentTime = std::chrono::milliseconds(200);
constexpr std::size_t kMaxPages = 1024;  // each needs a descriptor

}  // namespace

Outcome Pages::makeMetric(const pingloom_metric& metric, const Form& form,
                          const std::vector<double>& bounds, Placed* at) {
  const std::lock_guard creating(creating_);
  Metric made{};
  const auto add_with = [&](const CommonLabels& labels) {
    Definition definition;
    Outcome outcome = makeDefinition(metric, form, bounds, labels, &definition);
    return outcome.ok() ? addMetric(metric.group, std::move(definition), &made) : outcome;
  };
  Outcome outcome = add_with(labels_);
  // Where there is no room for the environment's labels, they give way.
  if (outcome.error == PINGLOOM_FULL) outcome = add_with({labels_.application, {}});
  if (!outcome.ok()) return outcome;
  const Definition& placed = made.page->metric(made.number);
  *at = {made.page->page()->slots + placed.first, placed.shape, placed.bounds.data(),
         placed.bounds.size()};
  return {};
}

Outcome Pages::addMetric(const pingloom_group* group, Definition definition, Metric* made) {
  const std::string key = definition.key();
  if (const auto known = metrics_.find(key); known != metrics_.end()) {
    const Page* page = known->second.page;
    const pingloom_page* wanted = group == nullptr ? nullptr : group->page;
    if (!page->metric(known->second.number).sameMetric(definition) ||
        (page->grouped() ? page->page() : nullptr) != wanted) {
      return {PINGLOOM_CONFLICT, definition.name + ": made already, as something else"};
    }
    *made = known->second;
    return {};
  }
  const Family family{definition.form.kind, definition.unit};
  if (const auto known = families_.find(definition.name);
      known != families_.end() &&
      (known->second.kind != family.kind || known->second.unit != family.unit)) {
    return {PINGLOOM_CONFLICT, definition.name + ": metrics of this name are something else"};
  }
  if (Outcome outcome = pageFor(group, definition, &made->page); !outcome.ok()) return outcome;
  ++families_.try_emplace(definition.name, family).first->second.metrics;
  {
    const std::lock_guard lock(mutex_);
    made->number = made->page->add(std::move(definition));
  }
  metrics_.emplace(key, *made);
  wake();
  return {};
}

// It was made with the environment's labels, or without them where there was no room.
template <typename Use>
Outcome Pages::forEachKey(const pingloom_metric& metric, Use use) {
  pingloom_metric named = metric;
  named.options = 0;  // which an info may not have
  for (const CommonLabels& labels : {labels_, CommonLabels{labels_.application, {}}}) {
    Definition definition;  // its kind does not matter
    Outcome outcome = makeDefinition(named, {PINGLOOM_INFO}, {}, labels, &definition);
    if (!outcome.ok()) return outcome;
    use(definition.key());
  }
  return {};
}

Outcome Pages::removeMetric(const pingloom_metric& metric) {
  const std::lock_guard creating(creating_);
  bool removed = false;
  Outcome outcome =
      forEachKey(metric, [&](const std::string& key) { removed = removeKnown(key) || removed; });
  if (removed || !outcome.ok()) return outcome;
  return {PINGLOOM_NO_METRIC, std::string(metric.name) + ": there is no metric with these labels"};
}

Outcome Pages::exemplarsOf(const pingloom_metric& metric, pingloom_exemplars* exemplars) {
  const std::lock_guard creating(creating_);
  bool found = false;
  Outcome outcome = forEachKey(metric, [&](const std::string& key) {
    const auto known = metrics_.find(key);
    if (found || known == metrics_.end()) return;
    const Definition& placed = known->second.page->metric(known->second.number);
    found = placed.exemplars;
    if (!found) return;
    exemplars->slots = known->second.page->page()->slots + placed.first + placed.slots;
    exemplars->count = (placed.allSlots() - placed.slots) / PINGLOOM_EXEMPLAR_SLOTS;
  });
  if (found || !outcome.ok()) return outcome;
  return {PINGLOOM_NO_METRIC,
          std::string(metric.name) + ": no metric with these labels has exemplars"};
}

bool Pages::removeKnown(const std::string& key) {
  const auto known = metrics_.find(key);
  if (known == metrics_.end()) return false;
  const auto [page, number] = known->second;
  const auto family = families_.find(page->metric(number).name);
  if (--family->second.metrics == 0) families_.erase(family);
  metrics_.erase(known);
  {
    const std::lock_guard lock(mutex_);
    page->remove(number, std::chrono::steady_clock::now());
  }
  wake();
  return true;
}

// Both locks are held where a page's metrics are dropped, so either is enough to look at them.
Outcome Pages::pageFor(const pingloom_group* group, const Definition& definition, Page** page) {
  const Instant now = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  if (group != nullptr) {
    *page = groupPage(group);
    if (*page == nullptr) {
      return {PINGLOOM_BAD_ARGUMENT, definition.name + ": there is no such group"};
    }
    (*page)->sweep(now);
    if (!(*page)->hasRoom(definition)) {
      return {PINGLOOM_FULL, definition.name + ": the group's page is full"};
    }
    return {};
  }
  for (const auto& candidate : pages_) {
    if (candidate->grouped()) continue;
    candidate->sweep(now);
    if (!candidate->hasRoom(definition)) continue;
    *page = candidate.get();
    return {};
  }
  lock.unlock();
  return newPage(0, page);
}

Page* Pages::groupPage(const pingloom_group* group) const {
  for (const auto& page : pages_) {
    if (page->grouped() && page->page() == group->page) return page.get();
  }
  return nullptr;
}

Outcome Pages::makeGroup(pingloom_page** page) {
  const std::lock_guard creating(creating_);
  Page* made = nullptr;
  Outcome outcome = newPage(PINGLOOM_PAGE_GROUPED, &made);
  if (outcome.ok()) *page = made->page();
  return outcome;
}

Outcome Pages::newPage(std::uint16_t flags, Page** page) {
  if (pages_.size() >= kMaxPages) {
    return {PINGLOOM_FULL, "a process may have " + std::to_string(kMaxPages) + " pages"};
  }
  if (Outcome outcome = pageFromAgent(flags, page); !outcome.ok() || *page != nullptr) {
    return outcome;
  }
  PageMemory memory = PageMemory::make();
  if (memory.page() == nullptr) return {PINGLOOM_NO_MEMORY, "no memory for a page"};
  auto made = std::make_unique<Page>(next_number_++, flags, std::move(memory));
  *page = made.get();
  {
    const std::lock_guard lock(mutex_);
    pages_.push_back(std::move(made));
    first_page_ = pages_.front()->page();
  }
  wake();  // the agent has to be told
  return {};
}

// Yields no page if there is no agent or it takes too long.
Outcome Pages::pageFromAgent(std::uint16_t flags, Page** page) {
  *page = nullptr;
  std::unique_lock lock(mutex_);
  if (!has_thread_ || !session_.mayGrant()) return {};
  const std::uint32_t number = next_number_++;
  session_.request(number, flags);
  wake();
  PageRequest& request = session_.request();
  answered_.wait_for(lock, kAgentTime, [&request] { return !request.waiting(); });
  Outcome outcome;
  if (request.state == PageRequest::State::kRefused) outcome = {PINGLOOM_QUOTA, request.why};
  if (request.state == PageRequest::State::kGranted) {
    pages_.push_back(std::make_unique<Page>(number, flags, std::move(request.memory)));
    first_page_ = pages_.front()->page();
    *page = pages_.back().get();
    if (request.known) (*page)->belongsTo(session_.owner(), request.generation);
  }
  session_.endRequest();
  return outcome;
}

}  // namespace pingloom::pages::client
