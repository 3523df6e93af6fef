// Writes exemplars into a page (struct pingloom_exemplar). Any thread.
#pragma once

#include <pingloom/pages.h>

#include <cstddef>
#include <cstdint>

#include "pages/client/definition.h"

namespace pingloom::pages::client {

// Writes an exemplar into its place. Neither waits nor allocates unless it fails: while another
// thread writes into the place, this exemplar is dropped.
Outcome writeExemplar(std::uint64_t* place, double value, std::uint64_t time,
                      const pingloom_label* labels, std::size_t count);

}  // namespace pingloom::pages::client
