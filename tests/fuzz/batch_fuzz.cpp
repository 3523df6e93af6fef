// A batch that is accepted names itself, and the rows of it that are accepted add up.
#include <google/protobuf/stubs/logging.h>

#include <cstdlib>

#include "controller/model/batch_frame.h"
#include "controller/model/report_reader.h"

namespace {

void checkReport(std::string_view bytes) {
  using namespace pingloom;
  static controller::ReportView view;
  if (!view.read(bytes)) return;
  const auto head = controller::readHead(view.head());
  if (head && head->endUtc() <= head->start_utc) std::abort();
  IpAddress destination;
  controller::Row row;
  for (std::size_t i = 0; i < view.rows().size(); ++i) {
    const auto message = view.row(i);
    if (!message || !controller::readRow(**message, destination, row)) continue;
    const std::uint64_t verdicts =
        std::uint64_t{row.received} + row.lost + row.refused + row.unreachable;
    if (verdicts != row.sent || row.network.count > row.received) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pingloom::controller;
  google::protobuf::SetLogHandler(nullptr);
  const auto parts = splitBatch({reinterpret_cast<const char*>(data), size});
  if (!parts) {
    if (parts.error().reason.empty()) std::abort();
    return 0;
  }
  if (parts->id.incarnation == 0 || parts->id.sequence == 0) std::abort();
  for (const std::string_view report : parts->reports) checkReport(report);
  return 0;
}
