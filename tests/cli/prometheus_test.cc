// SPDX-License-Identifier: MIT
// `cairn metrics` as Prometheus reads it: its checker, and a server that scrapes it.
#include "support/prometheus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "counting.h"
#include "program.h"
#include "support/eventually.h"

namespace cairn::cli_test {
namespace {

using cairn_test::PrometheusServer;
using testing::HasSubstr;

class PrometheusTest : public testing::Test {
  protected:
    void SetUp() override {
        if (const std::string why = PrometheusServer::why_missing(); !why.empty()) {
            GTEST_SKIP() << why;
        }
        count(root_, "game \"one\"", 0xabc, 0,
              {{count_of(Outcome::hit_disk), 3}, {Number::saved_ns, 9'000'000}});
        count(root_, "other", 0, 3,
              {{count_of(Outcome::never_seen), 1}, {ns_of(Outcome::never_seen), 2'500'000'000}});
    }
    Finished run(const std::vector<std::string> &arguments) const {
        return cairn(arguments, {{"CAIRN_DIR", root_}});
    }

    Folder folder_;
    const std::string root_ = folder_ / "root";
};

TEST_F(PrometheusTest, ItsCheckerFindsNothing) {
    const std::string file = folder_ / "cairn.prom";
    ASSERT_EQ(run({"metrics", "--output", file}).exit_code, 0);
    Program checker({"promtool", "check", "metrics"}, {}, file);
    EXPECT_EQ(checker.wait(), 0) << checker.standard_error();
    EXPECT_EQ(checker.standard_output() + checker.standard_error(), "");
}

TEST_F(PrometheusTest, AServerScrapesIt) {
    const PrometheusServer server([&] { return run({"metrics"}).standard_output; });
    const auto value = [&](const std::string &query) -> std::string {
        const auto answer = nlohmann::json::parse(server.query(query), nullptr, false);
        if (answer.is_discarded() || answer["status"] != "success") return "no answer";
        const auto &result = answer["data"]["result"];
        return result.empty() ? "nothing" : result[0]["value"][1].get<std::string>();
    };
    ASSERT_TRUE(cairn_test::eventually([&] { return value("cairn_caches_unreadable") == "0"; }))
        << value("up");
    EXPECT_EQ(value("cairn_lookups_total{application='game \"one\"',outcome='hit-disk'}"), "3");
    EXPECT_EQ(value("cairn_lookup_seconds_total{application='other',outcome='never-seen'}"), "2.5");
    EXPECT_EQ(value("sum(cairn_lookups_total)"), "4");
    EXPECT_EQ(value("count(cairn_lookups_total)"), std::to_string(2 * kOutcomes));
    // What was counted meanwhile comes with a later scrape.
    count(root_, "other", 0, 0, {{count_of(Outcome::hit_memory), 6}});
    EXPECT_TRUE(cairn_test::eventually([&] { return value("sum(cairn_lookups_total)") == "10"; }));

    // It understands the dashboard.
    const auto dashboard = nlohmann::json::parse(read_file(CLI_DASHBOARD));
    for (std::string expression : expressions_of(dashboard)) {
        if (expression.starts_with("label_values(")) continue;
        for (const auto &[name, text] :
             {std::pair("$application", ".*"), {"$__range", "1h"}, {"$__rate_interval", "5m"}}) {
            for (std::size_t at; (at = expression.find(name)) != std::string::npos;) {
                expression.replace(at, std::string(name).size(), text);
            }
        }
        EXPECT_THAT(server.query(expression), HasSubstr("\"status\":\"success\"")) << expression;
    }
}

}  // namespace
}  // namespace cairn::cli_test
