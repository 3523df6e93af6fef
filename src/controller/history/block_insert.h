// Inserts rows into the ledger's table of blocks (ledger_schema.h). The ledger's thread uses it.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/error.h"
#include "common/time.h"
#include "controller/history/sql/database.h"

namespace pingloom::controller {

// The columns of a row other than its content.
struct BlockLine {
  std::string_view probe;
  std::string_view source;  // as IpAddress::wire() returns it
  std::int64_t path = 0;
  Nanos start_utc = 0;
  Nanos window = 0;
  bool minute = false;
  std::int64_t incarnation = 0;
  std::int64_t sequence = 0;
};

class BlockInsert {
 public:
  Status prepare(Database& database) {
    return database.prepareAll(
        {{&statement_,
          "INSERT INTO blocks(probe, source, path, start_ns, window_ns, minute, incarnation, "
          "sequence, content) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"}});
  }
  // A failure may be told as late as by the transaction's COMMIT.
  Status run(const BlockLine& line, std::string_view content) {
    return statement_.bind(1, line.probe)
        .bindBlob(2, line.source)
        .bind(3, line.path)
        .bind(4, line.start_utc)
        .bind(5, line.window)
        .bind(6, std::int64_t{line.minute})
        .bind(7, line.incarnation)
        .bind(8, line.sequence)
        .bindBlob(9, content)
        .queue();
  }

 private:
  Statement statement_;
};

}  // namespace pingloom::controller
