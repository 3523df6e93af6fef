#include "controller/config.h"

#include <array>
#include <limits>
#include <system_error>
#include <utility>
#include <vector>

#include "common/text.h"
#include "common/yaml.h"
#include "keys/authorized_file.h"
#include "keys/key_config.h"

namespace pingloom::controller {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxSocketPath = 107;  // what fits into a sockaddr_un
constexpr Nanos kMinRetention = kMinute;
constexpr std::uint64_t kMinHistory = 16ULL << 20;

// What the keys say before defaults and folders are filled in.
struct Draft {
  Config config;
  fs::path folder;  // of the configuration file
  std::string redis_socket;
  bool pinglist_given = false;
  bool state_dir_given = false;
};

Result<fs::path> readPath(const yaml::Node& node, const Draft& draft) {
  auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  if (text->empty()) return node.error("is empty");
  return (draft.folder / *text).lexically_normal();
}

Status storePath(const yaml::Node& node, const Draft& draft, fs::path& out) {
  auto path = readPath(node, draft);
  if (!path) return tl::unexpected(path.error());
  out = std::move(*path);
  return {};
}

Result<std::uint64_t> readSize(const yaml::Node& node) {
  static constexpr std::array<std::pair<std::string_view, int>, 5> kUnits = {
      {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}, {"B", 0}}};
  auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  std::string_view digits = *text;
  int shift = 0;
  for (const auto& [unit, bits] : kUnits) {
    if (!digits.ends_with(unit)) continue;
    digits.remove_suffix(unit.size());
    shift = bits;
    break;
  }
  const auto number = parseUnsigned(digits, std::numeric_limits<std::int64_t>::max() >> shift);
  if (!number) return node.error("'" + *text + "' is not a size such as 512MiB or 4GiB");
  return *number << shift;
}

Status readPinglist(const yaml::Node& node, Draft& draft) {
  draft.pinglist_given = true;
  return storePath(node, draft, draft.config.pinglist);
}

Status readAddress(const yaml::Node& node, SocketAddress& out) {
  auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  const auto address = SocketAddress::parse(*text);
  if (!address) return node.error(address.error().text());
  out = *address;
  return {};
}

Status readControl(const yaml::Node& node, Draft& draft) {
  return readAddress(node, draft.config.control);
}

Status readHttp(const yaml::Node& node, Draft& draft) {
  return readAddress(node, draft.config.http);
}

Status readHttpAccess(const yaml::Node& node, Draft& draft) {
  auto files = http::parseAccess(node, draft.folder);
  if (!files) return tl::unexpected(files.error());
  draft.config.http_access = std::move(*files);
  return {};
}

Status readWebRoot(const yaml::Node& node, Draft& draft) {
  return storePath(node, draft, draft.config.web_root);
}

Status readStateDir(const yaml::Node& node, Draft& draft) {
  draft.state_dir_given = true;
  return storePath(node, draft, draft.config.state_dir);
}

Status readTcpTarget(const yaml::Node& node, std::string_view target, RedisTarget& out) {
  const auto colon = target.rfind(':');
  const auto port = colon == std::string_view::npos
                        ? parseUnsigned("", 0)
                        : parseUnsigned(target.substr(colon + 1), 65535);
  std::string_view host = target.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  if (!port || *port == 0 || host.empty()) return node.error("write tcp:HOST:PORT");
  out.kind = RedisTarget::Kind::kTcp;
  out.host = host;
  out.port = static_cast<std::uint16_t>(*port);
  return {};
}

Status readRedis(const yaml::Node& node, Draft& draft) {
  auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  RedisTarget& target = draft.config.redis;
  if (*text == "embedded") return {};
  if (text->starts_with("tcp:")) return readTcpTarget(node, text->substr(4), target);
  if (text->starts_with("unix:") && text->size() > 5) {
    target.kind = RedisTarget::Kind::kUnix;
    target.path = (draft.folder / text->substr(5)).lexically_normal();
    if (target.path.size() > kMaxSocketPath) return node.error("the socket's path is too long");
    return {};
  }
  return node.error("'" + *text + "' is none of embedded, unix:/PATH, tcp:HOST:PORT" +
                    didYouMean(*text, {"embedded"}));
}

Status readRedisSocket(const yaml::Node& node, Draft& draft) {
  auto path = readPath(node, draft);
  if (!path) return tl::unexpected(path.error());
  if (path->native().size() > kMaxSocketPath) return node.error("is too long for a Unix socket");
  draft.redis_socket = path->native();
  return {};
}

Status readRedisUser(const yaml::Node& node, Draft& draft) {
  auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  draft.config.redis_user = std::move(*text);
  return {};
}

Status readRedisPasswordFile(const yaml::Node& node, Draft& draft) {
  return storePath(node, draft, draft.config.redis_password_file);
}

Status readControllerKeys(const yaml::Node& node, Draft& draft) {
  if (auto status = node.onlyKeys({"secret", "authorized"}); !status) return status;
  KeysConfig keys;
  auto secret = keys::readSecretPath(node, draft.folder);
  if (!secret) return tl::unexpected(secret.error());
  keys.secret = std::move(*secret);
  const auto authorized = node.find("authorized");
  if (!authorized) return node.error("'authorized' is missing: the list of authorised keys");
  if (auto status = storePath(*authorized, draft, keys.authorized); !status) return status;
  draft.config.keys = std::move(keys);
  return {};
}

