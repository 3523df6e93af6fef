#include "controller/history/sql/postgres.h"

#include <endian.h>
#include <fmt/format.h>
#include <libpq-fe.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include "common/file.h"
#include "common/utf8.h"

namespace pingloom::controller {
namespace {

// The types' numbers in PostgreSQL's catalog, which never change.
constexpr Oid kInt8 = 20;
constexpr Oid kText = 25;
constexpr Oid kBytea = 17;
// Only addresses may be missing, and the engine wants a type for what is NULL.
constexpr Oid kUnbound = kBytea;
constexpr int kBinary = 1;

struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using ResultPtr = std::unique_ptr<PGresult, ClearResult>;

bool succeeded(const PGresult* result) {
  const auto status = PQresultStatus(result);
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

// One connection, which the database and its statements share.
class Connection {
 public:
  Connection(PGconn* connection, std::string entity)
      : connection_(connection), entity_(std::move(entity)) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { PQfinish(connection_); }

  PGconn* raw() const { return connection_; }
  bool lost() const { return lost_; }
  bool takeUnchanged() { return std::exchange(unchanged_, false); }
  std::string nextName() { return fmt::format("s{}", ++statements_); }

  // A server that has become a replica, or is shutting down, is as good as gone.
  tl::unexpected<Error> failure(const PGresult* result) {
    const char* state = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const std::string_view code = state == nullptr ? "" : state;
    lost_ = lost_ || PQstatus(connection_) == CONNECTION_BAD || code == "25006" ||
            code.starts_with("57P");
    const char* primary =
        result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    std::string text = primary == nullptr ? PQerrorMessage(connection_) : primary;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    std::replace(text.begin(), text.end(), '\n', ' ');
    std::replace(text.begin(), text.end(), '\t', ' ');
    return makeError(entity_, text.empty() ? "the connection has ended" : text);
  }

  // Called with every statement that is sent without a wait. Each has a Sync of its own: only a
  // server that waits for the next one ends the transaction of a controller that stands still.
  Status queued(bool must_change) {
    if (PQpipelineSync(connection_) != 1) return failure(nullptr);
    queued_.push_back(must_change);
    return queued_.size() < kMaxQueued ? Status() : settle();
  }
  Status beginQueue() {
    if (!queued_.empty() || PQpipelineStatus(connection_) == PQ_PIPELINE_ON) return {};
    return PQenterPipelineMode(connection_) == 1 ? Status() : failure(nullptr);
  }

  // Takes the outcomes of all statements that were queued.
  Status settle() {
    if (PQpipelineStatus(connection_) == PQ_PIPELINE_OFF) return {};
    const auto must_change = std::exchange(queued_, {});
    std::size_t at = 0;
    Status outcome;
    while (at < must_change.size()) {
      const ResultPtr result(PQgetResult(connection_));
      if (result == nullptr) {  // stands after each statement's results
        if (PQstatus(connection_) == CONNECTION_BAD) return failure(nullptr);
        continue;
      }
      const auto status = PQresultStatus(result.get());
      if (status == PGRES_PIPELINE_SYNC) {
        ++at;
      } else if (!outcome) {
        continue;  // after a failure the transaction refuses what follows
      } else if (!succeeded(result.get())) {
        outcome = failure(result.get());
      } else if (must_change[at] && std::string_view(PQcmdTuples(result.get())) == "0") {
        unchanged_ = true;
        outcome = makeError(entity_, kNothingChanged);
      }
    }
    if (PQexitPipelineMode(connection_) != 1 && outcome) outcome = failure(nullptr);
    return outcome;
  }

 private:
  PGconn* const connection_;
  const std::string entity_;
  std::uint64_t statements_ = 0;
  std::vector<bool> queued_;  // for each statement whether it has to change a row
  bool lost_ = false;
  bool unchanged_ = false;
};

// PostgreSQL writes parameters as $1. Quoted text of our statements has no question mark.
std::pair<std::string, std::size_t> withDollars(std::string_view sql) {
  std::string made;
  std::size_t parameters = 0;
  for (std::size_t at = 0; at < sql.size(); ++at) {
    if (sql[at] != '?') {
      made += sql[at];
      continue;
    }
    std::size_t number = 0;
    std::from_chars(sql.data() + at + 1, sql.data() + sql.size(), number);
    parameters = std::max(parameters, number);
    made += '$';
  }
  return {std::move(made), parameters};
}

// The engine refuses text with a NUL or with anything that is not UTF-8. Such text would stop every
// later transaction as well, so what cannot be kept is replaced.
std::string kept(std::string_view text) {
  std::string made(text);
  for (char& c : made) {
    if (c == '\0') c = '?';
  }
  for (auto at = invalidUtf8At(made); at != std::string::npos; at = invalidUtf8At(made)) {
    made[at] = '?';
  }
  return made;
}

class PostgresStatement final : public StatementDriver {
 public:
  PostgresStatement(std::shared_ptr<Connection> connection, std::string_view sql)
      : connection_(std::move(connection)) {
    std::size_t parameters = 0;
    std::tie(sql_, parameters) = withDollars(sql);
    values_.resize(parameters);
    types_.resize(parameters, kUnbound);
    starts_.resize(parameters);
    lengths_.resize(parameters);
    formats_.resize(parameters, kBinary);
  }
  ~PostgresStatement() override {
    if (name_.empty() || connection_->lost() || !connection_->settle()) return;
    ResultPtr(PQexec(connection_->raw(), ("DEALLOCATE " + name_).c_str()));
  }

  void bind(int parameter, std::int64_t number) override {
    Value& value = valueAt(parameter, kInt8);
    const std::uint64_t big = htobe64(static_cast<std::uint64_t>(number));
    std::memcpy(value.number.data(), &big, sizeof big);
    value.bytes = {value.number.data(), value.number.size()};
  }
  void bindText(int parameter, std::string_view text) override {
    Value& value = valueAt(parameter, kText);
    const bool fine = text.find('\0') == text.npos && invalidUtf8At(text) == text.npos;
    if (!fine) value.replaced = kept(text);
    value.bytes = fine ? text : std::string_view(value.replaced);
  }
  void bindBlob(int parameter, std::string_view bytes) override {
    valueAt(parameter, kBytea).bytes = bytes;
  }

  Result<bool> step() override {
    if (result_ != nullptr) return ++row_ < PQntuples(result_.get());
    if (auto status = connection_->settle(); !status) return tl::unexpected(status.error());
    if (auto status = prepare(); !status) return tl::unexpected(status.error());
    fillParameters();
    ResultPtr result(PQexecPrepared(connection_->raw(), name_.c_str(), count(), starts_.data(),
                                    lengths_.data(), formats_.data(), kBinary));
    if (!succeeded(result.get())) return connection_->failure(result.get());
    result_ = std::move(result);
    row_ = 0;
    const std::string_view changed = PQcmdTuples(result_.get());
    changed_ = 0;
    std::from_chars(changed.data(), changed.data() + changed.size(), changed_);
    return PQntuples(result_.get()) > 0;
  }

  Status queue(bool must_change) override {
    if (auto status = prepare(); !status) return status;
    if (auto status = connection_->beginQueue(); !status) return status;
    fillParameters();
    const int sent = PQsendQueryPrepared(connection_->raw(), name_.c_str(), count(), starts_.data(),
                                         lengths_.data(), formats_.data(), kBinary);
    return sent == 1 ? connection_->queued(must_change) : connection_->failure(nullptr);
  }

  void reset() override {
    result_.reset();
    for (Value& value : values_) value = {};
  }

  std::int64_t number(int column) const override {
    const std::string_view found = bytes(column);
    std::uint64_t big = 0;
    if (found.size() == sizeof big) {
      std::memcpy(&big, found.data(), sizeof big);
      return static_cast<std::int64_t>(be64toh(big));
    }
    std::uint32_t small = 0;
    if (found.size() != sizeof small) return 0;
    std::memcpy(&small, found.data(), sizeof small);
    return static_cast<std::int32_t>(be32toh(small));
  }
  std::string_view bytes(int column) const override {
    if (result_ == nullptr || row_ >= PQntuples(result_.get())) return {};
    return {PQgetvalue(result_.get(), row_, column),
            static_cast<std::size_t>(PQgetlength(result_.get(), row_, column))};
  }
  std::int64_t changed() const override { return changed_; }

 private:
  struct Value {
    bool bound = false;
    std::string_view bytes;
    std::array<char, sizeof(std::uint64_t)> number{};
    std::string replaced;
  };

  int count() const { return static_cast<int>(values_.size()); }
  Value& valueAt(int parameter, Oid type) {
    const auto at = static_cast<std::size_t>(parameter - 1);
    values_[at].bound = true;
    if (name_.empty()) types_[at] = type;
    return values_[at];
  }

  // The statement is prepared when it runs first, because only then are its parameters' types
  // known.
  Status prepare() {
    if (!name_.empty()) return {};
    if (auto status = connection_->settle(); !status) return status;
    std::string name = connection_->nextName();
    const ResultPtr result(
        PQprepare(connection_->raw(), name.c_str(), sql_.c_str(), count(), types_.data()));
    if (!succeeded(result.get())) return connection_->failure(result.get());
    name_ = std::move(name);
    return {};
  }

  void fillParameters() {
    for (std::size_t at = 0; at < values_.size(); ++at) {
      const Value& value = values_[at];
      // A null pointer is NULL, and empty text may have one.
      starts_[at] = !value.bound ? nullptr : value.bytes.empty() ? "" : value.bytes.data();
      lengths_[at] = static_cast<int>(value.bytes.size());
    }
  }

  const std::shared_ptr<Connection> connection_;
  std::string sql_;
  std::string name_;  // empty until it is prepared
  std::vector<Value> values_;
  std::vector<Oid> types_;
  std::vector<const char*> starts_;
  std::vector<int> lengths_;
  std::vector<int> formats_;
  ResultPtr result_;
  int row_ = 0;
  std::int64_t changed_ = 0;
};

class PostgresDatabase final : public DatabaseDriver {
 public:
  explicit PostgresDatabase(std::shared_ptr<Connection> connection)
      : connection_(std::move(connection)) {}

  Status execute(const char* sql) override {
    auto settled = connection_->settle();
    const ResultPtr result(PQexec(connection_->raw(), sql));
    if (!succeeded(result.get())) return connection_->failure(result.get());
    return settled;
  }
  Result<std::unique_ptr<StatementDriver>> prepare(const char* sql) override {
    return std::make_unique<PostgresStatement>(connection_, sql);
  }
  Status settle() override { return connection_->settle(); }
  bool takeUnchanged() override { return connection_->takeUnchanged(); }
  bool damaged() const override { return false; }
  bool lost() const override { return connection_->lost(); }

 private:
  std::shared_ptr<Connection> connection_;
};

// libpq's connection parameters.
std::vector<std::pair<const char*, std::string>> parametersOf(const PostgresPlace& place,
                                                              const std::string& password) {
  std::string hosts;
  std::string ports;
  for (const PostgresServer& server : place.servers) {
    const char* comma = hosts.empty() ? "" : ",";
    hosts += comma + server.host;
    ports += comma + std::to_string(server.port);
  }
  return {{"host", hosts},
          {"port", ports},
          {"dbname", place.database},
          {"user", place.user},
          {"password", password},
          {"sslmode", place.ca_file.empty() ? "prefer" : "verify-full"},
          {"sslrootcert", place.ca_file.string()},
          {"target_session_attrs", "read-write"},
          {"connect_timeout", std::to_string(kConnectSeconds)},
          {"tcp_user_timeout", std::to_string(kSilenceMs)},
          {"keepalives_idle", "3"},
          {"keepalives_interval", "1"},
          {"keepalives_count", "3"},
          {"client_encoding", "UTF8"},
          {"application_name", "pingloom-controller"},
          // The server notices as soon that a controller is gone, and frees its lock. Its
          // statements are short, and compiling one takes longer than it runs.
          {"options", fmt::format("-c statement_timeout={} -c tcp_keepalives_idle=3 "
                                  "-c tcp_keepalives_interval=1 -c tcp_keepalives_count=3 "
                                  "-c search_path=public -c jit=off",
                                  kStatementMs)}};
}

}  // namespace

Result<std::unique_ptr<DatabaseDriver>> openPostgres(const PostgresPlace& place,
                                                     const std::string& entity) {
  const auto password =
      place.password_file.empty() ? Result<std::string>() : readPassword(place.password_file);
  if (!password) return tl::unexpected(password.error());
  const auto parameters = parametersOf(place, *password);
  std::vector<const char*> names;
  std::vector<const char*> values;
  for (const auto& [name, value] : parameters) {
    names.push_back(name);
    values.push_back(value.c_str());
  }
  names.push_back(nullptr);
  values.push_back(nullptr);
  auto connection =
      std::make_shared<Connection>(PQconnectdbParams(names.data(), values.data(), 0), entity);
  if (PQstatus(connection->raw()) != CONNECTION_OK) return connection->failure(nullptr);
  // libpq writes notices to stderr otherwise.
  PQsetNoticeProcessor(
      connection->raw(), [](void*, const char*) {}, nullptr);
  return std::make_unique<PostgresDatabase>(std::move(connection));
}

}  // namespace pingloom::controller
