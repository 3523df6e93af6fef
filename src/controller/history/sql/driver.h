// What a database engine has to offer for database.h: a connection and its prepared statements.
// Parameters are written ?1, ?2, ... in all statements, whatever the engine. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "common/error.h"

namespace pingloom::controller {

// The reason of a failure of a statement that had to change a row.
constexpr const char* kNothingChanged =
    "a row is not as it was read: another controller has changed it";

class StatementDriver {
 public:
  StatementDriver() = default;
  StatementDriver(const StatementDriver&) = delete;
  StatementDriver& operator=(const StatementDriver&) = delete;
  virtual ~StatementDriver() = default;

  // Text and blobs are not copied; they live until reset(). A parameter that is not bound is NULL.
  virtual void bind(int parameter, std::int64_t number) = 0;
  virtual void bindText(int parameter, std::string_view text) = 0;
  virtual void bindBlob(int parameter, std::string_view bytes) = 0;
  // True: there is a row.
  virtual Result<bool> step() = 0;
  // Runs a statement without rows. The engine may tell of a failure later, at any other call. With
  // `must_change` it is a failure, too, if no row was changed.
  virtual Status queue(bool must_change) = 0;
  virtual void reset() = 0;
  // NULL is 0, or no bytes. The bytes are valid until step() or reset().
  virtual std::int64_t number(int column) const = 0;
  virtual std::string_view bytes(int column) const = 0;
  // The number of rows that the last run inserted, changed or removed.
  virtual std::int64_t changed() const = 0;
};

class DatabaseDriver {
 public:
  DatabaseDriver() = default;
  DatabaseDriver(const DatabaseDriver&) = delete;
  DatabaseDriver& operator=(const DatabaseDriver&) = delete;
  virtual ~DatabaseDriver() = default;

  // Several statements, separated by semicolons.
  virtual Status execute(const char* sql) = 0;
  virtual Result<std::unique_ptr<StatementDriver>> prepare(const char* sql) = 0;
  // Waits for the outcomes of all statements that were queued.
  virtual Status settle() = 0;
  // Whether a statement that had to change a row has changed none, since the last call.
  virtual bool takeUnchanged() = 0;
  // Whether a failure so far has shown that the stored data are damaged, or that the connection is
  // lost.
  virtual bool damaged() const = 0;
  virtual bool lost() const = 0;
};

}  // namespace pingloom::controller
