#include "agent/state_dir.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <system_error>

#include "agent/batch_source.h"
#include "common/file.h"
#include "common/log.h"
#include "common/text.h"
#include "control.pb.h"
#include "plan/plan_codec.h"
#include "wire/control_protocol.h"

namespace pingloom::agent {
namespace {

// It bounds the file of endpoints, too.
constexpr std::size_t kMaxPlanBytes = 64U << 20;

tl::unexpected<Error> withAdvice(Error error) {
  error.reason +=
      "; the agent keeps its plan and spool in 'state_dir': make it writable for this "
      "user or configure another";
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace

Result<StateDir> StateDir::take(const std::filesystem::path& path) {
  if (auto status = makeDirectories(path); !status) return withAdvice(status.error());
  StateDir dir(path);
  const std::filesystem::path lock = path / "lock";
  auto locked = lockFile(lock);
  if (!locked) return withAdvice(locked.error());
  dir.lock_ = std::move(*locked);
  if (!dir.lock_.valid()) {
    const auto holder = readFile(lock, 64);
    return makeError(path.string(),
                     "another pingloom-agent (process " +
                         std::string(holder && !holder->empty() ? trimmed(*holder) : "unknown") +
                         ") uses this state_dir; stop it, or give this agent its own");
  }
  const std::string process = std::to_string(getpid()) + "\n";
  // Only for the message above: a full disk must not keep the agent from starting.
  if (::ftruncate(dir.lock_.get(), 0) != 0 ||
      ::pwrite(dir.lock_.get(), process.data(), process.size(), 0) < 0) {
    log::warning("{}: {}", lock.string(), std::generic_category().message(errno));
  }
  return dir;
}

std::uint64_t StateDir::lastIncarnation() const {
  const std::filesystem::path file = path_ / "incarnation";
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return 0;
  const auto number = readFile(file, 64).and_then(
      [](const std::string& text) { return parseUnsigned(trimmed(text), wire::kMaxIncarnation); });
  if (number) return *number;
  log::warning("{}: unreadable; the next incarnation is taken from the clock", file.string());
  return 0;
}

std::uint64_t StateDir::nextIncarnation(Nanos now_utc, std::uint64_t above) {
  const auto now = static_cast<std::uint64_t>(std::max<Nanos>(now_utc, 1));
  const std::uint64_t next = std::max({now, lastIncarnation() + 1, above + 1});
  const auto status = writeFileAtomic(path_ / "incarnation", std::to_string(next) + "\n");
  // A full disk: the clock alone makes the next one larger, unless it is set back.
  if (!status) log::error("{}; the agent's incarnation is not kept", status.error().text());
  return next;
}

std::shared_ptr<const plan::Plan> StateDir::loadPlan() const {
  const std::filesystem::path file = path_ / "plan";
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return nullptr;
  const auto bytes = readFile(file, kMaxPlanBytes);
  wire::PlanUpdate update;
  if (!bytes || !update.ParseFromString(*bytes)) {
    log::warning("{}: the kept plan cannot be read; waiting for the controller's", file.string());
    return nullptr;
  }
  auto decoded = plan::decode(update, nullptr);
  if (!decoded) {
    log::warning("{}: the kept plan does not fit ({}); waiting for the controller's", file.string(),
                 decoded.error().text());
    return nullptr;
  }
  return std::make_shared<const plan::Plan>(std::move(*decoded));
}

plan::HeldEndpoints StateDir::loadEndpoints() const {
  const std::filesystem::path file = path_ / "endpoints";
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return {};
  const auto bytes = readFile(file, kMaxPlanBytes);
  wire::EndpointUpdate update;
  if (!bytes || !update.ParseFromString(*bytes)) {
    log::warning("{}: the kept endpoints cannot be read; waiting for the controller's",
                 file.string());
    return {};
  }
  auto held = plan::apply(update, {});
  if (held) return std::move(*held);
  log::warning("{}: the kept endpoints do not fit ({}); waiting for the controller's",
               file.string(), held.error().text());
  return {};
}

Status StateDir::saveEndpoints(const plan::HeldEndpoints& held) const {
  return writeFileAtomic(path_ / "endpoints", plan::encode(held).SerializeAsString());
}

Status StateDir::savePlan(const plan::Plan& plan) const {
  return writeFileAtomic(path_ / "plan", plan::encode(plan, nullptr).SerializeAsString());
}

}  // namespace pingloom::agent
