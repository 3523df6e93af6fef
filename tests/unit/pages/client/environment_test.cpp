// Labels and a name from OpenTelemetry's variables.
#include "pages/client/environment.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "client.h"

namespace pingloom::pages::test::environment_test {
namespace {

using client::addEnvironment;
using client::applicationName;
using client::Label;
using client::Outcome;
using client::readAttributes;
using Labels = std::vector<Label>;

Labels read(const std::string& text) {
  Labels labels;
  const Outcome outcome = readAttributes(text.c_str(), &labels);
  EXPECT_TRUE(outcome.ok()) << outcome.text;
  return labels;
}

TEST(Environment, AttributesBecomeLabelsInTheirOrder) {
  EXPECT_EQ(read(""), Labels());
  EXPECT_EQ(read("k8s.pod.name=shop-0,k8s.namespace.name=prod"),
            (Labels{{"k8s_pod_name", "shop-0"}, {"k8s_namespace_name", "prod"}}));
  EXPECT_EQ(read(" b =\t2 ,, a=1,"), (Labels{{"b", "2"}, {"a", "1"}}));
  EXPECT_EQ(read("a=x=y"), (Labels{{"a", "x=y"}})) << "the first = ends the key";
  Labels untouched;
  EXPECT_TRUE(readAttributes(nullptr, &untouched).ok());
  EXPECT_EQ(untouched, Labels());
}

TEST(Environment, KeysAndValuesAreDecoded) {
  EXPECT_EQ(read("a=%2c%3D%25%20"), (Labels{{"a", ",=% "}}));
  EXPECT_EQ(read("a%2eb-c=%C3%84"), (Labels{{"a_b_c", "\xC3\x84"}}));
  EXPECT_EQ(read("a=1+1"), (Labels{{"a", "1+1"}})) << "a plus sign is no blank";
}

TEST(Environment, ALaterValueReplacesAnEarlierOne) {
  EXPECT_EQ(read("a.b=1,c=2,a_b=3"), (Labels{{"a_b", "3"}, {"c", "2"}}));
}

TEST(Environment, WhatIsMalformedDiscardsAll) {
  for (const std::string bad : {"a", "a=1,b", "=1", " =1", "a=%", "a=%2", "a=%2,b=1", "a=%gg",
                                "a=%-1", "a%=1", "a=1,b=%zz"}) {
    Labels labels;
    const Outcome outcome = readAttributes(bad.c_str(), &labels);
    EXPECT_EQ(outcome.error, PINGLOOM_BAD_ARGUMENT) << bad;
    EXPECT_EQ(labels, Labels()) << bad;
  }
  Labels labels;
  EXPECT_NE(readAttributes("a=1,b", &labels).text.find("entry 2"), std::string::npos);
  const std::string longest = "a=1," + std::string(16380, ' ');
  EXPECT_TRUE(readAttributes(longest.c_str(), &labels).ok());
  EXPECT_FALSE(readAttributes((longest + " ").c_str(), &labels).ok());
}

TEST(Environment, WhatPagesDoNotTakeIsLeftOut) {
  const std::string long_value(257, 'x'), long_name(129, 'x');
  EXPECT_EQ(read("le=1,quantile=2,__name__=2,..x=3,1a=4,e=,c=%0A,n=%00,u=%ff," + long_name +
                 "=5,v=" + long_value + ",last=6"),
            (Labels{{"last", "6"}}));
  std::string many;
  for (int i = 0; i < 100; ++i) many += "l" + std::to_string(i) + "=v,";
  const Labels kept = read(many);
  ASSERT_EQ(kept.size(), 16u);
  EXPECT_EQ(kept.back().name, "l15");
}

TEST(Environment, GivesWayToTheApplicationsLabels) {
  const Labels environment = {{"z", "env"}, {"own", "env"}, {"common", "env"}, {"a", "env"}};
  Labels labels = {{"own", "1"}};
  addEnvironment(environment, {{"common", "1"}}, &labels);
  EXPECT_EQ(labels, (Labels{{"a", "env"}, {"own", "1"}, {"z", "env"}}));
  Labels most;
  for (int i = 0; i < 14; ++i) most.push_back({"m" + std::to_string(10 + i), ""});
  addEnvironment(environment, {{"common", "1"}}, &most);
  ASSERT_EQ(most.size(), 15u) << "16 with the common one";
  EXPECT_EQ(most.back(), (Label{"z", "env"})) << "the first one has the last place";
  Labels full = most;
  addEnvironment({{"more", "env"}}, {{"common", "1"}}, &full);
  EXPECT_EQ(full, most);
}

TEST(Environment, AnInvalidServiceIsNoName) {
  EXPECT_EQ(applicationName("shop", "program"), "shop");
  EXPECT_EQ(applicationName(nullptr, "program"), "program");
  for (const std::string& bad :
       {std::string(), std::string(65, 'x'), std::string("a\nb"), std::string("\xff")}) {
    EXPECT_EQ(applicationName(bad.c_str(), "program"), "program") << bad;
  }
}

// The variables for as long as it lives.
class Variables {
 public:
  Variables(const char* attributes, const char* service) {
    setenv(client::kAttributesVariable, attributes, 1);
    setenv(client::kServiceVariable, service, 1);
  }
  ~Variables() {
    unsetenv(client::kAttributesVariable);
    unsetenv(client::kServiceVariable);
  }
};

std::string told(const std::vector<std::uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

TEST(Environment, IsToldToTheAgent) {
  SocketFolder folder;
  ScriptedAgent agent(folder.socket());
  const std::string socket = folder.socket();
  pingloom_pages_options options{};
  options.socket = socket.c_str();
  pingloom_pages* pages = nullptr;
  {
    const Variables variables("pod=shop-0,own=env", "from-env");
    ASSERT_EQ(pingloom_pages_open(&options, &pages), PINGLOOM_OK);
  }
  std::vector<pingloom_label> labels = {{"own", "1"}};
  std::vector<std::string> names;
  for (int i = 0; i < 15; ++i) names.push_back("l" + std::to_string(i));
  pingloom_counter counter;
  for (const char* name : {"some_total", "full_total"}) {
    pingloom_metric metric{};
    metric.name = name;
    metric.labels = labels.data();
    metric.label_count = labels.size();
    EXPECT_EQ(pingloom_counter_make(pages, &metric, &counter), PINGLOOM_OK);
    for (const std::string& more : names) labels.push_back({more.c_str(), ""});
  }
  ASSERT_TRUE(eventually([&] { return agent.definitions() == 2; }));
  const auto owner = agent.owners().back();
  EXPECT_EQ(told(owner.registration), std::string("\x08"
                                                  "from-env\0",
                                                  10));
  const auto& definitions = owner.pages.begin()->second.definitions;
  EXPECT_EQ(definitions[0][9], 2) << "labels";
  EXPECT_NE(told(definitions[0])
                .find(std::string("\x03own\1\0"
                                  "1\x03pod\6\0shop-0",
                                  19)),
            std::string::npos);
  EXPECT_EQ(definitions[1][9], 16) << "it has no room for one more";
  EXPECT_EQ(told(definitions[1]).find("shop-0"), std::string::npos);
  pingloom_pages_close(pages);
}

TEST(Environment, FillsNoGroup) {
  const Variables variables(("a=" + std::string(250, 'a') + ",b=" + std::string(250, 'b')).c_str(),
                            "");
  Client client("/nonexistent/pages.sock");
  pingloom_group group;
  ASSERT_EQ(pingloom_group_make(client, &group), PINGLOOM_OK);
  const std::string help(400, 'x');
  std::uint64_t* last = nullptr;
  for (int round = 0; round < 2; ++round) {  // the second time all are there
    for (int i = 0; i < PINGLOOM_PAGE_SLOTS; ++i) {
      const std::string name = "counter_" + std::to_string(i);
      pingloom_metric metric{};
      metric.name = name.c_str();
      metric.help = help.c_str();
      metric.group = &group;
      pingloom_counter counter;
      ASSERT_EQ(pingloom_counter_make(client, &metric, &counter), PINGLOOM_OK) << name;
      if (i + 1 < PINGLOOM_PAGE_SLOTS) continue;
      EXPECT_TRUE(last == nullptr || last == counter.slot);
      last = counter.slot;
    }
  }
  client.counter("one_more", &group, PINGLOOM_FULL);
  EXPECT_EQ(client.status().metrics, static_cast<std::uint32_t>(PINGLOOM_PAGE_SLOTS));
}

TEST(Environment, AGivenNameWinsAndAMistakeIsReported) {
  SocketFolder folder;
  ScriptedAgent agent(folder.socket());
  const Variables variables("pod", "from-env");
  Client client(folder.socket());
  client.counter("some_total");
  ASSERT_TRUE(client.settled());
  EXPECT_EQ(told(agent.owners().back().registration), std::string("\6tested\0", 8));
  EXPECT_EQ(client.status().error, PINGLOOM_BAD_ARGUMENT);
  EXPECT_STREQ(client.status().error_text,
               "OTEL_RESOURCE_ATTRIBUTES is ignored: entry 1 is no percent-encoded key=value");
}

}  // namespace
}  // namespace pingloom::pages::test::environment_test
