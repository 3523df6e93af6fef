// pingloom keys: generates keys, and maintains the controller's list of authorised ones.
#include <fmt/format.h>

#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/command_actions.h"
#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/keys_usage.h"
#include "cli/text_table.h"
#include "common/json_text.h"
#include "common/program.h"
#include "common/text.h"
#include "common/time.h"
#include "keys/authorized_file.h"
#include "keys/key_file.h"
#include "keys/reporter_key.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;
using Arguments = std::vector<std::string>;

int generateKeys(const Arguments& arguments) {
  KeysUsage action(
      "generate", "FILE",
      "Generates a key pair: the secret key goes to FILE (mode 0600), the public key to\n"
      "FILE.pub and to standard output. Existing files are never overwritten.");
  action.takesArgument("path", "the file for the secret key");
  po::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  const net::CurvePair pair = net::CurvePair::generate();
  if (auto wrote = keys::writeKeyPair(values["path"].as<std::string>(), pair); !wrote) {
    return failKeys(wrote.error());
  }
  std::cout << pair.public_key.text() << "\n";
  return 0;
}

int showKey(const Arguments& arguments) {
  KeysUsage action("show", "FILE", "Prints the public key of a secret one.");
  action.takesArgument("path", "the file of the secret key");
  po::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  const auto pair = keys::readSecretKey(values["path"].as<std::string>());
  if (!pair) return failKeys(pair.error());
  std::cout << pair->public_key.text() << "\n";
  return 0;
}

int makeReporter(const Arguments& arguments) {
  KeysUsage action(
      "reporter", "FILE",
      "Writes a random key of 128 bits into FILE (mode 0600), with which a reporter seals its\n"
      "datagrams and a translator checks them. Both need a copy: `key: FILE` in the translator's\n"
      "'reporters', and the reporter's key_file. An existing file is never overwritten.");
  action.takesArgument("path", "the file for the key");
  po::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  const auto made = keys::makeReporterKey(values["path"].as<std::string>());
  return made ? 0 : failKeys(made.error());
}

Status fillEntry(const po::variables_map& values, keys::AuthorizedKey& entry) {
  const auto role = keys::parseRole(values["role"].as<std::string>());
  if (!role) return makeError("--role " + role.error().entity, role.error().reason);
  entry.role = *role;
  if (values.count("host") != 0) {
    entry.host = values["host"].as<std::string>();
    if (auto ok = keys::checkHost(entry.host); !ok) return makeError("--host", ok.error().reason);
  }
  if (values.count("name") != 0) {
    entry.name = values["name"].as<std::string>();
    if (auto ok = keys::checkName(entry.name); !ok) return makeError("--name", ok.error().reason);
    if (invalidUtf8At(entry.name) != std::string_view::npos) {
      return makeError("--name", "is not UTF-8 text");
    }
  }
  if (values.count("addresses") == 0) return {};
  for (const std::string& list : values["addresses"].as<std::vector<std::string>>()) {
    for (const std::string& word : listedWords(list)) {
      if (auto added = keys::addAddresses(word, entry); !added) {
        return makeError("--addresses " + added.error().entity, added.error().reason);
      }
    }
  }
  return {};
}

int authorizeKey(const Arguments& arguments) {
  KeysUsage action(
      "authorize",
      "[--file FILE] --role agent|collector [--host NAME] [--addresses LIST] [--name TEXT] "
      "PUBLIC_KEY|FILE.pub",
      "Adds a key to the controller's list, and creates the list if it does not exist. The key is\n"
      "in force within a second. An agent's key needs the agent's addresses, and should have\n"
      "its host id. A collector's RDMA endpoint may be at any of the addresses that its key has,\n"
      "and at the one that it connects from.");
  action.takesFile();
  action.options.add_options()("role,r", po::value<std::string>()->required(),
                               "agent or collector")(
      "host", po::value<std::string>(), "agent: the only host id that it may register as")(
      "addresses", po::value<std::vector<std::string>>()->composing()->value_name("LIST"),
      "10.0.0.1,10.1.0.[1-8]")("name", po::value<std::string>(), "for people");
  action.takesArgument("key", "the key, or the file that holds it");
  po::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  const auto key = keys::publicKeyOf(values["key"].as<std::string>());
  if (!key) return fail(kKeysCommand, key.error(), program::kExitUsage);
  keys::AuthorizedKey entry(*key);
  entry.added = formatUtc(utcNow() / kSecond * kSecond);
  if (auto filled = fillEntry(values, entry); !filled) {
    return fail(kKeysCommand, filled.error(), program::kExitUsage);
  }
  const bool nameless = entry.role == keys::Role::kAgent && entry.host.empty();
  const auto file = listFile(values);
  if (!file) return failKeys(file.error());
  const auto changed = keys::changeAuthorizedKeys(
      *file, true, [&](keys::AuthorizedKeys& all) { return all.add(std::move(entry)); });
  if (!changed) return failKeys(changed.error());
  if (nameless) {
    complain(kKeysCommand, {"note",
                            "without --host this key may take any host id that no other "
                            "key names"});
  }
  return 0;
}

