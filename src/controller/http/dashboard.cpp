#include "controller/http/dashboard.h"

#include <utility>

#include "controller/http/live.h"
#include "controller/http/routes.h"
#include "http/server.h"
#include "http/static_files.h"

namespace pingloom::controller {
namespace {

// Answers plain requests. Only the HTTP thread uses it.
struct Router {
  const Board& board;
  http::StaticFiles files;
  std::shared_ptr<http::ServerCounters> counters;
  HistoryReader& history;
  BurstBoard& bursts;
  OrderBoard& orders;
  Collectors& collectors;
  std::shared_ptr<http::Access> access;
  Alerts* alerts;

  http::Answer answer(const http::Request& request) const {
    if (auto answer =
            answerOf({board, history, bursts, orders, collectors, *counters, access.get(), alerts},
                     request)) {
      return std::move(*answer);
    }
    if (request.method != "GET") return methodNotAllowed("GET");
    if (auto file = files.find(request.path)) return std::move(*file);
    return http::errorResponse(404, "nothing at " + request.path);
  }
};

}  // namespace

struct Dashboard::Impl {
  ~Impl() {
    if (history != nullptr) history->stop();  // all have answers that the server waits for
    if (bursts != nullptr) bursts->stop();
    if (orders != nullptr) orders->stop();
    if (alerts != nullptr) alerts->stopTests();
    if (collectors != nullptr) collectors->stop();
  }

  BurstBoard* bursts = nullptr;
  OrderBoard* orders = nullptr;
  Alerts* alerts = nullptr;
  std::unique_ptr<HistoryReader> history;
  std::unique_ptr<Collectors> collectors;
  std::shared_ptr<Live> live;
  std::shared_ptr<http::Access> access;
  std::unique_ptr<http::Server> server;
};

Dashboard::Dashboard(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Dashboard::~Dashboard() = default;

Result<std::unique_ptr<Dashboard>> Dashboard::start(const DashboardOptions& options, Board& board,
                                                    BurstBoard& bursts, OrderBoard& orders) {
  auto files = http::StaticFiles::load(options.web_root);
  if (!files) return tl::unexpected(files.error());
  auto access = http::openAccess(options.access);
  if (!access) return tl::unexpected(access.error());
  http::ServerOptions server_options;
  auto history = std::make_unique<HistoryReader>(options.history);
  auto collectors = std::make_unique<Collectors>(options.collectors, board.pageAnomalies(),
                                                 board.collectorRoster());
  const auto router = std::make_shared<const Router>(
      Router{board, std::move(*files), server_options.counters, *history, bursts, orders,
             *collectors, *access, options.alerts});
  auto live = std::make_shared<Live>(board);
  server_options.listen = options.listen;
  server_options.host_names = options.host_names;
  server_options.access = *access;
  server_options.frame_ancestors = options.frame_ancestors;
  server_options.needs = neededRole;
  auto server = http::Server::start(
      server_options, [router](const http::Request& request) { return router->answer(request); },
      {{"/api/v1/live", live}});
  if (!server) return tl::unexpected(server.error());
  http::warnWhereOpen((*server)->address(), access->get(),
                      "see all results, start bursts and silence incidents");
  live->start(board, (*server)->tasks());
  // The dashboard ends its HTTP thread before it destroys the collectors.
  board.collectorRoster().wakeBy([tasks = (*server)->tasks(), &told = *collectors] {
    tasks.post([&told] { told.takeTold(Instant::now()); });
  });
  auto impl = std::make_unique<Impl>();
  impl->bursts = &bursts;
  impl->orders = &orders;
  impl->alerts = options.alerts;
  impl->history = std::move(history);
  impl->collectors = std::move(collectors);
  impl->live = std::move(live);
  impl->access = std::move(*access);
  impl->server = std::move(*server);
  return std::unique_ptr<Dashboard>(new Dashboard(std::move(impl)));
}

void Dashboard::reloadAccess() { http::reloadAccess(impl_->access.get()); }

SocketAddress Dashboard::address() const { return impl_->server->address(); }

}  // namespace pingloom::controller
