// pingloom keys pending, approve, reject: a person decides about keys that wait.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/keys_usage.h"
#include "cli/text_table.h"
#include "common/json_text.h"
#include "common/text.h"
#include "common/time.h"
#include "keys/authorized_file.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;
using Arguments = std::vector<std::string>;

// The host of an agent, the name of a collector.
const std::string& whose(const keys::WaitingKey& waiting) {
  return waiting.entry.host.empty() ? waiting.entry.name : waiting.entry.host;
}

nlohmann::ordered_json jsonOf(const keys::WaitingKey& waiting) {
  return {{"key", waiting.entry.key.text()},
          {"state", waiting.rejected ? "rejected" : "waiting"},
          {"role", keys::name(waiting.entry.role)},
          {"host", whose(waiting)},
          {"addresses", waiting.entry.expressions},
          {"from", waiting.from},
          {"asked", formatUtc(waiting.asked_utc)},
          {"why", waiting.why}};
}

void addOptions(KeysUsage& action) {
  action.options.add_options()("all", "all keys that wait");
  action.takesFile();
  action.positional = "key";
  action.places = -1;
  action.options.add_options()("key", po::value<std::vector<std::string>>()->value_name("KEY"),
                               "the keys, or the hosts that sent them");
}

// Applies `change` to the keys that the arguments name, and prints what it returns for each.
int changeWaiting(KeysUsage& action, const Arguments& arguments,
                  const std::function<Status(keys::AuthorizedKeys&, keys::WaitingKey&)>& change,
                  const std::string& done) {
  addOptions(action);
  po::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  std::vector<std::string> words;
  if (values.count("key") != 0) words = values["key"].as<std::vector<std::string>>();
  const bool all = values.count("all") != 0;
  if (words.empty() != all) {
    std::cerr << kKeysCommand << ": name keys or hosts, or give --all\n";
    return program::kExitUsage;
  }
  const auto file = listFile(values);
  if (!file) return failKeys(file.error());
  std::vector<std::string> changed_hosts;
  const auto changed = keys::changeKeyFiles(
      *file, false, [&](keys::AuthorizedKeys& keys, keys::JoinBook& book) -> Status {
        book.forgetOld(utcNow());
        const auto apply = [&](keys::WaitingKey& waiting) {
          changed_hosts.push_back(whose(waiting));
          return change(keys, waiting);
        };
        for (keys::WaitingKey& waiting : book.requests) {
          if (!all || waiting.rejected) continue;
          if (auto applied = apply(waiting); !applied) return applied;
        }
        for (const std::string& word : words) {
          const auto meant = [&](const keys::WaitingKey& waiting) {
            return waiting.entry.key.text() == word || whose(waiting) == word;
          };
          const auto found = std::find_if(book.requests.begin(), book.requests.end(), meant);
          if (found == book.requests.end()) {
            return makeError("'" + word + "'",
                             "no such key or host waits; `pingloom keys pending` "
                             "shows them");
          }
          if (std::find_if(std::next(found), book.requests.end(), meant) != book.requests.end()) {
            return makeError("'" + word + "'", "several keys wait for this host; name the key");
          }
          if (auto applied = apply(*found); !applied) return applied;
        }
        std::erase_if(book.requests, [&](const keys::WaitingKey& waiting) {
          return keys.find(waiting.entry.key) != nullptr;
        });
        return {};
      });
  if (!changed) return failKeys(changed.error());
  for (const std::string& host : changed_hosts) std::cout << done << " " << printable(host) << "\n";
  return 0;
}

// The list may have changed since the key was sent.
Status authorizeWaiting(keys::AuthorizedKeys& keys, keys::WaitingKey& waiting) {
  for (const keys::AuthorizedKey& entry : keys.entries()) {
    if (!entry.host.empty() && entry.host == waiting.entry.host) {
      return makeError(entry.host, "has another key already; `pingloom keys revoke " + entry.host +
                                       "` first if this one replaces it");
    }
    for (const IpAddress& address : waiting.entry.addresses) {
      if (!entry.speaksFor(address)) continue;
      return makeError(address.text(), "belongs to another key, of " +
                                           (entry.host.empty() ? entry.name : entry.host));
    }
  }
  keys::AuthorizedKey entry = waiting.entry;
  entry.added = formatUtc(utcNow());  // later than any removal of it
  return keys.add(std::move(entry));
}

}  // namespace

int showPending(const Arguments& arguments) {
  KeysUsage action("pending", "[--json]",
                   "Shows the keys that wait for somebody to approve them, and why.");
  action.options.add_options()("json", "as one JSON document");
  action.takesFile();
  po::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  const auto file = listFile(values);
  if (!file) return failKeys(file.error());
  const auto book = keys::loadJoinBook(*file);
  if (!book) return failKeys(book.error());
  nlohmann::ordered_json json = {{"pending", nlohmann::ordered_json::array()}};
  TextTable table({"KEY", "STATE", "ROLE", "HOST", "ADDRESSES", "FROM", "ASKED", "WHY"});
  std::vector<TextTable::Cells> rows;
  for (const keys::WaitingKey& waiting : book->requests) {
    const auto cell = [](const std::string& text) { return orDash(printable(text)); };
    json["pending"].push_back(jsonOf(waiting));
    rows.push_back({std::string(waiting.entry.key.text()),
                    waiting.rejected ? "rejected" : "waiting",
                    std::string(keys::name(waiting.entry.role)), cell(whose(waiting)),
                    cell(join(waiting.entry.expressions, ",")), cell(waiting.from),
                    formatUtc(waiting.asked_utc), cell(waiting.why)});
    table.fit(rows.back());
  }
  if (values.count("json") != 0) {
    std::cout << jsonText(json) << "\n";
    return 0;
  }
  printTable(table, rows);
  return 0;
}

int approveKeys(const Arguments& arguments) {
  KeysUsage action("approve", "KEY|HOST... | --all",
                   "Authorises keys that wait. They are in force within a second. A key that was\n"
                   "rejected may be approved as well.");
  return changeWaiting(action, arguments, authorizeWaiting, "approved");
}

int rejectKeys(const Arguments& arguments) {
  KeysUsage action(
      "reject", "KEY|HOST... | --all",
      "Refuses keys that wait. A rejected key is remembered for 7 days, and is refused\n"
      "when it asks again.");
  return changeWaiting(
      action, arguments,
      [](keys::AuthorizedKeys&, keys::WaitingKey& waiting) -> Status {
        waiting.rejected = true;
        return {};
      },
      "rejected");
}

}  // namespace pingloom::cli
