// Packs an agent's report of a window into contents of the ledger, whose thread uses it.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/error.h"
#include "controller/history/codec/content.h"
#include "controller/history/codec/precision.h"
#include "controller/history/codec/sample_buckets.h"
#include "controller/model/batch_frame.h"

namespace pingloom::controller {

class ReportPacker {
 public:
  // Takes a content, which is valid until it returns.
  using Take = std::function<Status(std::string_view content)>;

  // `report` is a serialized wire::Report; one with more than kMaxContentPairs rows becomes several
  // contents. False: it is malformed, and packing stopped.
  Result<bool> pack(std::string_view report, const Take& take);

 private:
  struct Place {
    IpAddress destination;
    std::size_t row;  // its index in the report
  };
  bool readPlaces();
  // Returns the content of these rows at a level of precision; empty: a row is malformed.
  Result<std::string_view> encode(const BlockHead& head, std::span<const Place> places,
                                  std::size_t level);
  bool readRows(std::span<const Place> places);
  Result<std::string_view> encodeBlock(const BlockHead& head, const WindowPrecision& precision);

  ReportView view_;
  std::vector<Place> places_;  // ascending
  // These belong to the block that is being made.
  std::vector<IpAddress> destinations_;
  std::vector<Row> rows_;
  std::array<SampleBuckets, kRowParts.size()> samples_;
  std::array<ColumnWriter, kRowParts.size()> parts_;
  BlockWriter writer_;
  std::string content_;
  std::map<std::string, std::size_t> levels_;  // by probe
};

}  // namespace pingloom::controller
