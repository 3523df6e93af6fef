#include "mesh_history.h"

#include <cmath>
#include <random>

#include "common/distribution.h"
#include "control.pb.h"
#include "controller/history/sql/database.h"
#include "wire/distribution_codec.h"

namespace pingloom::bench {
namespace {

constexpr std::uint32_t kVariants = 16;

wire::Row rowOf(std::mt19937_64& random, std::uint32_t destination, std::uint32_t samples) {
  const double base = 8000 + 3000.0 * static_cast<double>(random() % 3);
  std::lognormal_distribution<double> network(std::log(base), 0.15);
  std::lognormal_distribution<double> other(std::log(5000), 0.3);
  Distribution parts[4];
  double jitter = 0;
  double last = base;
  for (std::uint32_t i = 0; i < samples; ++i) {
    const double times[3] = {network(random), other(random), 3 * other(random)};
    jitter += std::abs(times[0] - last) / samples;
    last = times[0];
    for (int part = 0; part < 3; ++part) parts[part].add(static_cast<std::uint64_t>(times[part]));
    parts[3].add(static_cast<std::uint64_t>(times[0] + times[1] + times[2]));
  }
  wire::Row row;
  row.set_destination(hostOf(destination).wire());
  row.set_sent(samples);
  row.set_received(samples);
  row.set_jitter_ns(static_cast<std::uint64_t>(jitter));
  wire::encode(parts[0], *row.mutable_network());
  wire::encode(parts[1], *row.mutable_responder());
  wire::encode(parts[2], *row.mutable_prober());
  wire::encode(parts[3], *row.mutable_rtt());
  return row;
}

}  // namespace

IpAddress hostOf(std::uint32_t number) { return IpAddress::fromV4(0x0a000000 + 1 + number); }

Reports::Reports(std::uint32_t destinations, std::uint32_t samples) {
  std::mt19937_64 random(samples);
  for (std::uint32_t variant = 0; variant < kVariants; ++variant) {
    wire::Report report;
    for (std::uint32_t i = 0; i < destinations; ++i) *report.add_rows() = rowOf(random, i, samples);
    rows_.push_back(report.SerializeAsString());
  }
}

std::string Reports::of(std::uint32_t source, Nanos start, Nanos window) const {
  wire::Report head;
  head.set_probe(kProbe);
  head.set_source(hostOf(source).wire());
  head.set_protocol(wire::UDP);
  head.set_window_index(static_cast<std::uint64_t>(start / window));
  head.set_window_ns(window);
  head.set_clock(2);
  head.set_device("eth0");
  const auto variant = (source + static_cast<std::uint64_t>(start / window)) % kVariants;
  return head.SerializeAsString() + rows_[variant];
}

Result<std::unique_ptr<MeshHistory>> MeshHistory::begin(const std::filesystem::path& file) {
  auto ledger = controller::Ledger::open({file, 7 * 24 * kHour, 1ULL << 40}, utcNow());
  if (!ledger) return tl::unexpected(ledger.error());
  auto made = std::make_unique<MeshHistory>();
  made->file_ = file;
  made->ledger_ = std::move(*ledger);
  return made;
}

Status MeshHistory::commit(std::uint32_t source, Nanos start, Nanos window, const Reports& reports,
                           std::uint64_t rows) {
  const auto report = std::make_shared<const std::string>(reports.of(source, start, window));
  controller::LedgerBatch batch{
      hostOf(source).text(), {1, ++sequence_}, {}, report, report->size(), rows};
  batch.windows.push_back({kProbe, hostOf(source), start, window,
                           static_cast<std::uint64_t>(start / window), 0, *report});
  return ledger_->commit({&batch, 1}, utcNow());
}

Status MeshHistory::judge(std::uint32_t source, Nanos since, std::uint32_t destination) {
  std::string content(1, static_cast<char>(Severity::kOk));
  content += static_cast<char>(Severity::kVerySlow);
  content += hostOf(destination).wire();
  const controller::SeverityRecord record{since, kProbe, hostOf(source), std::move(content)};
  return ledger_->record({}, {}, {}, {&record, 1});
}

Status MeshHistory::rollUp() {
  for (;;) {
    const auto done = ledger_->rollUp(utcNow());
    if (!done) return tl::unexpected(done.error());
    if (*done == 0) return {};
  }
}

Status MeshHistory::fillIndex(std::uint32_t sources, Nanos until, Nanos window,
                              std::uint32_t windows) {
  auto database = controller::Database::open(file_);
  if (!database) return tl::unexpected(database.error());
  if (auto status = database->execute("BEGIN"); !status) return status;
  auto insert = database->prepare(
      "INSERT INTO blocks(probe, source, path, start_ns, window_ns, minute, incarnation, sequence, "
      "content) VALUES(?1, ?2, 0, ?3, ?4, 0, 1, 1, zeroblob(150))");
  if (!insert) return tl::unexpected(insert.error());
  for (std::uint32_t i = windows; i > 0; --i) {
    for (std::uint32_t source = 0; source < sources; ++source) {
      const std::string address = hostOf(source).wire();
      auto status = insert->bind(1, kProbe)
                        .bindBlob(2, address)
                        .bind(3, until - i * window)
                        .bind(4, window)
                        .run();
      if (!status) return status;
    }
  }
  return database->execute("COMMIT");
}

Result<std::uint64_t> MeshHistory::bytes() const {
  auto database = controller::Database::openToRead(file_);
  if (!database) return tl::unexpected(database.error());
  const auto bytes = database->number(
      "SELECT (c.page_count - f.freelist_count) * s.page_size FROM pragma_page_count c, "
      "pragma_freelist_count f, pragma_page_size s");
  if (!bytes) return tl::unexpected(bytes.error());
  return static_cast<std::uint64_t>(*bytes);
}

}  // namespace pingloom::bench
