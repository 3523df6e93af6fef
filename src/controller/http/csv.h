// CSV forms of the API's JSON answers: a head, then lines that end with CR LF (RFC 4180). Any
// thread.
#pragma once

#include <string>
#include <string_view>

#include "common/error.h"
#include "http/message.h"

namespace pingloom::controller {

constexpr std::string_view kCsvType = "text/csv; charset=utf-8";

// Whether the request asks for CSV: by its parameter `format` or, without it, by an Accept header
// that prefers CSV to JSON. The error is the answer.
tl::expected<bool, http::Response> wantsCsv(const http::Request& request);

// Appends a field, quoted where necessary. Text that a spreadsheet would evaluate as a formula gets
// a leading '.
void appendCsvField(std::string& out, std::string_view text);

// The value of CsvTable::array for a document that is no table.
constexpr std::string_view kMembers = "*";

// Describes the CSV form of a JSON answer.
struct CsvTable {
  // Names the array whose objects are the lines. Where it is empty, the answer itself is the only
  // line; with kMembers, each member of the answer is a line with its name and its value.
  std::string_view array;
  // The first columns, separated by commas; they are present whatever was measured, so that a table
  // without lines has a head too. Other members of the objects follow.
  std::string_view columns;
};

// Converts an answer to CSV. Nested members are named with a dot ("network_ns.p50"), and arrays are
// JSON. An answer with another status than 200 is not converted.
http::Answer asCsv(http::Answer answer, const CsvTable& table);

}  // namespace pingloom::controller
