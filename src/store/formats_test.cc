// SPDX-License-Identifier: MIT
#include "store/formats.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>

#include "os/environment.h"
#include "os/testing/scratch.h"
#include "store/index_file.h"
#include "store/store.h"
#include "support/files.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

using Formats = std::vector<std::uint32_t>;

class FormatsTest : public ::testing::Test {
  protected:
    FormatsTest() {
        options_.root = scratch_ / "root";
        options_.identifier = "cache";
        options_.version = 1;
        options_.limit_bytes = 4 << 20;
        options_.log = Log(keep, this);
        fs::create_directory(options_.root);
        fs::permissions(options_.root, fs::perms::owner_all);
    }
    static void keep(void *self, int, const char *line) {
        auto *const test = static_cast<FormatsTest *>(self);
        const std::lock_guard lock(test->lines_mutex_);  // stores have threads of their own
        test->lines_.emplace_back(line);
    }

    std::unique_ptr<Store> open() {
        auto opened = Store::open(options_);
        EXPECT_TRUE(opened.ok()) << error_name(opened.error());
        return opened.ok() ? std::move(opened.value()) : nullptr;
    }
    Error error_of_opening() { return Store::open(options_).error(); }
    static PutOutcome put(Store &store, const std::string &key, const std::string &value) {
        const auto outcome = store.put(as_bytes(key), as_bytes(value), {});
        EXPECT_TRUE(outcome.ok()) << error_name(outcome.error());
        return outcome.ok() ? outcome.value() : PutOutcome::exists;
    }
    static std::string get(Store &store, const std::string &key) {
        const auto blob = store.get(as_bytes(key));
        if (!blob) return "(none)";
        const Bytes value = blob->value();
        return {reinterpret_cast<const char *>(value.data()), value.size()};
    }

    // Nothing that could be compressed.
    static std::string noise() {
        std::string bytes(4000, '\0');
        random_bytes(std::as_writable_bytes(std::span(bytes)));
        return bytes;
    }

    std::string path(const std::string &name = "") const {
        return options_.root + "/cache" + (name.empty() ? "" : "/" + name);
    }
    Directory cache() const { return std::move(Directory::open(path()).value()); }
    Formats formats() const { return list_formats(cache()).value(); }
    void make_folder(const std::string &name) const {
        fs::create_directories(path(name));
        fs::permissions(path(), fs::perms::owner_all);
        fs::permissions(path(name), fs::perms::owner_all);
    }
    // As a version made it that knew the oldest format only, with an index and nothing else.
    void make_oldest() {
        make_folder(".");
        const auto identity =
            identity_for_new_index(cache(), kOldestFormat, options_.version, "cache");
        ASSERT_TRUE(create_index_file(cache(), identity, Replace::no).ok());
    }
    // All files that are not of the newest format, with their contents.
    std::map<std::string, std::string> files_of_others() const {
        std::map<std::string, std::string> files;
        for (const auto &entry : fs::recursive_directory_iterator(path())) {
            const std::string name = fs::relative(entry.path(), path());
            if (name.starts_with(format_folder(kNewestFormat)) || !entry.is_regular_file())
                continue;
            std::ifstream file(entry.path(), std::ios::binary);
            files[name].assign(std::istreambuf_iterator<char>(file), {});
        }
        return files;
    }

    testing::Scratch scratch_{testing::Scratch::Place::memory};
    StoreOptions options_;
    std::mutex lines_mutex_;
    std::vector<std::string> lines_;
};

TEST_F(FormatsTest, NamesOfFoldersAreNumbersAndNothingElse) {
    EXPECT_EQ(format_folder(1), ".");
    EXPECT_EQ(format_folder(2), "format-2");
    EXPECT_EQ(format_from_folder_name("format-2"), 2u);
    EXPECT_EQ(format_from_folder_name("format-4294967295"), 4294967295u);
    for (const char *name :
         {"", "format-", "format-1", "format-0", "format-02", "format--2", "format-2x",
          "format-4294967296", "Format-2", "format-+2", "x-format-2", "2"}) {
        EXPECT_EQ(format_from_folder_name(name), std::nullopt) << name;
    }
}

