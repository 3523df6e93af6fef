// Labels and a name for the application from the variables that OpenTelemetry's SDKs read, so that
// Kubernetes can say which pod an application belongs to without a change to the application.
// Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "pages/client/definition.h"

namespace pingloom::pages::client {

constexpr const char* kAttributesVariable = "OTEL_RESOURCE_ATTRIBUTES";
constexpr const char* kServiceVariable = "OTEL_SERVICE_NAME";
// A longer value is discarded like a malformed one.
constexpr std::size_t kMaxAttributesBytes = 16384;

// Reads `key=value,key=value`, percent-encoded; NULL is the same as "". One entry that is malformed
// discards all, as OpenTelemetry demands. What pages do not take as a label is left out. The labels
// are in the order of the text, have different names, and are at most kMaxLabels.
Outcome readAttributes(const char* text, std::vector<Label>* labels);

// Returns `service` if it can be an application's name, and `otherwise` if not.
std::string applicationName(const char* service, const char* otherwise);

// Adds as many of the environment's labels as a metric has room for, the first ones first. Labels
// of the same name in `common` or `labels` win. Leaves `labels` sorted. Returns whether it added
// any.
bool addEnvironment(const std::vector<Label>& environment, const std::vector<Label>& common,
                    std::vector<Label>* labels);

}  // namespace pingloom::pages::client
