// Makes a ledger with the history of a synthetic mesh in the way that the controller does: it
// commits reports and rolls up old windows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/time.h"
#include "controller/history/ledger.h"

namespace pingloom::bench {

constexpr const char* kProbe = "mesh";

IpAddress hostOf(std::uint32_t number);

// Makes synthetic reports. Network times vary by 15 % around 8, 11 or 14 us, which depends on the
// pair; responder and prober times vary by 30 %. A few reports are made once and shared by the
// sources.
class Reports {
 public:
  Reports(std::uint32_t destinations, std::uint32_t samples);
  // Gives a serialized wire::Report.
  std::string of(std::uint32_t source, Nanos start, Nanos window) const;

 private:
  std::vector<std::string> rows_;
};

class MeshHistory {
 public:
  static Result<std::unique_ptr<MeshHistory>> begin(const std::filesystem::path& file);

  Status commit(std::uint32_t source, Nanos start, Nanos window, const Reports& reports,
                std::uint64_t rows);
  // Records that from this time on one pair of the source was very slow and all others ok.
  Status judge(std::uint32_t source, Nanos since, std::uint32_t destination);
  // Rolls up everything that is old enough.
  Status rollUp();
  // Inserts small windows of all sources before `until`, so that the index is as full as in use.
  Status fillIndex(std::uint32_t sources, Nanos until, Nanos window, std::uint32_t windows);
  // Gives the bytes in use in the file; removed pages are written again before it grows.
  Result<std::uint64_t> bytes() const;
  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
  std::unique_ptr<controller::Ledger> ledger_;
  std::uint64_t sequence_ = 0;
};

}  // namespace pingloom::bench
