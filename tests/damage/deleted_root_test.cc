// The files of a cache, its directory, or the whole root are deleted while processes use it: the
// next put makes them anew.
// SPDX-License-Identifier: MIT
#include <cairn/cairn_program_cache.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "support/files.h"
#include "support/long_form.h"
#include "support/process.h"
#include "support/temp_directory.h"

namespace cairn_test {
namespace {

class DeletedRoot : public testing::Test {
  protected:
    DeletedRoot() {
        options_.root = base_ / "home/.cache/cairn";
        options_.log = &log_;
        cache_.open(options_);
        EXPECT_EQ(cache_.put(as_bytes("old"), as_bytes("value")), CAIRN_OK);
        other_ = options_;
        other_.log = &others_log_;
    }
    void delete_root() { std::filesystem::remove_all(options_.root); }

    void expect_stored_by(Cache &cache, const std::string &key) {
        ASSERT_EQ(cache.put(as_bytes(key), as_bytes("new")), CAIRN_OK);
        const auto found = cache.get(as_bytes(key));
        ASSERT_TRUE(found) << "not by the one who stored it";
        EXPECT_EQ(as_string(found->bytes()), "new");
        Cache fresh(other_);
        EXPECT_EQ(fresh.contains(as_bytes(key)), CAIRN_OK) << "not by the next process";
    }

    TempDirectory base_;
    CacheOptions options_;
    CacheOptions other_;
    LogLines log_;
    LogLines others_log_;
    Cache cache_;
};

TEST_F(DeletedRoot, TheNextPutMakesItAnew) {
    for (const std::string &path :
         {options_.root, options_.root + "/test", store_files(options_.root + "/test"),
          std::string(base_ / "home")}) {
        SCOPED_TRACE(path);
        const std::size_t lines = log_.lines().size();
        std::filesystem::remove_all(path);
        EXPECT_FALSE(cache_.get(as_bytes("nobody stored it")));
        expect_stored_by(cache_, "key of " + path);
        for (int i = 0; i < 100; ++i) expect_stored_by(cache_, "key " + std::to_string(i));
        EXPECT_FALSE(cache_.get(as_bytes("old")));
        EXPECT_EQ(log_.lines().size(), lines + 1);
        EXPECT_EQ(access((options_.root + "/CACHEDIR.TAG").c_str(), F_OK), 0);
    }
}

TEST_F(DeletedRoot, EveryCallHasAResultThatIsDocumented) {
    delete_root();
    EXPECT_EQ(cache_.remove(as_bytes("nobody stored it")), CAIRN_MISS);
    delete_root();
    EXPECT_EQ(cache_.clear(), CAIRN_OK);
    delete_root();
    EXPECT_EQ(cache_.compress(), CAIRN_OK);
    delete_root();
    EXPECT_EQ(cache_.sync(), CAIRN_OK);
    EXPECT_EQ(cache_.contains(as_bytes("nobody stored it")), CAIRN_MISS);
    EXPECT_EQ(cache_.stats().limit_bytes, CAIRN_LIMIT_BYTES_DEFAULT);
    expect_stored_by(cache_, "key");
}

TEST_F(DeletedRoot, OthersWhoHadItOpenFindWhatIsPutThen) {
    Cache writer(other_);
    other_.flags = CAIRN_OPEN_READ_ONLY;
    Cache reader(other_);
    for (Cache *each : {&writer, &reader}) EXPECT_TRUE(each->get(as_bytes("old")));
    delete_root();
    ASSERT_EQ(cache_.put(as_bytes("key"), as_bytes("new")), CAIRN_OK);
    for (Cache *each : {&writer, &reader}) {
        EXPECT_EQ(each->contains(as_bytes("key")), CAIRN_OK);
        EXPECT_FALSE(each->get(as_bytes("old")));
    }
    expect_stored_by(writer, "key of the writer");
    EXPECT_TRUE(cache_.get(as_bytes("key of the writer")));
}

// `cairn rm` gives the directory another name, deletes its files and then the directory.
TEST_F(DeletedRoot, ADirectoryThatIsJustBeingRemovedIsLeftToThat) {
    const std::string removed = options_.root + "/.removed-test-1";
    std::filesystem::rename(options_.root + "/test", removed);
    std::filesystem::remove(removed + "/format-2/cache.idx");
    std::filesystem::remove(removed + "/format-2/cache.lock");
    expect_stored_by(cache_, "key");
    EXPECT_FALSE(std::filesystem::exists(removed + "/format-2/cache.lock"));
    std::filesystem::remove_all(removed);
    expect_stored_by(cache_, "another key");
}

TEST_F(DeletedRoot, ItIsMadeAnewAlsoByWhoWouldNotHaveMadeIt) {
    options_.flags = CAIRN_OPEN_EXISTING;
    Cache existing(options_);
    options_.flags = CAIRN_OPEN_EXISTING | CAIRN_OPEN_ANY_VERSION;
    Cache any_version(options_);
    delete_root();
    expect_stored_by(existing, "key");
    delete_root();
    expect_stored_by(any_version, "key");
}

TEST_F(DeletedRoot, WhereItCannotBeMadeThatIsToldOnce) {
    const std::size_t lines = log_.lines().size();
    std::filesystem::remove_all(base_ / "home");
    write_file(base_ / "home", as_bytes("a file"));
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(cache_.put(as_bytes("key"), as_bytes("value")), CAIRN_ERROR_DENIED);
        EXPECT_EQ(cache_.remove(as_bytes("key")), CAIRN_ERROR_DENIED);
        EXPECT_FALSE(cache_.get(as_bytes("key")));
    }
    EXPECT_EQ(log_.lines().size(), lines + 1);
    EXPECT_EQ(as_string(read_file(base_ / "home")), "a file");
    ASSERT_EQ(unlink((base_ / "home").c_str()), 0);
    expect_stored_by(cache_, "key");
    EXPECT_EQ(log_.lines().size(), lines + 2);
}

TEST_F(DeletedRoot, AParentThatMayNotBeWrittenIsToldOnce) {
    constexpr uid_t kSomebody = 65534;
    const std::string parent = base_ / "home";
    if (geteuid() == 0) {
        cache_.close();
        delete_root();
        ASSERT_EQ(chmod(std::string(base_ / "").c_str(), 0755), 0);
        for (const std::string &path : {parent, parent + "/.cache"}) {
            ASSERT_EQ(chown(path.c_str(), kSomebody, kSomebody), 0);
        }
    }
    const auto body = [&] {
        if (geteuid() == 0 && setuid(kSomebody) != 0) return 1;
        Cache cache(options_);
        EXPECT_EQ(cache.put(as_bytes("key"), as_bytes("value")), CAIRN_OK);
        const std::size_t lines = log_.lines().size();
        std::filesystem::remove_all(options_.root);
        EXPECT_EQ(chmod((parent + "/.cache").c_str(), 0500), 0);
        for (int i = 0; i < 10; ++i) {
            EXPECT_EQ(cache.put(as_bytes("key"), as_bytes("value")), CAIRN_ERROR_DENIED);
        }
        EXPECT_EQ(log_.lines().size(), lines + 1);
        EXPECT_EQ(chmod((parent + "/.cache").c_str(), 0700), 0);
        expect_stored_by(cache, "key");
        return testing::Test::HasFailure() ? 1 : 0;
    };
    EXPECT_EQ(run_in_child(60, body), "");
}

TEST_F(DeletedRoot, ACacheIsOpenedHoweverSoonTheRootGoes) {
    const auto remove = [&] {
        std::error_code somebody_is_making_it;
        std::filesystem::remove_all(options_.root, somebody_is_making_it);
    };
    std::atomic<bool> ends = false;
    std::thread deleting([&] {
        while (!ends) remove();
    });
    for (int i = 0; i < (kIsSlow ? 400 : 2000); ++i) {
        Cache cache(other_);
        const bool was_too_late = cache.result() == CAIRN_ERROR_BUSY;
        EXPECT_TRUE(cache.result() == CAIRN_OK || was_too_late) << cache.result();
    }
    ends = true;
    deleting.join();
}

// Processes and threads put while somebody deletes again and again: each put has a result, and what
// is put after the last time is found by all.
TEST_F(DeletedRoot, ManyMakeItAnewAtOnce) {
    constexpr int kRounds = 200;
    const auto put_many = [&](int number) {
        Cache cache(other_);
        for (int i = 0; i < kRounds * 20; ++i) {
            const int result = cache.put(as_bytes("key " + std::to_string(i % 50)),
                                         as_bytes("value " + std::to_string(number)));
            if (result != CAIRN_OK && result != CAIRN_ERROR_BUSY) return 10 - result;
        }
        return 0;
    };
    std::vector<Child> children;
    for (int i = 0; i < 3; ++i) children.emplace_back([&, i] { return put_many(i); });
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
        threads.emplace_back([&] {
            for (int j = 0; j < kRounds * 20; ++j) {
                const int result = cache_.put(as_bytes("key"), as_bytes("value"));
                EXPECT_TRUE(result == CAIRN_OK || result == CAIRN_ERROR_BUSY) << result;
            }
        });
    }
    for (int i = 0; i < kRounds; ++i) {
        std::error_code somebody_is_making_it;
        std::filesystem::remove_all(options_.root, somebody_is_making_it);
    }
    for (std::thread &thread : threads) thread.join();
    for (Child &child : children) EXPECT_EQ(describe_status(child.wait()), "");
    expect_stored_by(cache_, "last");
}

