// Thin, move-only wrappers of SQLite: a database connection and its prepared statements. One thread
// at a time. Errors carry SQLite's own words; damaged() tells a damaged file from other failures.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>

#include "common/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace pingloom::controller {

class Database;

class Statement {
 public:
  Statement() = default;
  // Parameters are numbered from 1. Text and blobs must live until the next reset().
  Statement& bind(int parameter, std::int64_t number);
  Statement& bind(int parameter, std::string_view text);
  Statement& bindBlob(int parameter, std::string_view bytes);
  // True: there is a row.
  Result<bool> step();
  // Steps to the end, then resets.
  Status run();
  void reset();

  std::int64_t number(int column) const;
  std::string_view bytes(int column) const;  // valid until step() or reset()

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  bool* damaged_ = nullptr;  // points to the flag of the database
};

class Database {
 public:
  static Result<Database> open(const std::filesystem::path& file);
  static Result<Database> openToRead(const std::filesystem::path& file);

  Status execute(const char* sql);
  Result<Statement> prepare(const char* sql);
  Status prepareAll(std::initializer_list<std::pair<Statement*, const char*>> statements);
  Result<std::int64_t> number(const char* sql);  // the first column of the first row
  // Whether a failure so far has shown that the file itself is damaged.
  bool damaged() const { return *damaged_; }

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  static Result<Database> openWith(const std::filesystem::path& file, int flags);
  tl::unexpected<Error> failure() const;
  std::unique_ptr<bool> damaged_ = std::make_unique<bool>(false);
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace pingloom::controller
