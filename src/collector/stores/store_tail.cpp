#include "collector/stores/store_tail.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "collector/stores/store_config.h"
#include "common/hex.h"

namespace pingloom::collector {
namespace {

constexpr std::size_t kMaxCursorText = 4096;  // bytes; 64 stores need less

// Takes the hexadecimal number up to `end` off the text.
std::optional<std::uint64_t> takeNumber(std::string_view& text, char end, std::uint64_t most) {
  const auto digits = text.substr(0, text.find(end));
  std::uint64_t number = 0;
  const char* const last = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), last, number, 16);
  if (digits.empty() || parsed.ec != std::errc() || parsed.ptr != last || number > most) {
    return std::nullopt;
  }
  text.remove_prefix(std::min(digits.size() + 1, text.size()));
  return number;
}

const store::Table* tableOf(const NamedView& one, const TailQuestion& question) {
  const store::Table* table = one.view->findTable(question.table);
  const bool has =
      table != nullptr && table->kind == store::TableKind::kLists && question.list < table->lists;
  return has ? table : nullptr;
}

}  // namespace

Result<TailCursor> TailCursor::parse(std::string_view text) {
  TailCursor cursor;
  const auto malformed = makeError("cursor", "is none that an earlier answer gave");
  if (text.size() > kMaxCursorText) return malformed;
  while (!text.empty()) {
    const auto store = takeNumber(text, '-', UINT64_MAX);
    const auto block = store ? takeNumber(text, '-', INT64_MAX) : std::nullopt;
    const auto entry = block ? takeNumber(text, '.', UINT16_MAX) : std::nullopt;
    if (!entry || *block == 0 || cursor.places.size() == kMaxStores) return malformed;
    cursor.places[*store] = {*block, static_cast<std::uint16_t>(*entry)};
  }
  return cursor;
}

std::string TailCursor::text() const {
  std::string text;
  for (const auto& [store, place] : places) {
    if (!text.empty()) text += '.';
    fmt::format_to(std::back_inserter(text), "{:x}-{:x}-{:x}", store, place.sequence, place.entry);
  }
  return text;
}

Status checkTail(std::span<const NamedView> stores, const TailQuestion& question) {
  const bool known = std::any_of(stores.begin(), stores.end(), [&](const NamedView& one) {
    return tableOf(one, question) != nullptr;
  });
  if (known) return {};
  return makeError("table " + question.table,
                   fmt::format("no store has a table of lists with list {} of it", question.list));
}

TailCursor endOfTail(std::span<const NamedView> stores, const TailQuestion& question) {
  TailCursor cursor;
  for (const NamedView& one : stores) {
    const store::Table* table = tableOf(one, question);
    if (table == nullptr) continue;
    cursor.places[one.view->head().store] = one.view->endOf(*table, question.list);
  }
  return cursor;
}

nlohmann::ordered_json tailJson(std::span<const NamedView> stores, const TailQuestion& question) {
  auto entries = nlohmann::ordered_json::array();
  TailCursor cursor;
  std::uint64_t lost = 0;
  // Every store gets the same share, so that a busy one does not keep the others waiting.
  const std::size_t share =
      std::max<std::size_t>(kMaxTailEntries / std::max<std::size_t>(stores.size(), 1), 1);
  for (const NamedView& one : stores) {
    const store::Table* table = tableOf(one, question);
    if (table == nullptr) continue;
    const std::uint64_t id = one.view->head().store;
    const auto known = question.cursor.places.find(id);
    const store::ListCursor from = known != question.cursor.places.end()
                                       ? known->second
                                       : one.view->beginOf(*table, question.list);
    const store::Tail tail = one.view->tail(
        *table, question.list, from, share, [&](std::span<const std::uint8_t> entry) {
          entries.push_back(
              {{"translator", one.translator},
               {"entry", hexOf({reinterpret_cast<const char*>(entry.data()), entry.size()})}});
        });
    lost += tail.lost;
    cursor.places[id] = tail.next;
  }
  return {{"table", question.table},
          {"list", question.list},
          {"entries", std::move(entries)},
          {"lost", lost},
          {"cursor", cursor.text()}};
}

bool hasNews(const nlohmann::ordered_json& tail) {
  return !tail["entries"].empty() || tail["lost"] != 0;
}

}  // namespace pingloom::collector
