#include "trace_graph.h"

#include <algorithm>
#include <cmath>

namespace pingloom::bench {
namespace {

constexpr std::size_t kLayers = 4;
constexpr std::size_t kInLayer = TraceGraph::kServices / kLayers;
constexpr double kFails = 0.001;  // of all requests without a fault

}  // namespace

// A service calls up to three of the next layer, so a call never comes back.
TraceGraph::TraceGraph(Random& random) {
  for (std::size_t i = 0; i < kServices; ++i) {
    Service service;
    service.seconds = std::pow(10, random.between(-3, -1.5));
    service.spread = random.between(0.2, 0.8);
    const std::size_t next = (i / kInLayer + 1) * kInLayer;
    const std::size_t calls = next < kServices ? 1 + random.below(3) : 0;
    for (std::size_t call = 0; call < calls; ++call) {
      service.calls.push_back({next + random.below(kInLayer), random.between(0.3, 1)});
    }
    services_.push_back(std::move(service));
  }
  std::vector<bool> called(kServices);
  for (std::size_t i = 0; i < kServices; ++i) {
    if (i >= kInLayer && !called[i]) continue;
    reached_.push_back(i);
    for (const Call& call : services_[i].calls) called[call.service] = true;
  }
}

void TraceGraph::trace(const Fault* fault, Random& random, std::vector<Span>& spans) const {
  (void)request(random.below(kInLayer), fault, random, spans);
}

Span TraceGraph::request(std::size_t number, const Fault* fault, Random& random,
                         std::vector<Span>& spans) const {
  const Service& service = services_[number];
  Span span{number, service.seconds * std::exp(service.spread * random.normal())};
  span.failed = random.uniform() < kFails;
  if (fault != nullptr && fault->service == number) {
    switch (fault->kind) {
      case Fault::Kind::kSlow:
        span.seconds *= 2;
        span.touched = true;
        break;
      case Fault::Kind::kSlowForFew:
        span.touched = random.uniform() < 0.05;
        if (span.touched) span.seconds *= 10;
        break;
      case Fault::Kind::kFails:
        span.touched = random.uniform() < 0.1;
        span.failed = span.failed || span.touched;
        break;
    }
  }
  for (const Call& call : service.calls) {
    if (random.uniform() < call.often) {
      span.seconds += request(call.service, fault, random, spans).seconds;
    }
  }
  spans.push_back(span);
  return span;
}

}  // namespace pingloom::bench
