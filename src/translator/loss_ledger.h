// Counts by reporter what one thread loses, skips and refuses, and finds whom the log should name.
// One thread; only setReporters() allocates. Bound: less than 256 bytes for each configured
// reporter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "translator/complaint.h"
#include "translator/reporter_losses.h"

namespace pingloom::translator {

class LossLedger {
 public:
  // The numbers are unique. What was counted of a reporter that is not there any more counts as
  // other reporters' from now on.
  void setReporters(std::vector<std::uint32_t> numbers);

  void lose(std::uint32_t reporter, std::uint64_t datagrams);
  void skip(std::uint32_t reporter, std::uint64_t reports);
  void refuse(const Refused& refused);

  // Copies the counts if they have changed since the last call.
  void copyTo(ReporterLosses& out);
  // Returns nullopt if nothing was lost or refused since the last complaint.
  std::optional<Complaint> complain();

 private:
  // What the log knows of a reporter.
  struct Said {
    Refused latest;
    std::uint64_t lost = 0, skipped = 0, refused = 0;  // in all, at the last complaint
  };
  // Returns the index of the reporter, or the last one if it is not configured.
  std::size_t indexOf(std::uint32_t reporter) const;
  Losses& at(std::size_t index);

  ReporterLosses counted_;
  std::vector<Said> said_ = std::vector<Said>(1);  // in the order of counted_; the last: all others
  bool changed_ = true;                            // since copyTo()
  bool news_ = false;                              // something was lost or refused since complain()
};

}  // namespace pingloom::translator
