// Implements pingloom/report.h. No exception leaves it.
#include <pingloom/report.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <span>
#include <utility>

#include "report/client/address.h"
#include "report/client/fork.h"
#include "report/client/key_file.h"
#include "report/client/reporter.h"
#include "wire/big_endian.h"

using pingloom::report::client::Reporter;
using pingloom::wire::ReportItem;
using pingloom::wire::ReportOperation;

struct pingloom_reporter {  // NOLINT(readability-identifier-naming): its name in C
  std::unique_ptr<Reporter> one;
};

namespace {

constexpr const char* kTranslatorVariable = "PINGLOOM_TRANSLATOR";
constexpr std::size_t kMinDatagram =
    pingloom::wire::kReportHeadBytes +
    pingloom::wire::reportBytes(PINGLOOM_REPORT_MAX_KEY, PINGLOOM_REPORT_MAX_VALUE) +
    pingloom::wire::kReportSealBytes;

const char* translatorOf(const pingloom_reporter_options& options) {
  if (options.translator != nullptr) return options.translator;
  // The variable is ignored in programs that run with raised privileges.
  const char* set = secure_getenv(kTranslatorVariable);
  return set != nullptr && *set != '\0' ? set : "127.0.0.1";
}

int openReporter(const pingloom_reporter_options& options, pingloom_reporter** out) {
  const auto translator = pingloom::report::client::parseTranslator(translatorOf(options));
  const std::size_t datagram = options.datagram != 0 ? options.datagram : PINGLOOM_REPORT_DATAGRAM;
  if (!translator || datagram < kMinDatagram || datagram > PINGLOOM_REPORT_MAX_DATAGRAM) {
    return EINVAL;
  }
  pingloom::report::client::OutboxOptions outbox;
  outbox.reporter = options.reporter;
  outbox.longest = datagram;
  outbox.keeps = options.forget == 0;
  if (options.key_file != nullptr) {
    const int error = pingloom::report::client::readKeyFile(options.key_file, outbox.key);
    if (error != 0) return error;
  }
  auto made = std::make_unique<pingloom_reporter>();
  if (const int error = Reporter::open(*translator, outbox, made->one)) return error;
  pingloom::report::client::watchForks(made->one.get());
  *out = made.release();
  return 0;
}

std::span<const std::uint8_t> bytesAt(const void* bytes, std::size_t size) {
  return {static_cast<const std::uint8_t*>(bytes), size};
}

template <typename Body>
int guarded(const Body& body) noexcept {
  try {
    return body();
  } catch (const std::exception&) {  // bad_alloc, or no thread for a forked child
    return ENOMEM;
  }
}

int take(pingloom_reporter* reporter, const ReportItem& item) {
  if (reporter == nullptr) return EBADF;
  return guarded([&] { return reporter->one->report(item); });
}

}  // namespace

int pingloom_reporter_open(const pingloom_reporter_options* options, pingloom_reporter** reporter) {
  *reporter = nullptr;
  const pingloom_reporter_options usual{};
  return guarded([&] { return openReporter(options != nullptr ? *options : usual, reporter); });
}

void pingloom_reporter_close(pingloom_reporter* reporter) {
  if (reporter == nullptr) return;
  pingloom::report::client::unwatchForks(reporter->one.get());
  delete reporter;
}

int pingloom_report_key_write(pingloom_reporter* reporter, std::uint16_t table, const void* key,
                              std::size_t key_bytes, const void* value, std::size_t value_bytes) {
  ReportItem item;
  item.table = table;
  item.key = bytesAt(key, key_bytes);
  item.value = bytesAt(value, value_bytes);
  return take(reporter, item);
}

int pingloom_report_append(pingloom_reporter* reporter, std::uint16_t table, std::uint32_t list,
                           const void* entry, std::size_t entry_bytes) {
  std::array<std::uint8_t, pingloom::wire::kReportListBytes> number{};
  pingloom::wire::storeBe32(number.data(), list);
  ReportItem item;
  item.operation = ReportOperation::kAppend;
  item.table = table;
  if (list != 0) item.key = number;
  item.value = bytesAt(entry, entry_bytes);
  return take(reporter, item);
}

int pingloom_report_increment(pingloom_reporter* reporter, std::uint16_t table, const void* key,
                              std::size_t key_bytes, std::uint64_t amount) {
  std::array<std::uint8_t, pingloom::wire::kReportIncrementBytes> number{};
  pingloom::wire::storeBe64(number.data(), amount);
  ReportItem item;
  item.operation = ReportOperation::kKeyIncrement;
  item.table = table;
  item.key = bytesAt(key, key_bytes);
  // A value that is empty is refused and counted.
  if (amount <= pingloom::wire::kMaxReportIncrement) item.value = number;
  return take(reporter, item);
}

int pingloom_report_postcard(pingloom_reporter* reporter, std::uint16_t table, const void* key,
                             std::size_t key_bytes, std::uint8_t hop, std::uint8_t hops,
                             const void* value, std::size_t value_bytes) {
  ReportItem item;
  item.operation = ReportOperation::kPostcard;
  item.table = table;
  item.hop = hop;
  item.hops = hops;
  item.key = bytesAt(key, key_bytes);
  item.value = bytesAt(value, value_bytes);
  return take(reporter, item);
}

void pingloom_reporter_flush(pingloom_reporter* reporter) {
  if (reporter != nullptr) reporter->one->flush();
}

void pingloom_reporter_get_status(pingloom_reporter* reporter, pingloom_reporter_status* status) {
  *status = {};
  if (reporter != nullptr) *status = reporter->one->status();
}
