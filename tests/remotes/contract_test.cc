// SPDX-License-Identifier: MIT
// What remotes/remote.h promises, on a storage of each kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "backends.h"

namespace cairn_test {
namespace {

using cairn::remotes::Limits;
using cairn::remotes::Listed;
using cairn::remotes::open_remote;
using cairn::remotes::Remote;
using cairn::remotes::RemoteFailure;
using cairn::remotes::Trouble;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kMany = 1 << 20;

class RemoteContractTest : public testing::TestWithParam<std::string> {
  protected:
    void SetUp() override {
        const std::string why = Backend::why_missing(GetParam());
        if (!why.empty()) GTEST_SKIP() << why;
        prepare_environment();
        static int count = 0;
        space_ = "space" + std::to_string(++count);
        remote_ = another();
    }
    std::string url() const { return Backend::of(GetParam()).url(space_); }
    std::unique_ptr<Remote> another(const Limits &limits = {}) const {
        return open_remote(url(), limits);
    }
    template <typename Work>
    static std::optional<Trouble> trouble_of(Work work) {
        try {
            work();
            return std::nullopt;
        } catch (const RemoteFailure &failure) {
            return failure.trouble();
        }
    }

    std::string space_;
    std::unique_ptr<Remote> remote_;
};

INSTANTIATE_TEST_SUITE_P(Each, RemoteContractTest, testing::ValuesIn(kAllBackends),
                         [](const auto &each) { return each.param; });

TEST_P(RemoteContractTest, AnotherReadsWhatOnePut) {
    const std::string content = pattern_of_bytes(70'000);
    put_text(*remote_, "a/b/object.pack", content);
    EXPECT_EQ(another()->get("a/b/object.pack", kMany), content);
    put_text(*remote_, "top", "short");
    EXPECT_EQ(remote_->get("top", kMany), "short");
}

TEST_P(RemoteContractTest, WhatIsAbsentIsNothingAndNoFailure) {
    EXPECT_EQ(remote_->get("absent", kMany), std::nullopt);
    EXPECT_EQ(remote_->get("absent/too", kMany), std::nullopt);
    EXPECT_THAT(remote_->list(""), IsEmpty());
    EXPECT_THAT(remote_->list("absent/too"), IsEmpty());
    remote_->remove("absent");
    remote_->remove("absent/too");
}

TEST_P(RemoteContractTest, AnObjectMayBeEmpty) {
    put_text(*remote_, "a/empty", "");
    EXPECT_EQ(remote_->get("a/empty", 0), "");
    EXPECT_THAT(names_in(*remote_, "a"), ElementsAre("empty"));
}

TEST_P(RemoteContractTest, TheSameMayBePutAgain) {
    put_text(*remote_, "a/b", "same");
    put_text(*another(), "a/b", "same");
    EXPECT_EQ(remote_->get("a/b", kMany), "same");
    EXPECT_THAT(names_in(*remote_, "a"), ElementsAre("b"));
}

TEST_P(RemoteContractTest, EachFolderListsWhatIsDirectlyBelow) {
    put_text(*remote_, "top", "1");
    put_text(*remote_, "a/one", "2");
    put_text(*remote_, "a/two", "3");
    put_text(*remote_, "a/deep/three", "4");
    put_text(*remote_, "ab/four", "5");
    EXPECT_THAT(names_in(*remote_, ""), ElementsAre("a/", "ab/", "top"));
    EXPECT_THAT(names_in(*another(), "a"), ElementsAre("deep/", "one", "two"));
    EXPECT_THAT(names_in(*remote_, "a/deep"), ElementsAre("three"));
}

TEST_P(RemoteContractTest, AFolderThatHasNothingButFoldersIsListed) {
    put_text(*remote_, "a/deep/deeper/object", "1");
    put_text(*remote_, "a/other/deeper/object", "2");
    EXPECT_THAT(names_in(*remote_, ""), ElementsAre("a/"));
    EXPECT_THAT(names_in(*another(), "a"), ElementsAre("deep/", "other/"));
    EXPECT_THAT(names_in(*remote_, "a/deep"), ElementsAre("deeper/"));
}

TEST_P(RemoteContractTest, AnObjectThatWasJustPutIsYoung) {
    put_text(*remote_, "a/b", "1");
    const std::vector<Listed> listed = remote_->list("a");
    ASSERT_EQ(listed.size(), 1U);
    ASSERT_TRUE(listed[0].age_s.has_value());
    EXPECT_LT(*listed[0].age_s, 600U);
}

TEST_P(RemoteContractTest, RefusesAnObjectThatIsTooLarge) {
    put_text(*remote_, "object", pattern_of_bytes(100'000));
    EXPECT_EQ(trouble_of([&] { remote_->get("object", 99'999); }), Trouble::too_large);
    EXPECT_EQ(trouble_of([&] { remote_->get("object", 0); }), Trouble::too_large);
    EXPECT_EQ(remote_->get("object", 100'000)->size(), 100'000U);
}

TEST_P(RemoteContractTest, RefusesNamesThatNoObjectMayHave) {
    for (const std::string name : {"", "/a", "a/", "a//b", "..", "../x", "a/../b", ".hidden",
                                   "a/.b", "a b", "a\nb", "a%2e", "a?b", "a\\b", "\xc3\xa4"}) {
        EXPECT_EQ(trouble_of([&] { remote_->get(name, 1); }), Trouble::usage) << name;
        EXPECT_EQ(trouble_of([&] { put_text(*remote_, name, "x"); }), Trouble::usage) << name;
        EXPECT_EQ(trouble_of([&] { remote_->remove(name); }), Trouble::usage) << name;
        if (name.empty()) continue;
        EXPECT_EQ(trouble_of([&] { remote_->list(name); }), Trouble::usage) << name;
    }
    EXPECT_THAT(remote_->list(""), IsEmpty());
}

TEST_P(RemoteContractTest, TakesTheLongestNames) {
    const std::string part = std::string(127, 'x') + "-";
    const std::string name = part + "/" + part + "/" + part + "/" + std::string(125, 'y');
    ASSERT_EQ(name.size(), 512U);
    put_text(*remote_, name, "long");
    EXPECT_EQ(remote_->get(name, kMany), "long");
    EXPECT_THAT(names_in(*remote_, part + "/" + part), ElementsAre(part + "/"));
    EXPECT_EQ(trouble_of([&] { put_text(*remote_, name + "z", "x"); }), Trouble::usage);
    EXPECT_EQ(trouble_of([&] { put_text(*remote_, part + "z", "x"); }), Trouble::usage);
}

TEST_P(RemoteContractTest, ListsMoreNamesThanAPageHas) {
    constexpr int kCount = 1'500;
    for (int i = 0; i < kCount; ++i) put_text(*remote_, "many/object-" + std::to_string(i), "x");
    const std::vector<std::string> names = names_in(*another(), "many");
    EXPECT_EQ(names.size(), std::size_t{kCount});
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), std::size_t{kCount});
    Limits limits;
    limits.listed_max = kCount - 1;
    EXPECT_EQ(trouble_of([&] { another(limits)->list("many"); }), Trouble::too_large);
}

TEST_P(RemoteContractTest, KeepsObjectsOfMegabytes) {
    const std::string content = pattern_of_bytes(5 << 20);
    put_text(*remote_, "a/large", content);
    EXPECT_TRUE(another()->get("a/large", 5 << 20) == content);
}

TEST_P(RemoteContractTest, WhatWasRemovedIsNeitherThereNorListed) {
    put_text(*remote_, "a/one", "1");
    put_text(*remote_, "a/two", "2");
    remote_->remove("a/one");
    remote_->remove("a/one");
    EXPECT_EQ(remote_->get("a/one", kMany), std::nullopt);
    EXPECT_THAT(names_in(*remote_, "a"), ElementsAre("two"));
    remote_->remove("a/two");
    EXPECT_THAT(remote_->list("a"), IsEmpty());
}

TEST_P(RemoteContractTest, WritersAtTheSameTimeLoseNothing) {
    if (GetParam() == "http") GTEST_SKIP() << "one machine at a time writes to a web server";
    std::vector<std::thread> writers;
    for (int writer = 0; writer < 4; ++writer) {
        writers.emplace_back([&, writer] {
            const auto remote = another();
            for (int i = 0; i < 20; ++i) {
                put_text(*remote, "a/b/" + std::to_string(writer) + "-" + std::to_string(i), "x");
                put_text(*remote, "a/b/same-" + std::to_string(i), "same");
            }
        });
    }
    for (std::thread &writer : writers) writer.join();
    EXPECT_EQ(remote_->list("a/b").size(), 4U * 20U + 20U);
    EXPECT_EQ(remote_->get("a/b/same-7", kMany), "same");
}

TEST_P(RemoteContractTest, CountsItsTraffic) {
    EXPECT_EQ(remote_->traffic().requests, 0U);
    put_text(*remote_, "a", pattern_of_bytes(50'000));
    EXPECT_GE(remote_->traffic().requests, 1U);
    EXPECT_GE(remote_->traffic().bytes_out, 50'000U);
    EXPECT_LT(remote_->traffic().bytes_out, 60'000U);
    const std::uint64_t before = remote_->traffic().bytes_in;
    (void)remote_->get("a", kMany);
    EXPECT_GE(remote_->traffic().bytes_in, before + 50'000U);
    EXPECT_LT(remote_->traffic().bytes_in, before + 60'000U);
}

}  // namespace
}  // namespace cairn_test
