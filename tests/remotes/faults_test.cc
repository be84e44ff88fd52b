// SPDX-License-Identifier: MIT
// What networks and servers may do: each call ends in time, says why, and gives no wrong content.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>

#include "backends.h"
#include "fault_proxy.h"
#include "trouble.h"

namespace cairn_test {
namespace {

using cairn::remotes::Limits;
using cairn::remotes::open_remote;
using cairn::remotes::Remote;
using cairn::remotes::Trouble;

// Where nothing hangs for ever, no machine is so slow.
constexpr std::chrono::seconds kBound{20};
constexpr std::uint64_t kMany = 1 << 20;

Limits short_limits() {
    Limits limits;
    limits.connect_ms = 500;
    limits.call_ms = 1'500;
    limits.stall_ms = 200;
    limits.stall_bytes = 1'000;
    return limits;
}

// Of a call, which ends within the bound.
template <typename Work>
Outcome outcome_in_time(Work work) {
    const auto begin = std::chrono::steady_clock::now();
    Outcome outcome = outcome_of(work);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, kBound);
    return outcome;
}

// Without a fault, a busy machine may take longer than the short limits, too; not for ever.
template <typename Work>
void expect_works(Work work) {
    Outcome outcome = outcome_of(work);
    for (int tries = 1; tries < 20 && outcome.trouble == Trouble::unreachable; ++tries) {
        outcome = outcome_of(work);
    }
    EXPECT_FALSE(outcome.trouble.has_value()) << outcome.message;
}

struct Case {
    std::string backend;
    Fault fault;
};
void PrintTo(const Case &value, std::ostream *out) {
    *out << value.backend << " " << fault_name(value.fault);
}

std::vector<Case> all_cases() {
    std::vector<Case> cases;
    for (const char *backend : {"http", "s3", "redis"}) {
        for (const Fault fault : {Fault::refuse, Fault::hang, Fault::hang_inside, Fault::cut,
                                  Fault::slow, Fault::garbage, Fault::longer, Fault::shorter}) {
            cases.push_back({backend, fault});
        }
    }
    return cases;
}

class RemoteFaultsTest : public testing::TestWithParam<Case> {
  protected:
    void SetUp() override {
        const std::string why = Backend::why_missing(GetParam().backend);
        if (!why.empty()) GTEST_SKIP() << why;
        prepare_environment();
        signal(SIGPIPE, [](int) { ADD_FAILURE() << "there was a SIGPIPE"; });
        static int count = 0;
        space_ = "faults" + std::to_string(++count);
        Backend &backend = Backend::of(GetParam().backend);
        proxy_ = std::make_unique<FaultProxy>(backend.port());
        direct_ = open_remote(backend.url(space_), {});
        through_ = open_remote(backend.url(space_, proxy_->port()), short_limits());
        put_text(*direct_, "a/object", content_);
    }
    void TearDown() override { signal(SIGPIPE, SIG_DFL); }

    Fault fault() const { return GetParam().fault; }
    // Of HTTP, an answer whose length is shorter than what follows looks whole; the caller's hash tells. What follows
    // may come so late that it breaks the next answer, too.
    bool may_be_cut() const { return fault() == Fault::shorter && GetParam().backend != "redis"; }
    void expect_content_again() {
        if (may_be_cut()) (void)outcome_in_time([&] { (void)through_->get("a/object", kMany); });
        expect_content();
    }
    void expect_content() {
        expect_works([&] { EXPECT_TRUE(through_->get("a/object", kMany) == content_); });
    }

