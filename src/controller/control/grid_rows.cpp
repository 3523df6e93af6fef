// The part of Grid that takes the rows of reports.
#include <memory>
#include <utility>

#include "controller/control/grid.h"
#include "controller/model/grid_plan.h"
#include "controller/model/relayed_rows.h"
#include "controller/model/row_packer.h"

namespace pingloom::controller {

// Incarnations of different agents cannot be compared. A report of an agent always replaces
// restored rows.
bool Grid::outdated(const SourceRows& have, AgentId agent, const ReportHead& head,
                    const Origin& origin) const {
  if (origin.agent == 0 && agent != 0) return true;
  const bool comparable = agent == origin.agent || agent == 0;
  if (comparable && origin.incarnation != have.incarnation) {
    return origin.incarnation < have.incarnation;
  }
  return head.start_utc < have.window_start_utc;
}

Result<Grid::Applied> Grid::apply(ReportView& report, const ReportHead& head, const Origin& origin,
                                  Instant now, std::string* told) {
  return show(report.head(), head, origin, now,
              [&](const Use& use) { return readRows(report, use, told); });
}

Result<Grid::Applied> Grid::apply(const wire::RelayedReport& report, const ReportHead& head,
                                  const Origin& origin, Instant now) {
  return show(report.head(), head, origin, now,
              [&](const Use& use) { return readRelayedRows(report.rows(), use); });
}

// `fields` has the probe and the device, and `read` reads the rows.
Result<Grid::Applied> Grid::show(const wire::Report& fields, const ReportHead& head,
                                 const Origin& origin, Instant now, const ReadRows& read) {
  const auto place = placeOf(fields.probe(), head.source);
  if (!place) return read({});
  const ProbeGrid& probe = plan_->probes[place->first];
  Slot& slot = slots_[place->first][place->second];
  const SourceRows* have = slot.snapshot->rows.get();
  if (probe.spec.protocol != head.protocol || head.path > probe.paths()) {
    return read({});
  }
  // The row of all paths together has the samples of each. Replayed windows count too.
  Use use{place, nullptr, latency_ != nullptr && !origin.counted && head.path == 0};
  if (have != nullptr && outdated(*have, slot.agent, head, origin)) return read(use);
  // A source's window may arrive in several reports.
  const bool same_window = have != nullptr && have->incarnation == origin.incarnation &&
                           have->window_start_utc == head.start_utc && slot.agent == origin.agent;
  auto rows = same_window ? std::make_shared<SourceRows>(*have) : std::make_shared<SourceRows>();
  rows->incarnation = origin.incarnation;
  rows->window_index = head.window_index;
  rows->window_start_utc = head.start_utc;
  rows->window = head.window;
  if (!same_window) rows->reported_utc = origin.reported_utc;
  rows->clock = head.clock;
  rows->device = fields.device();
  rows->rows.resize(probe.destinations.size());
  if (have != nullptr && !same_window) rows->rows.reserveLike(have->rows);
  rows->paths.resize(probe.paths());
  // A path's rows are copied, because other snapshots may hold them.
  std::shared_ptr<Rows> path_rows;
  if (head.path != 0) {
    const auto& known = rows->paths[head.path - 1];
    path_rows = known == nullptr ? std::make_shared<Rows>(rows->rows.size())
                                 : std::make_shared<Rows>(*known);
  }
  use.rows = head.path == 0 ? &rows->rows : path_rows.get();
  auto applied = read(use);
  if (!applied) return applied;
  use.rows->trim();
  applied->shown = true;
  if (head.path != 0) rows->paths[head.path - 1] = std::move(path_rows);
  ++reports_;
  slot.agent = origin.agent;
  slot.elsewhere = origin.elsewhere;
  const auto counted = same_window ? slot.snapshot->rows : nullptr;
  refresh(*place, std::move(rows), now, true, counted.get());
  watchStale(*place);
  return applied;
}

Result<Grid::Applied> Grid::readRows(ReportView& report, const Use& use, std::string* told) {
  static const ProbeGrid no_probe;
  const ProbeGrid& probe = use.place ? plan_->probes[use.place->first] : no_probe;
  Applied applied;
  DestinationFinder finder(probe.destinations);
  IpAddress destination;
  Row row;
  RowPacker packer;
  if (use.count) latency_->begin(use.place->first, use.place->second);
  if (told != nullptr) told->reserve(report.rows().size() * kUsualRelayedRow);
  for (std::size_t i = 0; i < report.rows().size(); ++i) {
    const auto message = report.row(i);
    if (!message) return tl::unexpected(message.error());
    if (auto status = readRow(**message, destination, row); !status) {
      return tl::unexpected(status.error());
    }
    const auto index = finder.find(destination);
    const bool known = index && isPair(probe, use.place->second, *index);
    if (known && use.count) latency_->add(*index, **message);
    if (known && use.rows != nullptr) {
      const PackedRow packed = packer.pack(row);
      use.rows->set(*index, packed);
      if (told != nullptr) appendRelayedRow(destination, packed, *told);
      ++applied.taken;
    } else {
      ++applied.ignored;
    }
  }
  if (use.count) latency_->commit();
  return applied;
}

Result<Grid::Applied> Grid::readRelayedRows(std::string_view rows, const Use& use) {
  static const ProbeGrid no_probe;
  const ProbeGrid& probe = use.place ? plan_->probes[use.place->first] : no_probe;
  Applied applied;
  DestinationFinder finder(probe.destinations);
  RelayedRowReader reader(rows);
  IpAddress destination;
  PackedRow row;
  while (reader.next(destination, row)) {
    const auto index = finder.find(destination);
    const bool taken = use.rows != nullptr && index && isPair(probe, use.place->second, *index);
    if (taken) use.rows->set(*index, row);
    ++(taken ? applied.taken : applied.ignored);
  }
  if (!reader.status()) return tl::unexpected(reader.status().error());
  return applied;
}

}  // namespace pingloom::controller
