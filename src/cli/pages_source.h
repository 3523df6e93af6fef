// Fetches the metric pages that a collector reads. Blocking; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/pages_document.h"
#include "common/error.h"
#include "common/time.h"
#include "http/client.h"

namespace pingloom::cli {

constexpr const char* kDefaultCollectorUrl = "http://127.0.0.1:20715";

struct PagesQuery {
  http::Site site;    // where the collector answers
  std::string agent;  // selects one agent by host or ADDRESS:PORT; "" selects all
};

struct PagesAnswer {
  nlohmann::json json;
  PagesDocument document;
};

Result<PagesAnswer> fetchPages(const PagesQuery& query, Nanos timeout);

}  // namespace pingloom::cli