TEST_F(DeletedRoot, AProgramCacheGoesOn) {
    cairn_program_cache_options options = {};
    options.size = sizeof options;
    options.root = options_.root.c_str();
    options.application = "app";
    options.identity = "driver";
    cairn_cache *cache = nullptr;
    ASSERT_EQ(cairn_program_cache_open(&options, &cache), CAIRN_OK);
    ASSERT_EQ(cairn_put(cache, "old", 3, "value", 5, nullptr), CAIRN_OK);
    ASSERT_EQ(cairn_flush(cache, 60'000), CAIRN_OK);
    delete_root();
    EXPECT_EQ(cairn_put(cache, "key", 3, "value", 5, nullptr), CAIRN_OK);
    EXPECT_EQ(cairn_flush(cache, 60'000), CAIRN_OK);
    cairn_cache *another = nullptr;
    ASSERT_EQ(cairn_program_cache_open(&options, &another), CAIRN_OK);
    EXPECT_EQ(cairn_contains(another, "key", 3), CAIRN_OK);
    EXPECT_EQ(cairn_put(another, "theirs", 6, "value", 5, nullptr), CAIRN_OK);
    EXPECT_EQ(cairn_flush(another, 60'000), CAIRN_OK);
    EXPECT_EQ(cairn_contains(cache, "theirs", 6), CAIRN_OK);
    cairn_close(another);
    cairn_close(cache);
}

}  // namespace
}  // namespace cairn_test