TEST_F(FormatsTest, ANewCacheHasTheNewestInAFolder) {
    const auto store = open();
    put(*store, "key", "value");
    EXPECT_EQ(store->format(), kNewestFormat);
    EXPECT_EQ(formats(), Formats{kNewestFormat});
    EXPECT_TRUE(files_of_others().empty());
    const auto found = find_format(cache());
    ASSERT_TRUE(found.ok());
    EXPECT_TRUE(found.value().directory.info(kIndexFileName).ok());
    const auto header = found.value().directory.open_file(kIndexFileName, Access::read_only);
    EXPECT_EQ(read_index_identity(header.value(), "cache")->format, kNewestFormat);
}

TEST_F(FormatsTest, ACacheOfTheOldestStaysInItAndIsUsedWhole) {
    make_oldest();
    for (int round = 0; round < 3; ++round) {
        const auto store = open();
        EXPECT_EQ(store->format(), kOldestFormat);
        for (int i = 0; i < 300; ++i) {
            const std::string key = "key" + std::to_string(i);
            EXPECT_EQ(get(*store, key),
                      round == 0 ? "(none)" : "value" + std::to_string(round - 1));
            put(*store, key, "value" + std::to_string(round));
        }
        EXPECT_EQ(formats(), Formats{kOldestFormat});
    }
    // Also without its index, and without its lock.
    for (const char *name : {kIndexFileName, kLockFileName}) {
        ASSERT_TRUE(fs::remove(path(name)));
        const auto store = open();
        for (int i = 0; i < 300; ++i) EXPECT_EQ(get(*store, "key" + std::to_string(i)), "value2");
        EXPECT_EQ(store->format(), kOldestFormat);
    }
    const auto index = cache().open_file(kIndexFileName, Access::read_only);
    EXPECT_EQ(read_index_identity(index.value(), "cache")->format, kOldestFormat);
}

TEST_F(FormatsTest, ACacheThatOnlyLacksItsSegmentsOrHasOnlyThoseStaysInItsFormat) {
    make_oldest();
    put(*open(), "key", "value");
    fs::remove(path(kIndexFileName));
    fs::remove(path(kLockFileName));
    auto store = open();
    EXPECT_EQ(get(*store, "key"), "value");
    EXPECT_EQ(store->format(), kOldestFormat);
}

TEST_F(FormatsTest, OthersStayByteForByteWhateverIsDone) {
    make_oldest();
    fs::copy(path(), scratch_ / "oldest", fs::copy_options::recursive);
    fs::remove_all(path());
    auto store = open();  // makes the newest
    for (const auto &entry : fs::directory_iterator(scratch_ / "oldest")) {
        fs::copy(entry.path(), path(entry.path().filename()));
    }
    make_folder("format-7");
    std::ofstream(path("format-7/cache.lock")) << "";
    std::ofstream(path("format-7/whatever.val")) << std::string(5 << 20, 'x');
    // What killed processes left does not count either.
    std::ofstream(path("00000001.val.tmp")) << std::string(8 << 20, 'z');
    std::ofstream(path("00000000.val")) << std::string(3 << 20, 'y');
    std::ofstream(path(kLockFileName)) << "";
    EXPECT_EQ(formats(), (Formats{kOldestFormat, kNewestFormat, 7}));
    const auto before = files_of_others();
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 1500; ++i) {
            put(*store, std::to_string(round) + "key" + std::to_string(i), noise());
        }
        const std::string last = std::to_string(round) + "key1499";
        EXPECT_EQ(get(*store, last).size(), 4000u);
        EXPECT_TRUE(store->remove(as_bytes(last)).value());
        EXPECT_TRUE(store->compress().ok());
        store.reset();
        store = open();
        EXPECT_EQ(store->format(), kNewestFormat);
    }
    EXPECT_EQ(files_of_others(), before);
    // They do not count for its limit, and its limit holds.
    const std::uint64_t bytes = store->stats().disk_bytes;
    EXPECT_GT(bytes, 2u << 20);
    EXPECT_LE(bytes, 4u << 20);
    EXPECT_GT(cache_bytes(cache()).value(), bytes + (8u << 20) - 1);
}

