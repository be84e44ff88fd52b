// SPDX-License-Identifier: MIT
#include "store/store.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "os/environment.h"
#include "os/system_calls.h"
#include "os/testing/failing_calls.h"
#include "os/testing/scratch.h"
#include "os/text_file.h"
#include "store/index_file.h"
#include "store/index_format.h"
#include "store/segment_format.h"
#include "store/space.h"

namespace cairn {
namespace {

class StoreTest : public ::testing::Test {
  protected:
    StoreTest() {
        options_.root = scratch_ / "root";
        options_.identifier = "cache";
        options_.version = 1;
        options_.limit_bytes = 64 << 20;
        open();
    }
    void open() {
        store_.reset();
        auto opened = Store::open(options_);
        ASSERT_TRUE(opened.ok()) << error_name(opened.error());
        store_ = std::move(opened.value());
    }
    void open_if_there(Error error) {
        auto opened = Store::open(options_);
        if (opened.ok()) {
            EXPECT_TRUE(opened.value()->stats().version == 7) << "the version it has";
        } else {
            EXPECT_EQ(opened.error(), error);
        }
    }
    PutOutcome put(const std::string &key, const std::string &value,
                   const PutOptions &options = {}) {
        const auto outcome = store_->put(as_bytes(key), as_bytes(value), options);
        EXPECT_TRUE(outcome.ok());
        return outcome.ok() ? outcome.value() : PutOutcome::exists;
    }
    std::optional<std::string> get(const std::string &key) {
        const auto blob = store_->get(as_bytes(key));
        if (!blob) return std::nullopt;
        const Bytes value = blob->value();
        return std::string(reinterpret_cast<const char *>(value.data()), value.size());
    }
    void wait_until_searched() {
        std::array<std::byte, 8> word = {};
        do {
            (void)get("what nobody stored");
            const auto index = directory().open_file(kIndexFileName, Access::read_only);
            ASSERT_TRUE(index.ok() && index->read_at(counter_offset(Counter::rebuild), word).ok());
        } while (get_le<std::uint64_t>(word, 0) != nothing_due(kNewestFormat));
    }
    Directory directory() {
        return std::move(
            Directory::open(options_.root + "/cache/" + format_folder(kNewestFormat)).value());
    }

