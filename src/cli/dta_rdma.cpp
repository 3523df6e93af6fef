#include "cli/dta_rdma.h"

#include "cli/command_options.h"
#include "cli/ping_session.h"
#include "common/host_port.h"
#include "keys/key_file.h"
#include "rdma/device.h"
#include "store/remote_reads.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;

Result<std::optional<net::DealerOptions::Curve>> curveOf(const po::variables_map& values) {
  const bool secret = values.count("secret") != 0;
  if (secret != (values.count("collector-key") != 0)) {
    return makeError(secret ? "--secret" : "--collector-key",
                     "--secret and --collector-key belong together");
  }
  if (!secret) return std::nullopt;
  const auto own = keys::readSecretKey(values["secret"].as<std::string>());
  if (!own) return tl::unexpected(own.error());
  const auto collector = net::CurveKey::parse(values["collector-key"].as<std::string>());
  if (!collector) return makeError("--collector-key", collector.error().reason);
  return net::DealerOptions::Curve{*own, *collector};
}

// Our address towards the collector, which is that of the RDMA device.
Result<IpAddress> ownAddress(const po::variables_map& values, const std::string& collector) {
  const auto source = sourceOption(values);
  if (!source) return tl::unexpected(source.error());
  if (*source) return **source;
  const auto target = resolve(collector.substr(0, collector.rfind(':')), *source);
  if (!target) return tl::unexpected(target.error());
  return sourceTowards(*target);
}

}  // namespace

Status OpenedStores::reachable() const {
  for (const OpenedStore& one : stores) {
    if (auto reachable = one.view.reachable(); !reachable) return reachable;
  }
  return {};
}

void addRdmaOptions(po::options_description& options) {
  options.add_options()("rdma", po::value<std::string>(),
                        "read the stores of the collector at HOST[:PORT] by RDMA, without its "
                        "processor (its stores_port, 20717)")(
      "store", po::value<std::vector<std::string>>(),
      "with --rdma, the store of this translator only; may be repeated")(
      "source", po::value<std::string>(),
      "with --rdma, the address of this host, and so its device")(
      "device,d", po::value<std::string>()->default_value("auto"),
      "with --rdma: auto (the device that has the source address), soft, NAME or NAME/PORT")(
      "secret", po::value<std::string>(), "with --rdma, the file of this reader's secret key")(
      "collector-key", po::value<std::string>(), "with --secret, the collector's public key");
}

Result<RdmaSource> rdmaSourceOf(const po::variables_map& values) {
  RdmaSource source;
  auto collector = parseHostPort(values["rdma"].as<std::string>(), store::kDefaultStorePort);
  if (!collector) return tl::unexpected(collector.error());
  source.client.collector = std::move(*collector);
  const auto own = ownAddress(values, source.client.collector);
  if (!own) return tl::unexpected(own.error());
  source.client.source = *own;
  auto device = deviceOptions(values["device"].as<std::string>());
  if (!device) return tl::unexpected(device.error());
  source.device = std::move(*device);
  const auto curve = curveOf(values);
  if (!curve) return tl::unexpected(curve.error());
  source.client.curve = *curve;
  if (values.count("store") != 0) source.stores = values["store"].as<std::vector<std::string>>();
  return source;
}

Result<OpenedStores> openRemoteStores(const RdmaSource& source) {
  OpenedStores opened;
  auto device = rdma::openDevice(source.client.source, source.device);
  if (!device) return tl::unexpected(device.error());
  opened.device = std::move(*device);
  const auto client = std::make_shared<store::StoreClient>();
  if (auto begun = client->open(source.client); !begun) return tl::unexpected(begun.error());
  auto names = source.stores.empty() ? client->list() : source.stores;
  if (!names) return tl::unexpected(names.error());
  if (names->empty()) {
    return makeError(source.client.collector, "has no store that this key may read");
  }
  for (const std::string& name : *names) {
    auto reads = store::RemoteReads::open(client, *opened.device, name);
    if (!reads) return tl::unexpected(reads.error());
    const store::Head head = (*reads)->head();
    opened.stores.push_back({name, store::StoreView::over(std::move(*reads), head,
                                                          source.client.collector + "/" + name)});
  }
  return opened;
}

}  // namespace pingloom::cli
