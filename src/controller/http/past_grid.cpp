#include "controller/http/past_grid.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "common/duration.h"
#include "controller/history/event_reader.h"
#include "controller/http/api.h"
#include "controller/http/past_query.h"
#include "controller/model/report_reader.h"

namespace pingloom::controller::api {
namespace {

using Plan = std::shared_ptr<const GridPlan>;

constexpr Nanos kMaxWorst = 366 * 24 * kHour;
// A piece is at least a source's line, and at most this much more.
constexpr std::size_t kPieceBytes = 256 * 1024;

// Fills in everything but the states and severities.
void fillPast(const Metric& metric, const ProbeGrid& grid, const std::optional<PastWindow>& window,
              GridLine& line) {
  line.start_utc.reset();
  if (!window) {
    line.values.assign(grid.destinations.size(), {});
    return;
  }
  line.start_utc = window->start_utc;
  line.window = window->length;
  metric.of(*window, line.values);
}

// A past mesh is sent while it is made, so that no more than a piece of it is in memory. Each piece
// is a question of its own, so that others are answered in between.
class PastStream : public http::BodyStream, public std::enable_shared_from_this<PastStream> {
 public:
  PastStream(HistoryReader& reader, Plan plan, GridQuery query, Nanos at)
      : reader_(reader),
        plan_(std::move(plan)),
        query_(std::move(query)),
        writer_(gridWriter(*plan_, query_)),
        past_(grid(), query_, at) {}

  Status begin(History& history) { return past_.begin(history); }
  std::string_view contentType() const { return writer_->contentType(); }

  void next(Take take) override {
    const auto shared = std::make_shared<Take>(std::move(take));
    const bool taken =
        reader_.ask([self = shared_from_this(), shared](const Result<History*>& history) {
          (*shared)(history ? self->piece(**history) : std::nullopt);
        });
    if (!taken) (*shared)(std::nullopt);
  }

 private:
  const ProbeGrid& grid() const { return plan_->probes[query_.probe]; }

