#include "pages/client/exemplar.h"

#include <array>
#include <cmath>
#include <cstring>
#include <string_view>

#include "pages/exemplar_rules.h"

namespace pingloom::pages::client {

namespace {

Outcome badExemplar(const char* why) { return {PINGLOOM_BAD_ARGUMENT, why}; }

// Appends a string and returns the place behind it; nullptr: there is no room for it.
std::uint8_t* appendString(std::uint8_t* at, const std::uint8_t* end, std::string_view text) {
  if (text.size() + 1 > static_cast<std::size_t>(end - at)) return nullptr;
  *at = static_cast<std::uint8_t>(text.size());
  std::memcpy(at + 1, text.data(), text.size());
  return at + 1 + text.size();
}

// Copies at most one byte more than there is room for, which suffices to find it too long.
std::string_view bounded(const char* text) {
  if (text == nullptr) return "";
  return {text, strnlen(text, PINGLOOM_EXEMPLAR_LABEL_BYTES + 1)};
}

bool isRepeated(const pingloom_label* labels, std::size_t i) {
  for (std::size_t other = 0; other < i; ++other) {
    if (bounded(labels[other].name) == bounded(labels[i].name)) return true;
  }
  return false;
}

Outcome encodeLabels(const pingloom_label* labels, std::size_t count, pingloom_exemplar* made) {
  if (labels == nullptr || count == 0) return badExemplar("an exemplar without labels");
  bool told = false;
  std::uint8_t* at = made->labels;
  const std::uint8_t* end = made->labels + sizeof made->labels;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view name = bounded(labels[i].name);
    const std::string_view value = bounded(labels[i].value);
    at = appendString(at, end, name);
    if (at != nullptr) at = appendString(at, end, value);
    if (at == nullptr) return badExemplar("the labels of an exemplar have more than 96 bytes");
    if (!isExemplarLabel(name, value) || isRepeated(labels, i)) {
      return badExemplar("a label of an exemplar is not a label, or is given twice");
    }
    told = told || !value.empty();
  }
  if (!told) return badExemplar("all labels of an exemplar are empty");
  return {};
}

}  // namespace

Outcome writeExemplar(std::uint64_t* place, double value, std::uint64_t time,
                      const pingloom_label* labels, std::size_t count) {
  pingloom_exemplar made{};
  if (!std::isfinite(value)) return badExemplar("the value of an exemplar is not finite");
  if (Outcome encoded = encodeLabels(labels, count, &made); !encoded.ok()) return encoded;
  constexpr std::size_t kSequence = 1;  // the slot
  std::uint64_t sequence = __atomic_load_n(place + kSequence, __ATOMIC_RELAXED);
  if (sequence % 2 != 0 ||
      !__atomic_compare_exchange_n(place + kSequence, &sequence, sequence + 1, false,
                                   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    return {};
  }
  made.sequence = sequence + 2;
  made.time = time;
  made.value = value;
  made.checksum = checksumOf(made);
  std::array<std::uint64_t, PINGLOOM_EXEMPLAR_SLOTS> slots;
  std::memcpy(slots.data(), &made, sizeof made);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (i != kSequence) __atomic_store_n(place + i, slots[i], __ATOMIC_RELAXED);
  }
  __atomic_store_n(place + kSequence, made.sequence, __ATOMIC_RELEASE);
  return {};
}

}  // namespace pingloom::pages::client
