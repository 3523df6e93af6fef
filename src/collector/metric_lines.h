// The lines that both text formats are made of. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "collector/exposition.h"

namespace pingloom::collector {

// `# HELP` and `# TYPE`. In OpenMetrics a counter's family is named without its samples' _total.
void writeFamily(std::string& out, std::string_view name, std::string_view type,
                 std::string_view help, Format format);
// A label's value in quotes, escaped.
std::string quotedLabel(std::string_view value);

}  // namespace pingloom::collector
