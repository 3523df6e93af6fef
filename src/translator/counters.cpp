#include "translator/counters.h"

namespace pingloom::translator {

void Counters::add(const Counters& other) {
  for (std::size_t i = 0; i < accepted.size(); ++i) accepted[i] += other.accepted[i];
  for (std::size_t i = 0; i < refused.size(); ++i) refused[i] += other.refused[i];
  for (const auto field :
       {&Counters::datagrams, &Counters::lost, &Counters::skipped, &Counters::evicted,
        &Counters::dropped, &Counters::asked, &Counters::replies, &Counters::overflow,
        &Counters::reporters, &Counters::published, &Counters::published_lost, &Counters::writes,
        &Counters::write_bytes, &Counters::flushes, &Counters::connects, &Counters::failures}) {
    this->*field += other.*field;
  }
  flush_time += other.flush_time;
  connected = connected && other.connected;
}

}  // namespace pingloom::translator
