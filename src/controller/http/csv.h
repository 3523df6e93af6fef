// CSV twins of the API's JSON answers. A head, then lines that end with CR LF (RFC 4180). Any
// thread.
#pragma once

#include <string>
#include <string_view>

#include "common/error.h"
#include "http/message.h"

namespace pingloom::controller {

constexpr std::string_view kCsvType = "text/csv; charset=utf-8";

// What `format` asks for or, where there is none, the Accept header, if it prefers CSV to JSON; the
// error is the answer.
tl::expected<bool, http::Response> wantsCsv(const http::Request& request);

// Quoted where it has to be. Text that a spreadsheet would take for a formula begins with a '.
void appendCsvField(std::string& out, std::string_view text);

// CsvTable::array of a document that is no table.
constexpr std::string_view kMembers = "*";

// The CSV twin of a JSON answer.
struct CsvTable {
  // The array whose objects are its lines; empty: the answer itself is the only line; kMembers:
  // each of the answer's members is one, with its name and its value.
  std::string_view array;
  // The columns that it begins with whatever was measured, so that one without lines has a head
  // too, with commas in between. Others of its objects follow.
  std::string_view columns;
};

// Members of members are named with a dot ("network_ns.p50"), arrays are JSON. What is no 200 stays
// as it is.
http::Answer asCsv(http::Answer answer, const CsvTable& table);

}  // namespace pingloom::controller
