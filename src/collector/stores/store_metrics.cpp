#include "collector/stores/store_metrics.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "store/stamp.h"

namespace pingloom::collector {
namespace {

// A store, and what its writer says; nullopt before the first one has written.
struct Described {
  const ShownStore* store = nullptr;
  std::optional<store::WriterStatus> status;
};

struct WriterFigure {
  std::string_view name, help;
  std::uint64_t store::WriterStatus::*value;
};
constexpr std::array<WriterFigure, 3> kWriterFigures = {{
    {"pingloom_collector_store_lost_total", "Datagrams that never reached the translator.",
     &store::WriterStatus::lost},
    {"pingloom_collector_store_refused_total",
     "Datagrams and reports that the translator has refused.", &store::WriterStatus::refused},
    {"pingloom_collector_store_skipped_total", "Reports that reporters dropped themselves.",
     &store::WriterStatus::skipped},
}};

void writerMetrics(MetricsWriter& out, const std::vector<Described>& stores, Nanos now_utc) {
  out.family("pingloom_collector_store_writer_age_seconds", "gauge",
             "Time since the writer last showed itself; absent before the first one.");
  for (const Described& one : stores) {
    if (!one.status) continue;
    out.sample(static_cast<double>(now_utc - one.status->utc) / 1e9,
               {{"translator", one.store->translator}});
  }
  for (const WriterFigure& figure : kWriterFigures) {
    out.family(figure.name, "counter", figure.help);
    for (const Described& one : stores) {
      if (!one.status || one.store->view.head().isShared()) continue;
      out.sample((*one.status).*figure.value, {{"translator", one.store->translator}});
    }
  }
}

struct TableFigure {
  std::string_view name, type, help;
  // nullopt if tables of that kind do not have it.
  std::optional<std::uint64_t> (*value)(const store::Table& table,
                                        const store::TableFigures& figures);
};
constexpr std::array<TableFigure, 5> kTableFigures = {{
    {"pingloom_collector_store_slots", "gauge", "Slots of the table.",
     [](const store::Table& table, const store::TableFigures&) -> std::optional<std::uint64_t> {
       if (!store::hasSlots(table.kind)) return std::nullopt;
       return table.units * table.ways;
     }},
    {"pingloom_collector_store_used_slots", "gauge", "Slots that are not empty.",
     [](const store::Table& table,
        const store::TableFigures& figures) -> std::optional<std::uint64_t> {
       if (!store::hasSlots(table.kind)) return std::nullopt;
       return figures.used;
     }},
    {"pingloom_collector_store_evicted_total", "counter", "Keys that made room for others.",
     [](const store::Table& table,
        const store::TableFigures& figures) -> std::optional<std::uint64_t> {
       if (!store::hasSlots(table.kind)) return std::nullopt;
       return figures.displaced;
     }},
    {"pingloom_collector_store_dropped_total", "counter",
     "Entries of lists for which there was no room.",
     [](const store::Table& table,
        const store::TableFigures& figures) -> std::optional<std::uint64_t> {
       if (table.kind != store::TableKind::kLists) return std::nullopt;
       return figures.displaced;
     }},
    {"pingloom_collector_store_placed_total", "counter",
     "Reports placed in the table; of counters, the sum of all increments.",
     [](const store::Table&, const store::TableFigures& figures) -> std::optional<std::uint64_t> {
       return figures.total;
     }},
}};

void tableMetrics(MetricsWriter& out, const std::vector<Described>& stores) {
  for (const TableFigure& figure : kTableFigures) {
    out.family(figure.name, figure.type, figure.help);
    for (const Described& one : stores) {
      const auto& tables = one.store->view.head().tables;
      for (std::size_t i = 0; i < tables.size() && one.status; ++i) {
        const auto value = figure.value(tables[i], one.status->tables[i]);
        if (!value) continue;
        out.sample(*value, {{"translator", one.store->translator}, {"table", tables[i].name}});
      }
    }
  }
}

void refusalMetrics(MetricsWriter& out, const StoreCounters& counters) {
  out.counter("pingloom_collector_store_requests_total", "Requests of translators.",
              counters.requests);
  out.family("pingloom_collector_store_requests_refused_total", "counter",
             "Requests of translators that were refused, by reason.");
  const std::array<std::pair<std::string_view, std::uint64_t>, 8> reasons = {
      {{"malformed", counters.malformed},
       {"version", counters.version},
       {"unknown", counters.unknown},
       {"foreign_key", counters.foreign_key},
       {"elsewhere", counters.elsewhere},
       {"crowded", counters.crowded},
       {"device", counters.device},
       {"flood", counters.flood}}};
  for (const auto& [reason, count] : reasons) out.sample(count, {{"reason", reason}});
  out.counter("pingloom_collector_store_connects_total",
              "Endpoints made for translators and readers.", counters.connected);
  out.gauge("pingloom_collector_store_readers", "Endpoints of hosts that read stores by RDMA.",
            counters.readers);
  out.family("pingloom_collector_store_connections_ended_total", "counter",
             "Endpoints that have failed, or were closed because no request came.");
  out.sample(counters.failed, {{"reason", "failed"}});
  out.sample(counters.silent, {{"reason", "silent"}});
}

// A value as the number that its bytes are in big endian, as reports carry numbers.
std::uint64_t numberOf(std::span<const std::uint8_t> bytes) {
  std::uint64_t number = 0;
  for (const std::uint8_t byte : bytes) number = number << 8 | byte;
  return number;
}

struct WatchedValue {
  const ShownStore* store = nullptr;
  const WatchedKey* key = nullptr;
  std::uint64_t number = 0;
  std::optional<Nanos> age;  // nullopt of counters
};

std::vector<WatchedValue> watchedValues(const StoreService& service, Nanos now_utc) {
  std::vector<WatchedValue> values;
  for (const ShownStore& shown : service.stores()) {
    for (const WatchedKey& key : shown.watched) {
      const store::Table* table = shown.view.findTable(key.table);
      if (table == nullptr) continue;
      if (table->kind == store::TableKind::kCounters) {
        values.push_back({&shown, &key, shown.view.count(*table, key.bytes), std::nullopt});
      } else if (const auto found = shown.view.get(*table, key.bytes)) {
        values.push_back({&shown, &key, numberOf(found->bytes()),
                          store::ageOf(found->stamp, now_utc, shown.view.head().made)});
      }
    }
  }
  return values;
}

void watchedMetrics(MetricsWriter& out, const std::vector<WatchedValue>& values) {
  const auto sample = [&](const WatchedValue& one, MetricValue value) {
    out.sample(
        value,
        {{"translator", one.store->translator}, {"table", one.key->table}, {"key", one.key->text}});
  };
  out.family("pingloom_collector_store_value", "gauge",
             "The value of a watched key of a keyed table.");
  for (const WatchedValue& one : values) {
    if (one.age) sample(one, one.number);
  }
  out.family("pingloom_collector_store_value_age_seconds", "gauge",
             "Time since that value was stored.");
  for (const WatchedValue& one : values) {
    if (one.age) sample(one, static_cast<double>(*one.age) / 1e9);
  }
  out.family("pingloom_collector_store_count_total", "counter",
             "What was counted for a watched key of a table of counters.");
  for (const WatchedValue& one : values) {
    if (!one.age) sample(one, one.number);
  }
}

}  // namespace

void storeMetrics(MetricsWriter& out, const StoreService& service, Nanos now_utc) {
  std::vector<Described> stores;
  for (const ShownStore& shown : service.stores()) {
    const auto status = shown.view.status();
    stores.push_back({&shown, status ? std::optional(*status) : std::nullopt});
  }
  out.family("pingloom_collector_store_connected", "gauge",
             "Whether the store has a translator's connection.");
  const std::vector<bool> connections = service.connections();
  for (std::size_t i = 0; i < stores.size(); ++i) {
    out.sample(connections[i] ? 1 : 0, {{"translator", stores[i].store->translator}});
  }
  writerMetrics(out, stores, now_utc);
  tableMetrics(out, stores);
  refusalMetrics(out, service.counters());
  watchedMetrics(out, watchedValues(service, now_utc));
}

}  // namespace pingloom::collector
