#include "shared_history.h"

#include <libpq-fe.h>

#include <cstdlib>
#include <memory>

namespace pingloom::bench {

Result<SharedHistory> readSharedHistory(const std::string& folder) {
  const std::string target = "host=" + folder + " dbname=postgres user=postgres";
  const std::unique_ptr<PGconn, void (*)(PGconn*)> connection(PQconnectdb(target.c_str()),
                                                              PQfinish);
  const std::unique_ptr<PGresult, void (*)(PGresult*)> answer(
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

}  // namespace pingloom::bench
