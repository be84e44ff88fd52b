// Storages behind a proxy that breaks what it carries, for machines of a fleet.
// SPDX-License-Identifier: MIT
// Thread safety: externally synchronised. Failure: a failed test.
#pragma once

#include <gmock/gmock.h>

#include <string>

#include "backends.h"
#include "fault_proxy.h"
#include "fleet_fixture.h"

namespace cairn::fleet_test {

// Part of a URL that no other test uses.
inline std::string new_space() {
    static int count = 0;
    return "faults" + std::to_string(++count);
}

struct FaultyStorage {
    explicit FaultyStorage(const std::string &kind, const std::string &space = new_space())
        : proxy(cairn_test::Backend::of(kind).port()),
          direct(cairn_test::Backend::of(kind).url(space)),
          through(cairn_test::Backend::of(kind).url(space, proxy.port())) {}

    cairn_test::FaultProxy proxy;
    const std::string direct, through;  // URLs
};

inline void expect_no_secret(const std::string &text) {
    for (const char *secret : {cairn_test::S3Server::kSecret, "hunter"}) {
        EXPECT_EQ(text.find(secret), std::string::npos) << text;
    }
}

class FaultsTest : public FleetTest {
  protected:
    void SetUp() override { cairn_test::prepare_environment(); }
    static Words push_words_to(const std::string &url, const std::string &name = "game") {
        return {"push", "--remote", url, "--sign", "ci", name};
    }
    static Words pull_words_from(const std::string &url) {
        return {"pull", "--remote", url, "game"};
    }
};

}  // namespace cairn::fleet_test