    const std::string content_ = pattern_of_bytes(64 << 10);
    std::string space_;
    std::unique_ptr<FaultProxy> proxy_;
    std::unique_ptr<Remote> direct_;
    std::unique_ptr<Remote> through_;
};

INSTANTIATE_TEST_SUITE_P(Each, RemoteFaultsTest, testing::ValuesIn(all_cases()),
                         [](const auto &each) {
                             return each.param.backend + "_" + fault_name(each.param.fault);
                         });

TEST_P(RemoteFaultsTest, ReadingFailsInTimeAndWorksAgainAfterwards) {
    proxy_->set(fault(), 2'000);
    const Outcome outcome = outcome_in_time([&] {
        const auto got = through_->get("a/object", kMany);
        ASSERT_TRUE(got.has_value());
        EXPECT_TRUE(may_be_cut() && content_.starts_with(*got)) << got->size();
    });
    if (!may_be_cut()) {
        EXPECT_EQ(outcome.trouble, Trouble::unreachable) << outcome.message;
    }
    EXPECT_EQ(outcome.message.find("secret"), std::string::npos);
    proxy_->set(Fault::none);
    expect_content_again();
}

TEST_P(RemoteFaultsTest, AConnectionThatWorkedMayFailLater) {
    expect_content();
    proxy_->set(fault(), 10);
    const Outcome outcome = outcome_in_time([&] {
        const auto got = through_->get("a/object", kMany);
        EXPECT_TRUE(may_be_cut() && content_.starts_with(got.value_or("")));
    });
    if (!may_be_cut()) {
        EXPECT_EQ(outcome.trouble, Trouble::unreachable) << outcome.message;
    }
    proxy_->set(Fault::none);
    expect_content_again();
}

TEST_P(RemoteFaultsTest, WhatWasNotPutWholeIsNotThere) {
    const std::string content = pattern_of_bytes(300'000);
    proxy_->set(fault(), 10);
    const Outcome outcome = outcome_in_time([&] { put_text(*through_, "b/c/new", content); });
    if (outcome.trouble) {
        EXPECT_EQ(outcome.trouble, Trouble::unreachable) << outcome.message;
    }
    // A short answer may be right all the same, and a slow one in time.
    const bool must_fail =
        fault() != Fault::longer && fault() != Fault::shorter && fault() != Fault::slow;
    if (must_fail) {
        EXPECT_TRUE(outcome.trouble.has_value());
    }
    const auto got = direct_->get("b/c/new", kMany);
    // s3rver keeps a part of an upload that was cut. S3 keeps nothing.
    const bool may_be_part = GetParam().backend == "s3" && outcome.trouble.has_value();
    if (got) {
        EXPECT_TRUE(may_be_part ? content.starts_with(*got) : *got == content);
    }
    if (!got && !may_be_part) {
        EXPECT_TRUE(direct_->list("b/c").empty());
    }
    proxy_->set(Fault::none);
    expect_works([&] { put_text(*through_, "b/c/new", content); });
    EXPECT_TRUE(direct_->get("b/c/new", kMany) == content);
    EXPECT_EQ(names_in(*direct_, "b"), std::vector<std::string>{"c/"});
}

TEST_P(RemoteFaultsTest, AListIsRightOrFails) {
    const std::vector<std::string> expected = {"object"};
    proxy_->set(fault(), 10);
    std::vector<std::string> names;
    const Outcome outcome = outcome_in_time([&] { names = names_in(*through_, "a"); });
    if (outcome.trouble) {
        EXPECT_EQ(outcome.trouble, Trouble::unreachable) << outcome.message;
    }
    if (!outcome.trouble) {
        EXPECT_EQ(names, expected);
    }
    proxy_->set(Fault::none);
    expect_works([&] { EXPECT_EQ(names_in(*through_, "a"), expected); });
}

TEST_P(RemoteFaultsTest, RemovingFailsInTime) {
    proxy_->set(fault(), 10);
    const Outcome outcome = outcome_in_time([&] { through_->remove("a/object"); });
    if (outcome.trouble) {
        EXPECT_EQ(outcome.trouble, Trouble::unreachable) << outcome.message;
    }
    // What is listed is there.
    if (!names_in(*direct_, "a").empty()) {
        EXPECT_TRUE(direct_->get("a/object", kMany) == content_);
    }
    proxy_->set(Fault::none);
    expect_works([&] { through_->remove("a/object"); });
    EXPECT_TRUE(names_in(*direct_, "a").empty());
}

class RemoteSlownessTest : public RemoteFaultsTest {};

INSTANTIATE_TEST_SUITE_P(Each, RemoteSlownessTest,
                         testing::Values(Case{"http", Fault::slow}, Case{"s3", Fault::slow},
                                         Case{"redis", Fault::slow}),
                         [](const auto &each) { return each.param.backend; });

// Slow enough to take for ever, and quick enough not to stall.
TEST_P(RemoteSlownessTest, TheWholeCallHasAnEnd) {
    Limits limits = short_limits();
    limits.stall_bytes = 50;
    limits.stall_ms = 1'000;
    const auto remote =
        open_remote(Backend::of(GetParam().backend).url(space_, proxy_->port()), limits);
    proxy_->set(fault());
    const Outcome outcome = outcome_in_time([&] { (void)remote->get("a/object", kMany); });
    EXPECT_EQ(outcome.trouble, Trouble::unreachable);
    EXPECT_NE(outcome.message.find("too long"), std::string::npos) << outcome.message;
}

}  // namespace
}  // namespace cairn_test