TEST_F(FormatsTest, WhereOnlyUnknownOnesAreOneThatMayWriteMakesItsOwn) {
    make_folder("format-7");
    std::ofstream(path("format-7/cache.idx")) << "of a later version";
    std::ofstream(path("format-7/cache.lock")) << "";
    options_.create = Create::no;
    options_.access = Access::read_only;
    EXPECT_EQ(error_of_opening(), Error::not_found);
    EXPECT_EQ(formats(), Formats{7});
    EXPECT_EQ(find_format(cache()).error(), Error::not_found);
    options_.access = Access::read_write;
    const auto before = files_of_others();
    for (int round = 0; round < 2; ++round) {
        const auto store = open();
        put(*store, "key", "value");
        EXPECT_EQ(get(*store, "key"), "value");
        // As a process leaves it that is killed before it makes the index.
        fs::remove(path(format_folder(kNewestFormat) + "/" + kIndexFileName));
    }
    EXPECT_EQ(get(*open(), "key"), "value");
    EXPECT_EQ(formats(), (Formats{kNewestFormat, 7}));
    EXPECT_EQ(files_of_others(), before);
}

TEST_F(FormatsTest, WhereNothingIsOneThatMayNotMakeACacheFindsNone) {
    options_.create = Create::no;
    EXPECT_EQ(error_of_opening(), Error::not_found);
    make_folder(".");
    EXPECT_EQ(error_of_opening(), Error::not_found);
    EXPECT_TRUE(formats().empty());
}

TEST_F(FormatsTest, SomethingElseInPlaceOfTheFolderGoes) {
    const std::string folder = path(format_folder(kNewestFormat));
    const std::string outside = scratch_ / "outside";
    fs::create_directory(outside);
    std::ofstream(outside + "/cache.idx") << "somebody else's";
    const std::function<void()> kinds[] = {
        [&] { std::ofstream(folder) << "a file"; },
        [&] { fs::create_symlink("nowhere", folder); },
        [&] { fs::create_directory_symlink(outside, folder); },
        [&] { EXPECT_EQ(::mkfifo(folder.c_str(), 0600), 0); },
    };
    for (const auto &make : kinds) {
        fs::remove_all(path());
        make_folder(".");
        make();
        const auto store = open();
        ASSERT_NE(store, nullptr);
        put(*store, "key", "value");
        EXPECT_TRUE(fs::is_directory(fs::symlink_status(folder)));
        EXPECT_EQ(formats(), Formats{kNewestFormat});
    }
    EXPECT_EQ(fs::file_size(outside + "/cache.idx"), 15u);
}

TEST_F(FormatsTest, AFolderThatOthersMayWriteIsRefusedAndNamed) {
    put(*open(), "key", "value");
    const std::string folder = path(format_folder(kNewestFormat));
    ASSERT_EQ(::chmod(folder.c_str(), 0777), 0);
    lines_.clear();
    EXPECT_EQ(error_of_opening(), Error::denied);
    ASSERT_EQ(lines_.size(), 1u);
    EXPECT_NE(lines_[0].find("chmod go-w"), std::string::npos) << lines_[0];
    EXPECT_NE(lines_[0].find("cache/format-2"), std::string::npos) << lines_[0];
    ASSERT_EQ(::chmod(folder.c_str(), 0700), 0);
    EXPECT_EQ(get(*open(), "key"), "value");
}

TEST_F(FormatsTest, AFolderThatIsRemovedByHandIsMadeAnew) {
    const auto store = open();
    put(*store, "key", "value");
    fs::remove_all(path(format_folder(kNewestFormat)));
    put(*store, "another", "value");
    EXPECT_EQ(get(*store, "key"), "(none)");
    EXPECT_EQ(get(*open(), "another"), "value");
}

