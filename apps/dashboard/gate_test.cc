// SPDX-License-Identifier: MIT
#include "gate.h"

#include <gtest/gtest.h>

#include <set>

namespace cairn::dashboard {
namespace {

const std::string kToken = "0123456789abcdef0123456789abcdef";

Asked api() {
    Asked asked;
    asked.method = "GET";
    asked.path = "/api/overview";
    asked.host = {"127.0.0.1:4711"};
    asked.token = {kToken};
    return asked;
}

Asked page() {
    Asked asked = api();
    asked.path = "/";
    asked.token = {};
    return asked;
}

class GateTest : public testing::Test {
  protected:
    int admit(const Asked &asked) const { return gate_.admit(asked).status; }
    const Gate gate_{kToken, 4711};
};

TEST_F(GateTest, ThePageAndWhatItAsksPass) {
    EXPECT_EQ(admit(page()), 200);
    EXPECT_EQ(admit(api()), 200);
    Asked asked = api();
    asked.host = {"localhost:4711"};
    asked.origin = {"http://localhost:4711"};
    asked.fetch_site = {"same-origin"};
    EXPECT_EQ(admit(asked), 200);
    asked.method = "POST";
    asked.path = "/api/action";
    asked.content_type = {"application/json"};
    EXPECT_EQ(admit(asked), 200);
}

TEST_F(GateTest, AnotherNameOfThisMachineIsRefused) {
    using Hosts = std::vector<std::string>;
    for (const Hosts &host :
         {Hosts{}, Hosts{""}, Hosts{"127.0.0.1"}, Hosts{"127.0.0.1:80"}, Hosts{"evil.example:4711"},
          Hosts{"localhost.evil.example:4711"}, Hosts{"127.0.0.1:4711", "127.0.0.1:4711"},
          Hosts{"127.0.0.1:4711 "}, Hosts{"[::1]:4711"}}) {
        Asked asked = api();
        asked.host = host;
        EXPECT_EQ(admit(asked), 403);
        asked = page();
        asked.host = host;
        EXPECT_EQ(admit(asked), 403);
    }
}

TEST_F(GateTest, APageFromElsewhereIsRefusedEvenWithTheToken) {
    for (const char *origin : {"http://evil.example", "null", "", "http://127.0.0.1",
                               "http://127.0.0.1:4712", "https://127.0.0.1:4711",
                               "http://localhost:4711", "http://127.0.0.1:4711.evil.example"}) {
        Asked asked = api();
        asked.origin = {origin};
        EXPECT_EQ(admit(asked), 403) << origin;
    }
    for (const char *site : {"cross-site", "same-site", "none", ""}) {
        Asked asked = api();
        asked.fetch_site = {site};
        EXPECT_EQ(admit(asked), 403) << site;
    }
}

TEST_F(GateTest, WithoutTheTokenNothingIsTold) {
    for (const char *token :
         {"", "0", "0123456789abcdef0123456789abcdeF", "0123456789abcdef0123456789abcdef0"}) {
        Asked asked = api();
        asked.token = {token};
        EXPECT_EQ(admit(asked), 401) << token;
    }
    Asked asked = api();
    asked.token = {};
    EXPECT_EQ(admit(asked), 401);
    asked.token = {kToken, kToken};
    EXPECT_EQ(admit(asked), 401);
}

TEST_F(GateTest, AnActionIsAPostOfJson) {
    Asked asked = api();
    asked.path = "/api/action";
    EXPECT_EQ(admit(asked), 405);
    asked.method = "POST";
    EXPECT_EQ(admit(asked), 415);
    for (const char *type :
         {"text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-8"}) {
        asked.content_type = {type};
        EXPECT_EQ(admit(asked), 415) << type;
    }
    for (const char *method : {"OPTIONS", "PUT", "DELETE", "PATCH"}) {
        asked.method = method;
        EXPECT_EQ(admit(asked), 405) << method;
        Asked of_page = page();
        of_page.method = method;
        EXPECT_EQ(admit(of_page), 405) << method;
    }
}

TEST_F(GateTest, ALinkMayLeadToThePageButNotIntoAnotherOne) {
    Asked asked = page();
    asked.fetch_site = {"cross-site"};
    asked.fetch_mode = {"navigate"};
    EXPECT_EQ(admit(asked), 200);
    asked.path = "/main.js";
    EXPECT_EQ(admit(asked), 403);
    asked.fetch_mode = {"no-cors"};
    EXPECT_EQ(admit(asked), 403);
    asked.path = "/";
    EXPECT_EQ(admit(asked), 403);
}

TEST_F(GateTest, TokensAreLongAndNeverTheSame) {
    std::set<std::string> tokens;
    for (int i = 0; i < 100; ++i) tokens.insert(make_token());
    EXPECT_EQ(tokens.size(), 100u);
    for (const std::string &token : tokens) {
        EXPECT_EQ(token.size(), 32u);
        EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
    }
    EXPECT_EQ(gate_.address(), "http://127.0.0.1:4711/#token=" + kToken);
}

}  // namespace
}  // namespace cairn::dashboard
