#include "collector/stores/store_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "common/hex.h"
#include "store/key_text.h"
#include "store/stamp.h"

namespace pingloom::collector {
namespace {

using StoreJson = nlohmann::ordered_json;

double asSeconds(Nanos time) { return static_cast<double>(time) / 1e9; }

// Numbers that a double does not hold are text.
std::string hexNumber(std::uint64_t number) { return fmt::format("{:016x}", number); }

// `figures` are what the writer says; nullptr if none has written.
StoreJson tableJson(const store::Table& table, const store::TableFigures* figures) {
  const bool has_slots = store::hasSlots(table.kind);
  const bool counts = table.kind == store::TableKind::kCounters;
  StoreJson json = {{"table", table.name}, {"id", table.id}, {"kind", store::name(table.kind)}};
  if (has_slots) json["slots"] = table.units * table.ways;
  if (table.hasCopies()) json["copies"] = table.choices;
  if (table.kind == store::TableKind::kLists) {
    json["lists"] = table.lists;
    json["blocks"] = table.units;
  }
  if (counts) json["counters"] = table.units;
  if (table.kind == store::TableKind::kPaths) {
    json["hops"] = table.hops;
    json["identity_bytes"] = table.identity_bytes;
  } else if (!counts) {
    json["value_bytes"] = table.value_bytes;
  }
  json["bytes"] = table.bytes;
  if (figures == nullptr) return json;
  if (has_slots) json["used"] = figures->used;
  json[counts ? "increments" : "placed"] = figures->total;
  if (has_slots) json["evicted"] = figures->displaced;
  if (table.kind == store::TableKind::kLists) json["dropped"] = figures->displaced;
  return json;
}

StoreJson writerJson(const Result<store::WriterStatus>& status, bool shared, Nanos now_utc) {
  if (!status) return nullptr;
  const Nanos age = now_utc - status->utc;
  if (shared) return {{"age_seconds", asSeconds(age)}, {"stale", age > store::kStaleAfter}};
  return {{"incarnation", hexNumber(status->incarnation)},
          {"beat", status->beat},
          {"age_seconds", asSeconds(age)},
          {"stale", age > store::kStaleAfter},
          {"key_writes", status->accepted[0]},
          {"appends", status->accepted[1]},
          {"increments", status->accepted[2]},
          {"postcards", status->accepted[3]},
          {"lost", status->lost},
          {"refused", status->refused},
          {"skipped", status->skipped},
          {"evicted", status->evicted},
          {"dropped", status->dropped}};
}

}  // namespace

bool isStale(const store::StoreView& view, Nanos now_utc) {
  const auto status = view.status();
  return !status || now_utc - status->utc > store::kStaleAfter;
}

double countError(const store::StoreView& view, const store::Table& table) {
  const auto status = view.status();
  if (!status) return 0;
  const auto index = static_cast<std::size_t>(&table - view.head().tables.data());
  return store::countErrorBound(table, status->tables[index].total);
}

std::string writtenText(const store::StoreView& view, Nanos age, Nanos now_utc) {
  const Nanos made = view.head().made;
  const Nanos now = made + (now_utc - made) / store::kStampTick * store::kStampTick;
  return formatUtc((now - age) / kMillisecond * kMillisecond);
}

StoreJson storeJson(const store::StoreView& view, std::string_view translator,
                    std::optional<bool> connected, Nanos now_utc) {
  const auto head = view.readHead();
  const auto status = view.status();
  StoreJson json = {{"translator", translator},
                    {"file", view.file().string()},
                    {"store", hexNumber(view.head().store)},
                    {"made", formatUtc(view.head().made)},
                    {"epoch", head ? StoreJson(head->epoch) : StoreJson(nullptr)},
                    {"serving", head && head->state == store::StoreState::kServing},
                    {"connected", connected ? StoreJson(*connected) : StoreJson(nullptr)},
                    {"bytes", view.head().bytes},
                    {"shared", view.head().isShared()},
                    {"writer", writerJson(status, view.head().isShared(), now_utc)},
                    {"tables", StoreJson::array()}};
  for (std::size_t i = 0; i < view.head().tables.size(); ++i) {
    const auto* const figures = status ? &status->tables[i] : nullptr;
    json["tables"].push_back(tableJson(view.head().tables[i], figures));
  }
  return json;
}

Result<StoreJson> getJson(std::span<const NamedView> stores, std::string_view table,
                          std::string_view key, Nanos now_utc) {
  const auto bytes = store::parseKey(key);
  if (!bytes) return tl::unexpected(bytes.error());
  bool known = false;
  std::optional<store::Value> newest;
  Nanos newest_age = kNever;
  NamedView where;
  for (const NamedView& one : stores) {
    const store::Table* found = one.view->findTable(table);
    if (found == nullptr || found->kind != store::TableKind::kKeyed) continue;
    known = true;
    auto value = one.view->get(*found, *bytes);
    if (!value) continue;
    const Nanos age = store::ageOf(value->stamp, now_utc, one.view->head().made);
    if (newest && age >= newest_age) continue;
    newest = value;
    newest_age = age;
    where = one;
  }
  if (!known) return makeError("table " + std::string(table), "no store has a keyed table of it");
  StoreJson json = {{"table", table}, {"key", key}, {"value", nullptr}};
  if (!newest) return json;
  const auto value = newest->bytes();
  json["value"] = hexOf({reinterpret_cast<const char*>(value.data()), value.size()});
  json["age_seconds"] = asSeconds(newest_age);
  json["written"] = writtenText(*where.view, newest_age, now_utc);
  json["translator"] = where.translator;
  json["stale"] = isStale(*where.view, now_utc);
  return json;
}

Result<StoreJson> countJson(std::span<const NamedView> stores, std::string_view table,
                            std::string_view key, Nanos now_utc) {
  const auto bytes = store::parseKey(key);
  if (!bytes) return tl::unexpected(bytes.error());
  std::size_t known = 0;
  std::uint64_t count = 0;
  double error = 0;
  bool stale = false;
  for (const NamedView& one : stores) {
    const store::Table* found = one.view->findTable(table);
    if (found == nullptr || found->kind != store::TableKind::kCounters) continue;
    ++known;
    const std::uint64_t counted = one.view->count(*found, *bytes);
    count += std::min(counted, UINT64_MAX - count);
    stale = stale || isStale(*one.view, now_utc);
    error += countError(*one.view, *found);
  }
  if (known == 0) {
    return makeError("table " + std::string(table), "no store has counters of that name");
  }
  return StoreJson{{"table", table}, {"key", key},      {"count", count},
                   {"error", error}, {"stores", known}, {"stale", stale}};
}

}  // namespace pingloom::collector
