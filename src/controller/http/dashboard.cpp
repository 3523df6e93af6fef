#include "controller/http/dashboard.h"

#include <utility>

#include "controller/http/api.h"
#include "controller/http/live.h"
#include "controller/http/static_files.h"
#include "http/server.h"

namespace pingloom::controller {
namespace {

constexpr std::string_view kPairs = "/api/v1/pairs/";
constexpr std::string_view kHistory = "/api/v1/history";

// Answers plain requests. Used by the HTTP thread alone.
struct Router {
  const Board& board;
  StaticFiles files;
  std::shared_ptr<const http::ServerCounters> counters;
  HistoryReader& history;

  http::Answer answer(const http::Request& request) const {
    if (request.method != "GET") {
      auto response = http::errorResponse(405, "only GET and HEAD are answered here");
      response.headers.emplace_back("Allow", "GET, HEAD");
      return response;
    }
    const std::string& path = request.path;
    if (path == "/api/v1/status") return api::status(board, *counters);
    if (path == "/api/v1/hosts") return api::hosts(board);
    if (path == "/api/v1/probes") return api::probes(board);
    if (path == "/api/v1/grid") return api::grid(board, request);
    if (path.rfind(kPairs, 0) == 0) {
      return api::pair(board, std::string_view(path).substr(kPairs.size()));
    }
    if (path == kHistory || path.starts_with(std::string(kHistory) + '/')) {
      return api::history(board.plan(), history, request);
    }
    if (path == "/api/v1/live") {
      auto response = http::errorResponse(426, "this is a WebSocket");
      response.headers.emplace_back("Upgrade", "websocket");
      return response;
    }
    if (path == "/metrics") return api::metrics(board, *counters);
    if (path == "/healthz" || path == "/-/healthy") return api::health();
    if (path == "/readyz" || path == "/-/ready") return api::readiness(board);
    if (auto file = files.find(path)) return std::move(*file);
    return http::errorResponse(404, "nothing at " + path);
  }
};

}  // namespace

struct Dashboard::Impl {
  ~Impl() {
    if (history != nullptr) history->stop();  // it owes the server answers
  }

  std::unique_ptr<HistoryReader> history;
  std::shared_ptr<Live> live;
  std::unique_ptr<http::Server> server;
};

Dashboard::Dashboard(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Dashboard::~Dashboard() = default;

Result<std::unique_ptr<Dashboard>> Dashboard::start(const DashboardOptions& options, Board& board) {
  auto files = StaticFiles::load(options.web_root);
  if (!files) return tl::unexpected(files.error());
  http::ServerOptions server_options;
  auto history = std::make_unique<HistoryReader>(options.history);
  const auto router = std::make_shared<const Router>(
      Router{board, std::move(*files), server_options.counters, *history});
  auto live = std::make_shared<Live>(board);
  server_options.listen = options.listen;
  server_options.host_names = options.host_names;
  auto server = http::Server::start(
      server_options, [router](const http::Request& request) { return router->answer(request); },
      {{"/api/v1/live", live}});
  if (!server) return tl::unexpected(server.error());
  live->start(board, (*server)->tasks());
  auto impl = std::make_unique<Impl>();
  impl->history = std::move(history);
  impl->live = std::move(live);
  impl->server = std::move(*server);
  return std::unique_ptr<Dashboard>(new Dashboard(std::move(impl)));
}

SocketAddress Dashboard::address() const { return impl_->server->address(); }

}  // namespace pingloom::controller
