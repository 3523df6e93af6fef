#include "common/daemon.h"

#include <algorithm>
#include <iostream>
#include <set>
#include <system_error>

#include "common/log.h"
#include "common/yaml.h"

namespace pingloom::daemon {

int start(const About& about, int argc, char** argv, const Run& run,
          const std::vector<Task>& tasks) {
  namespace po = boost::program_options;
  po::options_description options("Options");
  options.add_options()(
      "config,c", po::value<std::string>()->required()->value_name("FILE"),
      ("its configuration; " + std::string(about.explains) + " explains it").c_str());
  for (const Task& task : tasks) options.add_options()(task.option, task.does);
  po::variables_map values;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::string name(about.name);
  const program::Usage usage{name, name + " --config FILE", std::string(about.does)};
  if (const auto code = program::parse(usage, arguments, options, {}, values)) return *code;
  const auto& file = values["config"].as<std::string>();
  for (const Task& task : tasks) {
    if (values.count(task.option) > 0) return task.run(file);
  }
  return run(file);
}

int fail(const About& about, const Error& error, int code) {
  // The line has an error's priority, so that `journalctl -p warning` shows why a daemon did not
  // start.
  std::cerr << (log::stderrIsJournal() ? "<3>" : "") << about.name << ": " << error.text() << "\n";
  return code;
}

std::map<std::string, std::string> ConfigKeys::read() const {
  std::map<std::string, std::string> keys;
  const auto text = readFile(file_, kMaxConfigBytes);
  if (!text) return keys;
  const auto root = yaml::parse(*text, file_);
  if (!root) return keys;
  for (const auto& [key, value] : root->entries()) {
    if (!value.isMap()) {
      keys[key.written()] = value.written();
      continue;
    }
    for (const auto& [inner, what] : value.entries()) {
      keys[key.written() + "." + inner.written()] = what.written();
    }
  }
  return keys;
}

namespace {

// Tells whether a key is `outer` or within it, such as "limits.pairs" in "limits".
bool isWithin(std::string_view key, std::string_view outer) {
  return key == outer || (key.starts_with(outer) && key[outer.size()] == '.');
}

}  // namespace

void ConfigKeys::reloaded(const std::vector<std::string_view>& reloadable) const {
  const auto now = read();
  std::set<std::string> differ;
  for (const auto& [key, value] : now) {
    const auto before = at_start_.find(key);
    if (before == at_start_.end() || before->second != value) differ.insert(key);
  }
  for (const auto& [key, value] : at_start_) {
    if (now.count(key) == 0) differ.insert(key);
  }
  std::string waiting;
  for (const std::string& key : differ) {
    const bool done = std::any_of(reloadable.begin(), reloadable.end(),
                                  [&](std::string_view outer) { return isWithin(key, outer); });
    if (done) continue;
    waiting += (waiting.empty() ? "" : ", ") + key;
  }
  if (waiting.empty()) return log::info("{} is in force", file_);
  log::warning("{} is in force but for what needs a restart: {}", file_, waiting);
}

UrlFile::~UrlFile() {
  std::error_code ignored;
  if (!file_.empty()) std::filesystem::remove(file_, ignored);
}

Status UrlFile::write(const std::string& url) const {
  return file_.empty() ? Status() : writeFileAtomic(file_, url + "\n");
}

}  // namespace pingloom::daemon