Status readLimits(const yaml::Node& node, Draft& draft) {
  if (auto status =
          node.onlyKeys({"pings_per_second_per_host", "rows_per_second", "history_bytes_per_day"});
      !status) {
    return status;
  }
  pinglist::Limits& limits = draft.config.limits;
  for (auto [key, out] :
       {std::pair{"pings_per_second_per_host", &limits.max_pings_per_second_per_host},
        std::pair{"rows_per_second", &limits.max_rows_per_second}}) {
    const auto value = node.find(key);
    if (!value) continue;
    const auto number = value->number(1, std::numeric_limits<std::int64_t>::max());
    if (!number) return tl::unexpected(number.error());
    *out = *number;
  }
  if (const auto value = node.find("history_bytes_per_day")) {
    const auto size = readSize(*value);
    if (!size) return tl::unexpected(size.error());
    limits.max_history_bytes_per_day = *size;
  }
  return {};
}

Status readHistory(const yaml::Node& node, Draft& draft) {
  if (auto status = node.onlyKeys({"retention", "max_size"}); !status) return status;
  if (const auto value = node.find("retention")) {
    const auto retention = value->duration();
    if (!retention) return tl::unexpected(retention.error());
    if (*retention < kMinRetention) return value->error("is shorter than a minute");
    draft.config.history_retention = *retention;
  }
  if (const auto value = node.find("max_size")) {
    const auto size = readSize(*value);
    if (!size) return tl::unexpected(size.error());
    if (*size < kMinHistory) return value->error("is smaller than 16MiB");
    draft.config.history_max_bytes = *size;
  }
  return {};
}

Status readLogLevel(const yaml::Node& node, Draft& draft) {
  auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  const auto level = log::parseLevel(*text);
  if (!level) return node.error(level.error().text());
  draft.config.log_level = *level;
  return {};
}

Status readUrlFile(const yaml::Node& node, Draft& draft) {
  return storePath(node, draft, draft.config.url_file);
}

struct Key {
  std::string_view name;
  Status (*read)(const yaml::Node&, Draft&);
};
constexpr std::array<Key, 15> kKeys = {{{"pinglist", readPinglist},
                                        {"control", readControl},
                                        {"http", readHttp},
                                        {"http_access", readHttpAccess},
                                        {"web_root", readWebRoot},
                                        {"state_dir", readStateDir},
                                        {"redis", readRedis},
                                        {"redis_socket", readRedisSocket},
                                        {"redis_user", readRedisUser},
                                        {"redis_password_file", readRedisPasswordFile},
                                        {"keys", readControllerKeys},
                                        {"limits", readLimits},
                                        {"history", readHistory},
                                        {"log_level", readLogLevel},
                                        {"url_file", readUrlFile}}};

// Beside an installed program, in the build that the program is of, or installed; empty where there
// is none.
fs::path findWebRoot() {
  std::error_code error;
  const fs::path binary = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& candidate :
       {binary / "../share/pingloom/web", binary / "../web", fs::path("/usr/share/pingloom/web")}) {
    fs::path folder = candidate.lexically_normal();
    if (fs::exists(folder / "index.html", error)) return folder;
  }
  return {};
}

Status complete(const yaml::Node& root, Draft& draft) {
  Config& config = draft.config;
  if (!draft.pinglist_given) return root.error("'pinglist' is missing; write 'pinglist: FILE'");
  if (!draft.state_dir_given) {
    return root.error("'state_dir' is missing; write 'state_dir: FOLDER', where history is kept");
  }
  if (config.web_root.empty()) config.web_root = findWebRoot();
  if (config.redis.kind == RedisTarget::Kind::kEmbedded) {
    config.redis.path = draft.redis_socket.empty() ? (config.state_dir / "redis.sock").native()
                                                   : draft.redis_socket;
    if (config.redis.path.size() > kMaxSocketPath) {
      return root.error(
          "the path of Redis' socket is too long; set 'redis_socket' to a shorter one");
    }
    for (const char* key : {"redis_user", "redis_password_file"}) {
      const auto node = root.find(key);
      if (node) return node->error("an embedded Redis has no users; leave this out");
    }
  } else if (!draft.redis_socket.empty()) {
    return root.find("redis_socket")->error("is where an embedded Redis listens; leave it out");
  }
  if (!config.redis_user.empty() && config.redis_password_file.empty()) {
    return root.find("redis_user")->error("needs 'redis_password_file'");
  }
  return {};
}

}  // namespace

Status loadKeys(Config& config) {
  if (!config.keys || config.keys->own) return {};
  if (auto own = keys::loadOwn(config.keys->secret, config.keys->own); !own) return own;
  const auto authorized = keys::loadAuthorizedKeys(config.keys->authorized);
  return authorized ? Status() : tl::unexpected(authorized.error());
}

Result<Config> parseConfig(std::string_view text, std::string_view file) {
  const auto root = yaml::parse(text, file);
  if (!root) return tl::unexpected(root.error());
  if (root->isNull()) return makeError(file, "is empty; it needs 'pinglist' and 'state_dir'");
  std::vector<std::string_view> names;
  names.reserve(kKeys.size());
  for (const Key& key : kKeys) names.push_back(key.name);
  if (auto status = root->onlyKeys(names); !status) return tl::unexpected(status.error());
  Draft draft;
  std::error_code ignored;
  draft.folder = fs::absolute(fs::path(file), ignored).parent_path();
  for (const Key& key : kKeys) {
    const auto node = root->find(key.name);
    if (!node) continue;
    if (auto status = key.read(*node, draft); !status) return tl::unexpected(status.error());
  }
  if (auto status = complete(*root, draft); !status) return tl::unexpected(status.error());
  return std::move(draft.config);
}

}  // namespace pingloom::controller