int revokeKey(const Arguments& arguments) {
  KeysUsage action(
      "revoke", "[--file FILE] PUBLIC_KEY|FILE.pub|NAME|HOST",
      "Removes a key from the controller's list. Within a second it is refused, also on\n"
      "open connections.");
  action.takesFile();
  action.takesArgument("key", "the key, the file that holds it, or its name or host in the list");
  po::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  auto word = values["key"].as<std::string>();
  if (const auto key = keys::publicKeyOf(word)) word = key->text();
  const auto file = listFile(values);
  if (!file) return failKeys(file.error());
  std::string revoked;
  const auto changed =
      keys::changeAuthorizedKeys(*file, false, [&](keys::AuthorizedKeys& all) -> Status {
        const auto removed = all.remove(word);
        if (!removed) return tl::unexpected(removed.error());
        revoked = removed->key.text();
        return {};
      });
  if (!changed) return failKeys(changed.error());
  std::cout << "revoked " << revoked << "\n";
  return 0;
}

nlohmann::ordered_json jsonOf(const keys::AuthorizedKey& entry) {
  return {{"key", entry.key.text()}, {"role", keys::name(entry.role)}, {"name", entry.name},
          {"host", entry.host},      {"addresses", entry.expressions}, {"added", entry.added}};
}

void printKeys(const keys::AuthorizedKeys& all) {
  std::vector<TextTable::Cells> rows;
  TextTable table({"KEY", "ROLE", "NAME", "HOST", "ADDRESSES", "ADDED"});
  for (const keys::AuthorizedKey& entry : all.entries()) {
    const auto cell = [](const std::string& text) { return orDash(printable(text)); };
    rows.push_back({std::string(entry.key.text()), std::string(keys::name(entry.role)),
                    cell(entry.name), cell(entry.host), cell(join(entry.expressions, ",")),
                    cell(entry.added)});
    table.fit(rows.back());
  }
  std::cout << table.header() << "\n";
  for (const TextTable::Cells& row : rows) std::cout << table.line(row) << "\n";
}

int listKeys(const Arguments& arguments) {
  KeysUsage action("list", "[--file FILE] [--json]", "Shows the controller's list.");
  action.takesFile();
  action.options.add_options()("json", "as one JSON document");
  po::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  const auto file = listFile(values);
  if (!file) return failKeys(file.error());
  const auto all = keys::loadAuthorizedKeys(*file);
  if (!all) return failKeys(all.error());
  if (values.count("json") != 0) {
    nlohmann::ordered_json json = {{"keys", nlohmann::ordered_json::array()}};
    for (const keys::AuthorizedKey& entry : all->entries()) json["keys"].push_back(jsonOf(entry));
    std::cout << jsonText(json) << "\n";
    return 0;
  }
  printKeys(*all);
  return 0;
}

}  // namespace

int runKeys(const std::vector<std::string>& arguments) {
  static const std::vector<CommandAction> actions = {
      {"generate", "generate a key pair for a service", generateKeys},
      {"show", "print the public key of a secret key", showKey},
      {"authorize", "add a key to the controller's list", authorizeKey},
      {"revoke", "remove a key from the list", revokeKey},
      {"list", "show the list", listKeys},
      {"reporter", "make the key of a reporter of telemetry", makeReporter},
      {"prepare", "make a controller's key and its list", prepareController},
      {"token", "make, show and revoke tokens with which hosts join", runTokens},
      {"join", "have this host's key authorised with a token", joinWithKey},
      {"pending", "show the keys that wait to be approved", showPending},
      {"approve", "authorise keys that wait", approveKeys},
      {"reject", "refuse keys that wait", rejectKeys}};
  return runAction(kKeysCommand, "CURVE keys of the services, and keys of reporters; docs/keys.md.",
                   actions, arguments);
}

}  // namespace pingloom::cli
