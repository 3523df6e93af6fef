#include "cli/dta_source.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "cli/pages_source.h"
#include "cli/service_api.h"
#include "cli/site_options.h"
#include "collector/stores/store_top.h"
#include "common/json_text.h"
#include "common/time.h"
#include "http/url.h"
#include "store/key_text.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;
using DtaJson = nlohmann::ordered_json;

constexpr Service kStoresCollector = {
    "collector",
    "Start one with 'pingloom-collector --config FILE', say with --url where one answers HTTP, or "
    "name a store's file with --file"};

// Asks the collector, or the function that it answers with.
template <typename Ask>
Result<nlohmann::json> fetchOfKey(const DtaSource& source, const std::string& question, Ask ask,
                                  const std::string& table, const std::string& key) {
  if (const auto parsed = store::parseKey(key); !parsed) return tl::unexpected(parsed.error());
  if (source.asksCollector()) {
    const std::string query =
        "?table=" + http::percentEncoded(table) + "&key=" + http::percentEncoded(key);
    return askCollector(source, question + query, kAnswerTimeout);
  }
  const auto opened = openStores(source);
  if (!opened) return tl::unexpected(opened.error());
  const auto found = ask(viewsOf(*opened), table, key, utcNow());
  if (!found) return tl::unexpected(found.error());
  if (auto reached = opened->reachable(); !reached) return tl::unexpected(reached.error());
  return unordered(*found);
}

}  // namespace

void addDtaOptions(po::options_description& options) {
  options.add_options()("file", po::value<std::vector<std::string>>(),
                        "read this store's file instead of asking a collector; may be repeated")(
      "json", "print the answer as one JSON document");
  addRdmaOptions(options);
  addSiteOptions(options, "the collector's address (default: http://127.0.0.1:20715)");
}

Result<DtaSource> dtaSourceOf(const po::variables_map& values) {
  DtaSource source;
  if (values.count("file") != 0) source.files = values["file"].as<std::vector<std::string>>();
  if (values.count("rdma") != 0) {
    if (!source.files.empty()) return makeError("--rdma", "is of no use with --file");
    auto rdma = rdmaSourceOf(values);
    if (!rdma) return tl::unexpected(rdma.error());
    source.rdma = std::move(*rdma);
  }
  auto site = siteOf(values, nullptr, kDefaultCollectorUrl);
  if (!site) return tl::unexpected(site.error());
  source.site = std::move(*site);
  return source;
}

Result<OpenedStores> openStores(const DtaSource& source) {
  if (source.rdma) return openRemoteStores(*source.rdma);
  OpenedStores opened;
  for (const std::string& file : source.files) {
    auto view = store::StoreView::open(file);
    if (!view) return tl::unexpected(view.error());
    opened.stores.push_back({std::filesystem::path(file).stem().string(), std::move(*view)});
  }
  return opened;
}

std::vector<collector::NamedView> viewsOf(const OpenedStores& opened) {
  std::vector<collector::NamedView> views;
  views.reserve(opened.stores.size());
  for (const OpenedStore& one : opened.stores) views.push_back({one.name, &one.view});
  return views;
}

Result<nlohmann::json> askCollector(const DtaSource& source, const std::string& question,
                                    Nanos timeout) {
  return askJson(kStoresCollector, source.site, "/api/v1/dta/" + question, timeout);
}

nlohmann::json unordered(const DtaJson& document) {
  return nlohmann::json::parse(jsonLine(document));
}

Result<nlohmann::json> fetchStores(const DtaSource& source) {
  if (source.asksCollector()) {
    return askCollector(source, "tables", kAnswerTimeout);
  }
  const auto opened = openStores(source);
  if (!opened) return tl::unexpected(opened.error());
  DtaJson stores = DtaJson::array();
  for (const OpenedStore& one : opened->stores) {
    stores.push_back(collector::storeJson(one.view, one.name, std::nullopt, utcNow()));
  }
  if (auto reached = opened->reachable(); !reached) return tl::unexpected(reached.error());
  return unordered({{"stores", std::move(stores)}});
}

Result<nlohmann::json> fetchValue(const DtaSource& source, const std::string& table,
                                  const std::string& key) {
  return fetchOfKey(source, "get", collector::getJson, table, key);
}

Result<nlohmann::json> fetchCount(const DtaSource& source, const std::string& table,
                                  const std::string& key) {
  return fetchOfKey(source, "count", collector::countJson, table, key);
}

Result<nlohmann::json> fetchTop(const DtaSource& source, const std::string& table,
                                std::size_t limit) {
  if (source.asksCollector()) {
    const std::string query =
        fmt::format("top?table={}&limit={}", http::percentEncoded(table), limit);
    return askCollector(source, query, kAnswerTimeout);
  }
  const auto opened = openStores(source);
  if (!opened) return tl::unexpected(opened.error());
  const auto found = collector::topJson(viewsOf(*opened), table, limit, utcNow());
  if (!found) return tl::unexpected(found.error());
  if (auto reached = opened->reachable(); !reached) return tl::unexpected(reached.error());
  return unordered(*found);
}

Result<nlohmann::json> fetchPaths(const DtaSource& source, const collector::PathTexts& texts) {
  const auto question = collector::pathQuestion(texts);
  if (!question) return tl::unexpected(question.error());
  if (source.asksCollector()) {
    std::string query = "path?";
    const auto add = [&query](const char* name, const std::string& value) {
      if (!value.empty()) query += std::string(name) + "=" + http::percentEncoded(value) + "&";
    };
    add("key", texts.key);
    add("source", texts.source);
    add("destination", texts.destination);
    add("source_port", texts.source_port);
    query.pop_back();
    return askCollector(source, query, kAnswerTimeout);
  }
  const auto opened = openStores(source);
  if (!opened) return tl::unexpected(opened.error());
  const auto found = collector::pathJson(viewsOf(*opened), *question, utcNow());
  if (!found) return tl::unexpected(found.error());
  if (auto reached = opened->reachable(); !reached) return tl::unexpected(reached.error());
  return unordered(*found);
}

}  // namespace pingloom::cli
