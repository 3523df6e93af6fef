// The metric pages that a collector reads, asked for. Blocking; any thread.
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
  http::Site site;    // the collector's
  std::string agent;  // only this one: host or ADDRESS:PORT; "": all
};

struct PagesAnswer {
  nlohmann::json json;
  PagesDocument document;
};

Result<PagesAnswer> fetchPages(const PagesQuery& query, Nanos timeout);

}  // namespace pingloom::cli
