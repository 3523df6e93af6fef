#include "shared_history.h"

#include <libpq-fe.h>

#include <cstdlib>
#include <memory>

namespace pingloom::bench {
namespace {

using Connection = std::unique_ptr<PGconn, void (*)(PGconn*)>;
using Answer = std::unique_ptr<PGresult, void (*)(PGresult*)>;

Connection connect(const std::string& folder) {
  const std::string target = "host=" + folder + " dbname=postgres user=postgres";
  return {PQconnectdb(target.c_str()), PQfinish};
}

}  // namespace

Result<SharedHistory> readSharedHistory(const std::string& folder) {
  const Connection connection = connect(folder);
  const Answer answer(
      PQexec(connection.get(),
             "SELECT count(*), count(DISTINCT (source, incarnation, sequence)) FROM blocks"),
      PQclear);
  if (PQresultStatus(answer.get()) != PGRES_TUPLES_OK) {
    return makeError(folder, PQerrorMessage(connection.get()));
  }
  const auto number = [&](int column) {
    return std::strtoull(PQgetvalue(answer.get(), 0, column), nullptr, 10);
  };
  return SharedHistory{number(0), number(1)};
}

Status expectNoTables(const std::string& folder) {
  const Connection connection = connect(folder);
  const Answer answer(
      PQexec(connection.get(), "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"),
      PQclear);
  if (PQresultStatus(answer.get()) != PGRES_TUPLES_OK) {
    return makeError(folder, PQerrorMessage(connection.get()));
  }
  if (PQntuples(answer.get()) == 0) return {};
  return makeError(folder, std::string("its database postgres has the table ") +
                               PQgetvalue(answer.get(), 0, 0) +
                               "; give the benchmark a server of its own");
}

Status emptySharedHistory(const std::string& folder) {
  const Connection connection = connect(folder);
  const Answer answer(PQexec(connection.get(), "DROP SCHEMA public CASCADE; CREATE SCHEMA public"),
                      PQclear);
  if (PQresultStatus(answer.get()) == PGRES_COMMAND_OK) return {};
  return makeError(folder, PQerrorMessage(connection.get()));
}

}  // namespace pingloom::bench