  // Only a shortage of memory is expected to throw.
  std::optional<std::string> piece(History& history) {
    try {
      return make(history);
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }

  std::optional<std::string> make(History& history) {
    std::string& out = writer_->text();
    out.reserve(kPieceBytes + kPieceBytes / 4);
    if (!past_.resume(history)) return std::nullopt;
    const ReadTransaction whole_piece(history.database());
    for (; next_ < grid().sources.size() && out.size() < kPieceBytes; ++next_) {
      const auto line = past_.line(history, next_);
      if (!line) return std::nullopt;
      writer_->add(**line);
    }
    while (next_ == grid().sources.size() && out.size() < kPieceBytes && writer_->addEnd()) {
    }
    if (out.empty()) reader_.reportDamaged(past_.damaged());
    return std::exchange(out, {});
  }

  HistoryReader& reader_;
  const Plan plan_;
  const GridQuery query_;
  const std::unique_ptr<GridWriter> writer_;
  PastGrid past_;
  std::size_t next_ = 0;  // source
};

// The newest time of which every source that reports has a window.
Result<Nanos> newestTime(History& history, const ProbeGrid& grid) {
  const auto span = history.span();
  if (!span) return tl::unexpected(span.error());
  return *span ? (*span)->newest_utc - grid.spec.window : utcNow();
}

http::Response answerOf(HistoryReader& reader, History& history, const Plan& plan,
                        const GridQuery& query, std::optional<Nanos> asked) {
  const auto at = asked ? Result<Nanos>(*asked) : newestTime(history, plan->probes[query.probe]);
  if (!at) return unreadable(at.error());
  const auto stream = std::make_shared<PastStream>(reader, plan, query, *at);
  if (const auto status = stream->begin(history); !status) return unreadable(status.error());
  http::Response response;
  response.content_type = stream->contentType();
  response.stream = stream;
  return response;
}

tl::expected<std::optional<Nanos>, http::Response> optionalTime(const http::Request& request,
                                                                const char* name) {
  if (request.query.count(name) == 0) return std::nullopt;
  const auto time = timeOption(request, name, 0);
  if (!time) return tl::unexpected(time.error());
  return *time;
}

tl::expected<Nanos, http::Response> worstOption(const http::Request& request) {
  const auto given = request.query.find("worst");
  if (given == request.query.end()) return 0;
  const auto length = parseDuration(given->second);
  if (length && *length >= kMinute && *length <= kMaxWorst) return *length;
  return tl::unexpected(http::errorResponse(
      400, "the parameter 'worst' must be a duration from 1m to 366d, such as 1h or 24h"));
}

}  // namespace

PastGrid::PastGrid(const ProbeGrid& grid, const GridQuery& query, Nanos at_utc)
    : grid_(grid), query_(query), at_utc_(at_utc), past_(grid, query.metric.pastFigure()) {
  line_.judged = &judged_;
  if (query.against_utc) line_.against = &other_;
}

Status PastGrid::begin(History& history) {
  // The ledger keeps windows as they were counted, and agents' presence separately from them.
  auto presence = readPresence(history.database(), at_utc_ - kMaxWindow,
                               at_utc_ + kMaxWindow + grid_.spec.timeout);
  if (!presence) return tl::unexpected(presence.error());
  presence_ = std::move(*presence);
  return resume(history);
}

Status PastGrid::resume(History& history) {
  severities_.reset();
  auto opened = PastSeverities::open(history.database());
  if (!opened) return tl::unexpected(opened.error());
  severities_ = std::move(*opened);
  return {};
}

Result<const GridLine*> PastGrid::line(History& history, std::size_t source) {
  const IpAddress& address = grid_.sources[source];
  if (auto status = readAgainst(history, address); !status) return tl::unexpected(status.error());
  past_.begin();
  auto status = history.at(grid_.spec.name, address, at_utc_,
                           [this](const PastContent& content) { past_.add(content); });
  if (!status) return tl::unexpected(status.error());
  const auto window = past_.window();
  pastStates(grid_, address, window, presence_, at_utc_, line_.states);
  fillPast(query_.metric, grid_, window, line_);
  const Nanos until = window ? window->endUtc() : at_utc_ + 1;
  if (query_.worst_of > 0) {
    status = readWorst(history, address, until);
  } else {
    status = severities_->read(grid_, address, window ? window->start_utc : at_utc_, until,
                               line_.states, judged_);
  }
  if (!status) return tl::unexpected(status.error());
  return &line_;
}

// All windows of a day are too many to be read, so the figures come from those in which a pair of
// the source became worse.
Status PastGrid::readWorst(History& history, const IpAddress& source, Nanos until_utc) {
  rises_.clear();
  auto status =
      severities_->worst(grid_, source, until_utc - query_.worst_of, until_utc, judged_, &rises_);
  std::size_t left = std::max<std::size_t>(kMaxWindows / grid_.sources.size(), 1);
  std::optional<TimeRange> read;  // the window that was read last
  for (const PastSeverities::Rise& rise : rises_) {
    if (!status) return status;
    if (read && read->from_utc <= rise.utc && rise.utc < read->until_utc) continue;
    if (left == 0 || windows_left_ == 0) break;
    --left;
    --windows_left_;
    past_.begin();
    status = history.at(grid_.spec.name, source, rise.utc,
                        [this](const PastContent& content) { past_.add(content); });
    const auto window = past_.window();
    if (!window) continue;
    read = TimeRange{window->start_utc, window->endUtc()};
    query_.metric.of(*window, other_);
    for (std::size_t i = 0; i < other_.size(); ++i) {
      MetricValue& worst = line_.values[i];
      const MetricValue& here = other_[i];
      if (!here.measured()) continue;
      if (!worst.measured() || here.number() > worst.number()) worst = here;
    }
  }
  return status;
}

Status PastGrid::readAgainst(History& history, const IpAddress& source) {
  if (!query_.against_utc) return {};
  past_.begin();
  auto status = history.at(grid_.spec.name, source, *query_.against_utc,
                           [this](const PastContent& content) { past_.add(content); });
  if (!status) return status;
  const auto window = past_.window();
  other_.assign(grid_.destinations.size(), {});
  if (window) query_.metric.of(*window, other_);
  return {};
}

http::Answer pastGrid(const Plan& plan, HistoryReader& reader, const http::Request& request) {
  auto query = gridQuery(*plan, request);
  if (!query) return std::move(query.error());
  auto at = optionalTime(request, "at");
  if (!at) return std::move(at.error());
  auto against = optionalTime(request, "against");
  if (!against) return std::move(against.error());
  auto worst = worstOption(request);
  if (!worst) return std::move(worst.error());
  if (*against && *worst > 0) {
    return http::errorResponse(400, "give either 'against' or 'worst', not both");
  }
  if (!*at && !*against && *worst == 0) {
    return http::errorResponse(400, "the parameter 'at' is missing; write at=2026-11-21T03:12:00Z");
  }
  query->against_utc = *against;
  query->worst_of = *worst;
  return later(reader, [&reader, plan, query = *query, at = *at](History& history) {
    return answerOf(reader, history, plan, query, at);
  });
}

}  // namespace pingloom::controller::api