// Who had a cache open in an older format meets another process that made the newest meanwhile.
TEST_F(FormatsTest, WhoHadAnOlderOneOpenGoesOnInTheNewestWhenItIsGone) {
    make_oldest();
    const auto older = open();
    put(*older, "key", "value");
    for (const auto &file : cairn_test::files_in(path())) fs::remove(file);
    const auto newest = open();
    ASSERT_EQ(newest->format(), kNewestFormat);
    put(*newest, "another", "value");
    put(*older, "third", "value");
    EXPECT_EQ(older->format(), kNewestFormat);
    EXPECT_EQ(get(*older, "another"), "value");
    EXPECT_EQ(get(*newest, "third"), "value");
    EXPECT_EQ(formats(), Formats{kNewestFormat});
}

// The files go while two processes choose: one that had the older format open, and one that finds nothing.
TEST_F(FormatsTest, WhoJoinsAnOlderOneLooksForTheNewestAgain) {
    make_oldest();
    EXPECT_FALSE(is_format_superseded(cache(), kOldestFormat));
    make_folder(format_folder(kNewestFormat));
    EXPECT_TRUE(is_format_superseded(cache(), kOldestFormat));
    const auto newest = find_format(cache());
    EXPECT_FALSE(is_format_superseded(newest.value().directory, kNewestFormat));
}

TEST_F(FormatsTest, TwoWhoGoOnAfterAllFilesAreGoneMeet) {
    make_oldest();
    for (int round = 0; round < 300; ++round) {
        if (round % 2 == 0) {
            fs::remove_all(path());
            make_oldest();
        }
        const auto older = open();
        for (const auto &file : cairn_test::files_in(path())) fs::remove(file);
        std::unique_ptr<Store> other;
        std::thread opener([&] { other = open(); });
        put(*older, "of the older", "value");
        opener.join();
        ASSERT_NE(other, nullptr);
        put(*other, "of the other", "value");
        put(*older, "third", "value");
        EXPECT_EQ(get(*older, "of the other"), "value") << round;
        EXPECT_EQ(get(*other, "third"), "value") << round;
        EXPECT_EQ(get(*open(), "third"), "value") << round;
        if (HasFailure()) return;
    }
}

TEST_F(FormatsTest, NoneIsLockedThatIsOpen) {
    make_oldest();
    auto oldest = open();
    put(*oldest, "key", "value");
    EXPECT_EQ(lock_formats(cache()).error(), Error::busy);
    oldest.reset();
    {
        const auto locked = lock_formats(cache());
        ASSERT_TRUE(locked.ok());
        EXPECT_EQ(locked.value().size(), 1u);
        EXPECT_EQ(error_of_opening(), Error::busy);
    }
    make_folder(format_folder(kNewestFormat));
    const auto newest = open();
    ASSERT_EQ(newest->format(), kNewestFormat);
    EXPECT_EQ(lock_formats(cache()).error(), Error::busy);
}

TEST_F(FormatsTest, AnIndexOfAnotherFormatInPlaceOfItsOwnIsMadeAnew) {
    put(*open(), "key", "value");
    const std::string own = path(format_folder(kNewestFormat) + "/" + kIndexFileName);
    const auto files = find_format(cache());
    auto identity = identity_for_new_index(files.value().directory, kNewestFormat, 1, "cache");
    identity.format = kOldestFormat;
    fs::remove(own);
    ASSERT_TRUE(create_index_file(files.value().directory, identity, Replace::no).ok());
    const auto store = open();
    EXPECT_EQ(get(*store, "key"), "value");
    const auto index = files.value().directory.open_file(kIndexFileName, Access::read_only);
    EXPECT_EQ(read_index_identity(index.value(), "cache")->format, kNewestFormat);
}

TEST_F(FormatsTest, AFolderWithoutFilesIsUsedAsItIs) {
    make_folder(format_folder(kNewestFormat));
    const auto store = open();
    put(*store, "key", "value");
    EXPECT_EQ(get(*open(), "key"), "value");
}

}  // namespace
}  // namespace cairn