    testing::Scratch scratch_{testing::Scratch::Place::memory};
    StoreOptions options_;
    std::unique_ptr<Store> store_;
};

TEST_F(StoreTest, FindsWhatWasStoredNowAndAfterOpeningAgain) {
    EXPECT_EQ(put("key", "value"), PutOutcome::stored);
    EXPECT_EQ(get("key"), "value");
    EXPECT_EQ(get("another"), std::nullopt);
    open();
    EXPECT_EQ(get("key"), "value");
    EXPECT_TRUE(store_->contains(as_bytes("key")));
    EXPECT_FALSE(store_->contains(as_bytes("another")));
}

TEST_F(StoreTest, TheTextForPeopleIsWrittenOnce) {
    options_.identifier = "another";
    for (const char *about : {"programs of a test\n", "something else\n"}) {
        options_.about = about;
        open();
        EXPECT_EQ(read_text_file(scratch_ / "root/another/about", 100).value(),
                  "programs of a test\n");
    }
}

TEST_F(StoreTest, AnEmptyValueIsAValue) {
    put("key", "");
    EXPECT_EQ(get("key"), "");
    open();
    EXPECT_EQ(get("key"), "");
}

TEST_F(StoreTest, KeysAndValuesMayHoldAnyBytes) {
    const std::string key("a\0b\xFF", 4);
    put(key, std::string(300, '\0'));
    put("a", "prefix");
    EXPECT_EQ(get(key), std::string(300, '\0'));
    EXPECT_EQ(get("a"), "prefix");
}

TEST_F(StoreTest, ReplacesAndKeepsWhatIsToBeKept) {
    put("key", "one");
    EXPECT_EQ(put("key", "two"), PutOutcome::stored);
    EXPECT_EQ(get("key"), "two");
    PutOptions if_absent;
    if_absent.if_absent = true;
    EXPECT_EQ(put("key", "three", if_absent), PutOutcome::exists);
    EXPECT_EQ(get("key"), "two");
    EXPECT_EQ(put("new", "value", if_absent), PutOutcome::stored);
}

TEST_F(StoreTest, AReplacedValueIsNotServedFromMemory) {
    options_.memory_bytes = 1 << 20;
    open();
    put("key", "one");
    for (int i = 0; i < 5; ++i) EXPECT_EQ(get("key"), "one");
    EXPECT_GT(store_->stats().memory_bytes, 0u);
    put("key", "two");
    for (int i = 0; i < 5; ++i) EXPECT_EQ(get("key"), "two");
    ASSERT_TRUE(store_->remove(as_bytes("key")).value());
    EXPECT_EQ(get("key"), std::nullopt);
}

TEST_F(StoreTest, ReadsIntoABufferThatIsLargeEnough) {
    put("key", "12345");
    std::byte buffer[8] = {};
    EXPECT_EQ(store_->get_into(as_bytes("key"), buffer), 5u);
    EXPECT_EQ(buffer[4], std::byte{'5'});
    EXPECT_EQ(store_->get_into(as_bytes("key"), MutableBytes(buffer).first(4)), 5u)
        << "it says how large it would have to be";
    EXPECT_EQ(store_->get_into(as_bytes("key"), {}), 5u);
    EXPECT_EQ(store_->get_into(as_bytes("none"), buffer), std::nullopt);
}

TEST_F(StoreTest, RemovesAndClears) {
    put("one", "1");
    put("two", "2");
    EXPECT_TRUE(store_->remove(as_bytes("one")).value());
    EXPECT_FALSE(store_->remove(as_bytes("one")).value());
    EXPECT_EQ(get("one"), std::nullopt);
    EXPECT_EQ(get("two"), "2");
    ASSERT_TRUE(store_->clear().ok());
    EXPECT_EQ(get("two"), std::nullopt);
    EXPECT_EQ(store_->stats().entries, 0u);
    put("two", "again");
    open();
    EXPECT_EQ(get("two"), "again");
    EXPECT_EQ(get("one"), std::nullopt);
}

// Otherwise the entry would come back when the index is lost.
TEST_F(StoreTest, ARemovalThatCannotBeNotedIsNoRemoval) {
    store_.reset();
    testing::FailingCalls calls;  // before there are threads
    open();
    unsigned refused = 0;
    bool met = true;
    for (std::uint64_t number = 1; met; ++number) {
        put("key", "value");
        testing::Fault fault;
        fault.error = EMFILE;
        fault.first = number;
        calls.arm(fault);
        const auto removed = store_->remove(as_bytes("key"));
        calls.disarm();
        met = calls.failures() != 0;
        ASSERT_TRUE(directory().remove_file(kIndexFileName).ok());
        open();
        wait_until_searched();
        ASSERT_EQ(get("key").has_value(), !removed.ok()) << "call " << number;
        if (!removed.ok()) ++refused;
    }
    EXPECT_GT(refused, 2u);
    store_.reset();
}

// Also while damage may hide it, and no rebuild can be done.
TEST_F(StoreTest, WhatIsHiddenCanBeRemoved) {
    store_.reset();
    testing::FailingCalls calls;
    open();
    for (int i = 0; i < 100; ++i) put("key " + std::to_string(i), "value");
    ASSERT_TRUE(directory().remove_file(kIndexFileName).ok());
    open();
    testing::Fault fault;
    fault.error = EIO;
    fault.only = testing::Call::pread;
    fault.extent = testing::Fault::Extent::from_then_on;
    calls.arm(fault);
    auto removed = store_->remove(as_bytes("key 7"));
    calls.disarm();
    EXPECT_TRUE(removed.ok() && *removed);
    for (int i = 0; i < 2; ++i) {
        open();
        wait_until_searched();
        EXPECT_FALSE(get("key 7"));
        EXPECT_EQ(get("key 8"), "value");
        ASSERT_TRUE(directory().remove_file(kIndexFileName).ok());
    }
    store_.reset();
}

TEST_F(StoreTest, WhatIsHiddenIsNotSaidToBeRemovedIfThatCannotBeWritten) {
    store_.reset();
    testing::FailingCalls calls;
    open();
    put("key", "value");
    ASSERT_TRUE(directory().remove_file(kIndexFileName).ok());
    open();
    testing::Fault fault;
    fault.error = EIO;
    fault.extent = testing::Fault::Extent::from_then_on;
    calls.arm(fault);
    EXPECT_FALSE(store_->remove(as_bytes("key")).ok());
    calls.disarm();
    open();
    wait_until_searched();
    EXPECT_EQ(get("key"), "value");
    store_.reset();
}

TEST_F(StoreTest, ClearingGivesTheDiskSpaceBack) {
    const std::string value(100'000, 'v');
    for (int i = 0; i < 50; ++i) put(std::to_string(i), value);
    EXPECT_GT(store_->stats().disk_bytes, 5'000'000u);
    ASSERT_TRUE(store_->clear().ok());
    EXPECT_LT(store_->stats().disk_bytes, 500'000u);
}

TEST_F(StoreTest, EnumeratesEachEntryOnceUntilToldToStop) {
    std::map<std::string, std::uint64_t> sizes;
    for (int i = 0; i < 200; ++i) {
        put("key" + std::to_string(i), std::string(static_cast<std::size_t>(i), 'v'));
    }
    unsigned visits = 0;
    store_->enumerate([&](const EntryInfo &entry) {
        ++visits;
        sizes[std::string(reinterpret_cast<const char *>(entry.key.data()), entry.key.size())] =
            entry.value_size;
        return true;
    });
    EXPECT_EQ(visits, 200u);
    for (std::uint64_t i = 0; i < 200; ++i) EXPECT_EQ(sizes.at("key" + std::to_string(i)), i);
    visits = 0;
    store_->enumerate([&](const EntryInfo &) { return ++visits < 10; });
    EXPECT_EQ(visits, 10u);
}

TEST_F(StoreTest, CountsWhatHappens) {
    put("key", "value");
    (void)get("key");
    (void)get("none");
    const StoreStats stats = store_->stats();
    EXPECT_EQ(stats.entries, 1u);
    EXPECT_EQ(stats.puts, 1u);
    EXPECT_EQ(stats.hits, 1u);
    EXPECT_EQ(stats.misses, 1u);
    EXPECT_EQ(stats.bytes_written, 5u);
    EXPECT_EQ(stats.bytes_read, 5u);
    EXPECT_EQ(stats.version, 1u);
    EXPECT_EQ(stats.damaged, 0u);
}

TEST_F(StoreTest, AnotherVersionIsEmptyWhenNobodyElseHasItOpen) {
    put("key", "value");
    options_.version = 2;
    EXPECT_EQ(Store::open(options_).error(), Error::busy) << "we have it open";
    open();
    EXPECT_EQ(get("key"), std::nullopt);
    put("key", "of version 2");
    options_.version = 1;
    open();
    EXPECT_EQ(get("key"), std::nullopt);
}

TEST_F(StoreTest, AnyVersionIsTakenWhenAsked) {
    put("key", "value");
    options_.version = 99;
    options_.any_version = true;
    open();
    EXPECT_EQ(get("key"), "value");
    EXPECT_EQ(store_->stats().version, 1u);
}

TEST_F(StoreTest, WhoTakesAnyVersionMakesACacheOfItsOwn) {
    options_.version = 99;
    options_.any_version = true;
    options_.identifier = "new";
    open();
    EXPECT_EQ(store_->stats().version, 99u);
    put("key", "value");
    options_.version = 7;
    open();
    EXPECT_EQ(store_->stats().version, 99u);
    EXPECT_EQ(get("key"), "value");
}

TEST_F(StoreTest, OpenedForReadingItReadsAndRefusesTheRest) {
    put("key", "value");
    options_.access = Access::read_only;
    open();
    EXPECT_EQ(get("key"), "value");
    EXPECT_EQ(store_->put(as_bytes("key"), as_bytes("x"), {}).error(), Error::read_only);
    EXPECT_EQ(store_->remove(as_bytes("key")).error(), Error::read_only);
    EXPECT_EQ(store_->clear().error(), Error::read_only);
    EXPECT_EQ(store_->sync().error(), Error::read_only);
    options_.identifier = "missing";
    EXPECT_EQ(Store::open(options_).error(), Error::not_found);
}

TEST_F(StoreTest, HandlesOfOneCacheSeeEachOther) {
    auto other = std::move(Store::open(options_).value());
    put("mine", "1");
    ASSERT_TRUE(other->put(as_bytes("theirs"), as_bytes("2"), {}).ok());
    EXPECT_EQ(get("theirs"), "2");
    EXPECT_TRUE(other->contains(as_bytes("mine")));
    ASSERT_TRUE(other->remove(as_bytes("mine")).value());
    EXPECT_EQ(get("mine"), std::nullopt);
}

TEST_F(StoreTest, WhatEntriesAreGivenUpForIsFound) {
    options_.limit_bytes = 2 << 20;
    options_.identifier = "small";
    open();
    const std::string value(10'000, 'v');
    for (int i = 0; i < 1000; ++i) {
        ASSERT_EQ(put("key" + std::to_string(i), value), PutOutcome::stored);
        ASSERT_EQ(get("key" + std::to_string(i)), value) << "the newest is always there";
        ASSERT_LE(i % 50 == 0 ? store_->stats().disk_bytes : 0, 2u << 20);
    }
    EXPECT_LT(store_->stats().entries, 210u);
    EXPECT_GT(store_->stats().entries, 80u);
}

TEST_F(StoreTest, ACacheThatIsToRefuseRefusesAndKeepsWhatItHas) {
    options_.limit_bytes = 2 << 20;
    options_.identifier = "small";
    options_.refuse_when_full = true;
    open();
    const std::string value(10'000, 'v');
    int stored = 0;
    Error refused = Error::none;
    for (; stored < 1000 && refused == Error::none; ++stored) {
        const auto outcome =
            store_->put(as_bytes("key" + std::to_string(stored)), as_bytes(value), {});
        if (!outcome.ok()) refused = outcome.error();
    }
    EXPECT_EQ(refused, Error::full);
    for (int i = 0; i < stored - 1; ++i) EXPECT_EQ(get("key" + std::to_string(i)), value);
}

TEST_F(StoreTest, ABoundOnEntriesHolds) {
    options_.limit_entries = 50;
    options_.identifier = "few";
    open();
    for (int i = 0; i < 300; ++i) {
        put("key" + std::to_string(i), "value");
        EXPECT_TRUE(get("key" + std::to_string(i)));
        ASSERT_LE(store_->stats().entries, 50u);
    }
    EXPECT_GE(store_->stats().entries, 45u);
}

// For longer than a lock is waited for at once, and not as long as a put waits.
TEST_F(StoreTest, APutWaitsWhileAnotherProcessMakesTheIndexLarger) {
    static int refusals;
    refusals = 0;
    SystemCalls calls;
    calls.lock = [](int fd, int command, struct flock *range) {
        constexpr auto kSpace = static_cast<off_t>(kSpaceByte);
        const bool takes_space = range->l_start == kSpace && range->l_type == F_WRLCK;
        if (command != F_OFD_SETLK || !takes_space || refusals == 25) {
            return kKernel.lock(fd, command, range);
        }
        ++refusals;
        errno = EAGAIN;
        return -1;
    };
    system_calls = &calls;
    const auto levels = [&] {
        std::array<std::byte, 8> word = {};
        const auto index = directory().open_file(kIndexFileName, Access::read_only);
        EXPECT_TRUE(index->read_at(counter_offset(Counter::levels), word).ok());
        return get_le<std::uint64_t>(word, 0);
    };
    for (int i = 0; levels() == 1 && !HasFailure(); ++i) put(std::to_string(i), "");
    EXPECT_EQ(levels(), 2u);
    EXPECT_EQ(refusals, 25);
    system_calls = &kKernel;
}

TEST_F(StoreTest, AfterSegmentsWereDeletedByHandWhatIsStoredIsFound) {
    put("old", "value");
    ASSERT_TRUE(directory()
                    .list([&](const char *name) {
                        if (segment_from_file_name(name)) (void)directory().remove_file(name);
                    })
                    .ok());
    for (int i = 0; i < 10; ++i) put("key" + std::to_string(i), "value");
    for (int i = 0; i < 10; ++i) EXPECT_EQ(get("key" + std::to_string(i)), "value");
    open();
    for (int i = 0; i < 10; ++i) EXPECT_EQ(get("key" + std::to_string(i)), "value");
}

TEST_F(StoreTest, AnIndexDeletedByHandIsMadeAgain) {
    for (int i = 0; i < 100; ++i) put("key" + std::to_string(i), "value " + std::to_string(i));
    ASSERT_TRUE(directory().remove_file(kIndexFileName).ok());
    EXPECT_EQ(get("key7"), "value 7") << "the mapping is still there";
    put("new", "value");
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(get("key" + std::to_string(i)), "value " + std::to_string(i));
    }
    EXPECT_EQ(get("new"), "value");
    open();
    EXPECT_EQ(get("key7"), "value 7");
}

// A tool that takes any version must not choose one for a cache that lost its index.
TEST_F(StoreTest, AnyVersionDoesNotHarmACacheWithoutAnIndex) {
    options_.version = 7;
    open();
    put("key", "value");
    store_.reset();
    ASSERT_TRUE(directory().remove_file(kIndexFileName).ok());
    options_.any_version = true;
    options_.create = Create::no;
    options_.version = 0;
    ASSERT_NO_FATAL_FAILURE(open_if_there(Error::not_found));
    options_.any_version = false;
    options_.create = Create::yes;
    options_.version = 7;
    open();
    wait_until_searched();
    EXPECT_EQ(get("key"), "value");
}

TEST_F(StoreTest, ABoundOnEntriesRefusesWhereItIsToRefuse) {
    options_.limit_entries = 5;
    options_.refuse_when_full = true;
    open();
    for (int i = 0; i < 5; ++i) put("key" + std::to_string(i), "value");
    EXPECT_EQ(store_->put(as_bytes("another"), as_bytes("value"), {}).error(), Error::full);
    EXPECT_EQ(put("key3", "new"), PutOutcome::stored) << "which needs no more";
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(get("key" + std::to_string(i))) << i;
}

TEST_F(StoreTest, ABoundOnEntriesSparesThePinned) {
    options_.limit_entries = 20;
    open();
    PutOptions pinned;
    pinned.pinned = true;
    for (int i = 0; i < 5; ++i) put("pinned" + std::to_string(i), "value", pinned);
    for (int i = 0; i < 500; ++i) put("key" + std::to_string(i), "value");
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(get("pinned" + std::to_string(i))) << i;
    EXPECT_TRUE(get("key499"));
    EXPECT_LE(store_->stats().entries, 20u);
}

TEST_F(StoreTest, ACounterOfEntriesThatIsDamagedDropsNone) {
    options_.limit_entries = 1000;
    open();
    for (int i = 0; i < 100; ++i) put("key" + std::to_string(i), "value");
    const File index = std::move(directory().open_file(kIndexFileName, Access::read_write).value());
    std::array<std::byte, 8> word = {};
    put_le(word, 0, std::uint64_t{1} << 40);
    const Bytes pieces[] = {word};
    ASSERT_TRUE(index.write_at(counter_offset(Counter::entries), pieces).ok());
    put("another", "value");
    EXPECT_EQ(store_->stats().entries, 101u);
}

// A cache is deleted by hand and created by another process. A process that only looks up notices.
TEST_F(StoreTest, AReaderFindsAnIndexThatWasMadeAgain) {
    put("key", "old");
    EXPECT_EQ(get("key"), "old");
    ASSERT_TRUE(directory().remove_file(kIndexFileName).ok());
    auto other = Store::open(options_);
    ASSERT_TRUE(other.ok());
    ASSERT_TRUE(other.value()->put(as_bytes("new"), as_bytes("value"), {}).ok());
    std::optional<std::string> found;
    for (int i = 0; i < 100 && !found; ++i) {
        sleep_us(1000);  // it asks once in a few milliseconds
        found = get("new");
    }
    EXPECT_EQ(found, "value");
}

TEST_F(StoreTest, ALookUpThatAsksEachTimeNoticesADeletionAtOnce) {
    options_.notice_deletion = true;
    options_.memory_bytes = 1 << 20;
    open();
    put("key", "old");
    for (int i = 0; i < 3; ++i) EXPECT_EQ(get("key"), "old");
    ASSERT_TRUE(directory()
                    .list([&](const char *name) {
                        if (segment_from_file_name(name)) (void)directory().remove_file(name);
                    })
                    .ok());
    ASSERT_TRUE(directory().remove_file(kIndexFileName).ok());
    EXPECT_EQ(get("key"), std::nullopt) << "it is gone";
    ASSERT_TRUE(directory().remove_file(kIndexFileName).ok());
    auto other = Store::open(options_);
    ASSERT_TRUE(other.ok());
    ASSERT_TRUE(other.value()->put(as_bytes("key"), as_bytes("new"), {}).ok());
    EXPECT_EQ(get("key"), "new");
}

// A used segment number is not used again: a process may still read the deleted file.
TEST_F(StoreTest, ADeletedSegmentIsNotReadAsANewOne) {
    put("key", "old");
    EXPECT_EQ(get("key"), "old");
    auto other = Store::open(options_);
    ASSERT_TRUE(other.ok());
    ASSERT_TRUE(other.value()->put(as_bytes("other"), as_bytes("value"), {}).ok());
    ASSERT_TRUE(directory().remove_file(segment_file_name(0)).ok());
    ASSERT_TRUE(directory().remove_file(kIndexFileName).ok());
    ASSERT_TRUE(other.value()->put(as_bytes("key"), as_bytes("new"), {}).ok());
    put("any", "value");
    EXPECT_EQ(get("key"), "new");
}

TEST_F(StoreTest, AnIndexThatMayNotBeWrittenAnyMoreIsReadOnly) {
    if (effective_user() == 0) GTEST_SKIP() << "permissions do not bind this user";
    put("key", "value");
    const std::string path = options_.root + "/cache/" + kIndexFileName;
    ASSERT_EQ(std::rename(path.c_str(), (path + ".old").c_str()), 0);
    std::filesystem::copy_file(path + ".old", path);
    std::filesystem::remove(path + ".old");
    std::filesystem::permissions(path, std::filesystem::perms::owner_read);
    EXPECT_EQ(store_->put(as_bytes("key"), as_bytes("new"), {}).error(), Error::read_only);
    EXPECT_EQ(get("key"), "value");
}

TEST_F(StoreTest, SyncNeedsNoPathAndWritesNothingWhereNothingMayBeWritten) {
    put("key", "value");
    EXPECT_TRUE(store_->sync().ok());
    options_.access = Access::read_only;
    open();
    EXPECT_EQ(store_->sync().error(), Error::read_only);
}

}  // namespace
}  // namespace cairn
