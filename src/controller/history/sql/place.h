// Where a history is kept: in an SQLite file, or in a PostgreSQL database.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pingloom::controller {

struct PostgresServer {
  std::string host;  // a name, an address, or the folder of a Unix socket
  std::uint16_t port = 5432;
};

struct PostgresPlace {
  // The same database and its replicas: the one that accepts writes is used.
  std::vector<PostgresServer> servers;
  std::string database = "pingloom";
  std::string user = "pingloom";
  std::filesystem::path password_file;  // empty: no password is sent
  std::filesystem::path ca_file;        // empty: the servers' certificates are not checked
};

class HistoryPlace {
 public:
  HistoryPlace() = default;
  HistoryPlace(std::filesystem::path file) : file_(std::move(file)) {}
  HistoryPlace(PostgresPlace postgres) : postgres_(std::move(postgres)) {}

  const std::filesystem::path& file() const { return file_; }  // empty in a database
  const std::optional<PostgresPlace>& postgres() const { return postgres_; }
  // For errors and logs: the file, or postgresql://USER@HOST:PORT,HOST:PORT/DATABASE.
  std::string text() const;

 private:
  std::filesystem::path file_;
  std::optional<PostgresPlace> postgres_;
};

}  // namespace pingloom::controller
