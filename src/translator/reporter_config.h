// The `reporters:` and `published:` of a translator's configuration. They say from whom it takes
// reports, and into which tables. Plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/yaml.h"
#include "translator/source_addresses.h"
#include "wire/published_dta.h"
#include "wire/report.h"
#include "wire/report_seal.h"

namespace pingloom::translator {

constexpr std::size_t kMaxReporterSpecs = 4096;

struct ReporterSpec {
  std::uint32_t id = 0;  // unique
  SourceAddresses addresses = SourceAddresses::loopback();
  std::filesystem::path key_file;      // empty if datagrams are not sealed
  std::optional<wire::ReportKey> key;  // set by loadReporterKeys()
  std::vector<std::string> tables;     // names or numbers; empty for all tables
};
using ReporterSpecs = std::vector<ReporterSpec>;

struct PublishedSpec {
  SocketAddress listen{IpAddress::fromV4(0x7f000001), wire::kPublishedDtaPort};
  SourceAddresses addresses = SourceAddresses::loopback();
  // The table for each operation, in their order; "" refuses the operation.
  std::array<std::string, wire::kReportOperations> tables;
};

// Read the sections, for common/config_reader.h.
Status readValue(const yaml::Node& node, ReporterSpecs& out);
Status readValue(const yaml::Node& node, PublishedSpec& out);

// Reads the files of the reporters' keys.
Status loadReporterKeys(ReporterSpecs& specs);

}  // namespace pingloom::translator
