// SPDX-License-Identifier: MIT
// FindValue and StoreValue.
#include <algorithm>
#include <array>

#include "d3d12/peer.h"
#include "d3d12/space_lock.h"
#include "row.h"
#include "setting.h"

namespace conformance {
namespace {

using Bytes = std::vector<unsigned char>;

constexpr auto kModes = {memory_desc, disk_desc};

// A hash that is the key's length: keys of one length collide.
cairn::d3d12::KeyHash weak_hash(cairn::Bytes key) {
    return {static_cast<uint8_t>(key.size()), static_cast<uint8_t>(key.size() >> 8)};
}

class WeakHash {
  public:
    WeakHash() { cairn::d3d12::set_hash_for_tests(weak_hash); }
    ~WeakHash() { cairn::d3d12::set_hash_for_tests(nullptr); }
};

void find_size_null(Verdict &verdict, Stage &stage) {
    for (const auto make : kModes) {
        const Session session = open(verdict, stage, make(1));
        char value[16];
        verdict.expect_result(session->FindValue("key", 3, value, nullptr), kInvalidArgument,
                              "no such key");
        store(session, "key", std::string("value"));
        verdict.expect_result(session->FindValue("key", 3, value, nullptr), kInvalidArgument,
                              "the key is there");
        verdict.expect_result(session->FindValue("key", 3, nullptr, nullptr), kInvalidArgument,
                              "both null");
    }
}

void find_key_null(Verdict &verdict, Stage &stage) {
    const Session session = open(verdict, stage, memory_desc());
    UINT size = 7;
    verdict.expect_result(session->FindValue(nullptr, 3, nullptr, &size), kInvalidArgument,
                          "a null key");
    verdict.expect_result(session->FindValue("key", 0, nullptr, &size), kInvalidArgument,
                          "an empty key");
    verdict.expect(size == 7, "the size was written to");
}

void find_missing(Verdict &verdict, Stage &stage) {
    for (const auto make : kModes) {
        const Session session = open(verdict, stage, make(1));
        UINT size = 12345;
        char value[4] = "abc";
        verdict.expect_result(session->FindValue("key", 3, value, &size), kNotFound, "no key");
        verdict.expect(size == 12345, "the size was written to");
        verdict.expect(value == std::string("abc"), "the buffer was written to");
        verdict.expect(stage.said(1293), "no message");
    }
}

void find_size(Verdict &verdict, Stage &stage) {
    for (const auto make : kModes) {
        const Session session = open(verdict, stage, make(1));
        store(session, "key", std::string("value"));
        for (const UINT before : {UINT{0}, UINT{1}, UINT{100}}) {
            UINT size = before;
            verdict.expect_result(session->FindValue("key", 3, nullptr, &size), kOk, "the size");
            verdict.expect(size == 5, "another size");
        }
    }
}

void find_too_small(Verdict &verdict, Stage &stage) {
    for (const auto make : kModes) {
        const Session session = open(verdict, stage, make(1));
        store(session, "key", std::string("value"));
        for (const UINT before : {UINT{0}, UINT{4}}) {
            UINT size = before;
            char value[8] = "abcdefg";
            verdict.expect_result(session->FindValue("key", 3, value, &size), kMoreData, "small");
            verdict.expect(size == 5, "another size");
            verdict.expect(value == std::string("abcdefg"), "the buffer was written to");
        }
    }
}

void find_large_enough(Verdict &verdict, Stage &stage) {
    for (const auto make : kModes) {
        const Session session = open(verdict, stage, make(1));
        store(session, "key", std::string("value"));
        for (const UINT before : {UINT{5}, UINT{10}}) {
            UINT size = before;
            char value[11] = "abcdefghij";
            verdict.expect_result(session->FindValue("key", 3, value, &size), kOk, "find");
            verdict.expect(size == 5, "another size");
            verdict.expect(value == std::string("valuefghij"), "other bytes");
        }
    }
}

void collision(Verdict &verdict, Stage &stage) {
    for (const auto make : kModes) {
        const WeakHash weak;
        const Session session = open(verdict, stage, make(1));
        verdict.expect_result(store(session, "one", std::string("1")), kOk, "the first");
        stage.messages();
        verdict.expect_result(look(session, "two"), kHashCollision, "find");
        verdict.expect(stage.said(1291), "no message from find");
        verdict.expect_result(store(session, "two", std::string("2")), kHashCollision, "store");
        verdict.expect(stage.said(1291), "no message from store");
        verdict.expect(find(session, "one") == "1", "the first has another value");
        verdict.expect_result(store(session, "one", std::string("1")), kAlreadyExists, "again");
        verdict.expect_result(look(session, "four"), kNotFound, "another hash");
    }
}

void collision_on_disk(Verdict &verdict, Stage &stage) {
    const WeakHash weak;
    { store(open(verdict, stage, disk_desc()), "one", std::string("1")); }
    const Session session = open(verdict, stage, disk_desc());
    verdict.expect_result(store(session, "two", std::string("2")), kHashCollision, "store");
    verdict.expect_result(look(session, "two"), kHashCollision, "find");
    verdict.expect(find(session, "one") == "1", "the first has another value");
}

void store_null(Verdict &verdict, Stage &stage) {
    for (const auto make : kModes) {
        const Session session = open(verdict, stage, make(1));
        verdict.expect_result(session->StoreValue(nullptr, 3, "v", 1), kInvalidArgument, "key");
        verdict.expect_result(session->StoreValue("k", 0, "v", 1), kInvalidArgument, "key size");
        verdict.expect_result(session->StoreValue("k", 1, nullptr, 1), kInvalidArgument, "value");
        verdict.expect_result(session->StoreValue("k", 1, "v", 0), kInvalidArgument, "value size");
        verdict.expect_result(look(session, "k"), kNotFound, "the key");
    }
}

void store_present(Verdict &verdict, Stage &stage) {
    for (const auto make : kModes) {
        const Session session = open(verdict, stage, make(1));
        verdict.expect_result(store(session, "key", std::string("value")), kOk, "the first");
        stage.messages();
        verdict.expect_result(store(session, "key", std::string("value")), kAlreadyExists, "same");
        verdict.expect(stage.said(1290), "no message");
        verdict.expect_result(store(session, "key", std::string("other")), kAlreadyExists, "other");
        verdict.expect(find(session, "key") == "value", "the value changed");
    }
}

// 32 KiB of memory hold these three of 10,000 bytes and not four.
Desc small_memory() {
    Desc desc = memory_desc();
    desc.MaximumInMemoryCacheSizeBytes = 32 * 1024;
    return desc;
}

void memory_over_quota(Verdict &verdict, Stage &stage) {
    const Session session = open(verdict, stage, small_memory());
    for (unsigned i = 0; i < 4; ++i) {
        verdict.expect_result(store(session, std::to_string(i), bytes_of(i, 10'000)), kOk, "store");
    }
    verdict.expect_result(look(session, "0"), kNotFound, "the oldest");
    for (const char *key : {"1", "2", "3"}) {
        verdict.expect_result(look(session, key), kOk, key);
    }
}

void memory_found_is_newer(Verdict &verdict, Stage &stage) {
    const Session session = open(verdict, stage, small_memory());
    for (unsigned i = 0; i < 3; ++i) {
        store(session, std::to_string(i), bytes_of(i, 10'000));
    }
    verdict.expect_result(look(session, "0"), kOk, "the oldest");
    store(session, "3", bytes_of(3, 10'000));
    verdict.expect_result(look(session, "0"), kOk, "what was found");
    verdict.expect_result(look(session, "1"), kNotFound, "what was not");
}

void memory_counts_keys(Verdict &verdict, Stage &stage) {
    const Session session = open(verdict, stage, small_memory());
    const std::string one(20'000, 'a');
    const std::string other(20'000, 'b');
    verdict.expect_result(store(session, one, std::string("1")), kOk, "a store");
    verdict.expect_result(store(session, other, std::string("2")), kOk, "a store");
    verdict.expect_result(look(session, one), kNotFound, "the first");
    verdict.expect_result(look(session, other), kOk, "the second");
}

void memory_larger_than_quota(Verdict &verdict, Stage &stage) {
    const Session session = open(verdict, stage, small_memory());
    verdict.expect_result(store(session, "large", bytes_of(1, 40 * 1024)), kOk, "40 KiB in 32");
    verdict.expect_result(look(session, "large"), kOk, "it");
    verdict.expect_result(store(session, "small", std::string("value")), kOk, "the next");
    verdict.expect_result(look(session, "large"), kNotFound, "it, after the next");
    verdict.expect_result(look(session, "small"), kOk, "the next");
}

void memory_entries(Verdict &verdict, Stage &stage) {
    const Session session = open(verdict, stage, memory_desc());
    for (unsigned i = 0; i < 129; ++i) {
        store(session, "key " + std::to_string(i), std::string("v"));
    }
    verdict.expect_result(look(session, "key 0"), kNotFound, "the first of 129");
    verdict.expect_result(look(session, "key 1"), kOk, "the second");
}

void store_present_read_only(Verdict &verdict, Stage &stage) {
    const WeakHash weak;
    { store(open(verdict, stage, disk_desc()), "key", std::string("value")); }
    const auto result_of = [&](const std::string &key) {
        return where_reading_only(stage.root(), stage.caches().at(0), [&] {
            Session session;
            const HRESULT created = stage.create_without_device(disk_desc(), session);
            return created == kOk ? store(session, key, std::string("other")) : created;
        });
    };
    verdict.expect_result(result_of("another"), kAccessDenied, "a new key");
    verdict.expect_result(result_of("key"), kAlreadyExists, "the same key");
    verdict.expect_result(result_of("yek"), kHashCollision, "another key of the same hash");
}

void refused_not_charged(Verdict &verdict, Stage &stage) {
    const Session session = open(verdict, stage, small_memory());
    store(session, "key", bytes_of(1, 10'000));
    for (unsigned i = 0; i < 10; ++i) {
        verdict.expect_result(store(session, "key", bytes_of(i, 10'000)), kAlreadyExists, "again");
    }
    store(session, "other", bytes_of(2, 10'000));
    verdict.expect_result(look(session, "key"), kOk, "the first");
}

void disk_value_too_large(Verdict &verdict, Stage &stage) {
    for (const UINT limit : {UINT{4096}, UINT{2 * 1024 * 1024}}) {
        Desc desc = disk_desc(limit);
        desc.MaximumValueFileSizeBytes = limit;
        const Session session = open(verdict, stage, desc);
        stage.messages();
        verdict.expect_result(store(session, "key", bytes_of(1, limit)), kCacheFull, "too large");
        verdict.expect(stage.said(1292), "no message");
        verdict.expect_result(look(session, "key"), kNotFound, "the key");
        verdict.expect_result(store(session, "key", bytes_of(1, limit / 2)), kOk, "half of it");
    }
}

void disk_busy(Verdict &verdict, Stage &stage) {
    Desc desc = disk_desc();
    desc.MaximumValueFileSizeBytes = 1024 * 1024;
    const Session session = open(verdict, stage, desc);
    verdict.expect_result(store(session, "large", bytes_of(1, 500'000)), kOk, "store");
    const d3d12_test::SpaceLock lock(stage.caches().at(0));
    stage.forget_log();
    HRESULT result = kOk;
    for (unsigned i = 0; result == kOk && i < 100; ++i) {
        result = store(session, std::to_string(i), bytes_of(i, 40'000));
    }
    verdict.expect_result(result, kFail, "no space can be taken");
    verdict.expect(!stage.log_lines().empty(), "no line says why");
}

void disk_full(Verdict &verdict, Stage &stage) {
    for (const UINT limit : {UINT{100'000}, UINT{4 * 1024 * 1024}}) {
        Desc desc = disk_desc(limit);
        desc.MaximumValueFileSizeBytes = limit;
        const Session session = open(verdict, stage, desc);
        unsigned stored = 0;
        HRESULT result = kOk;
        while (stored < 1000 && result == kOk) {
            result = store(session, std::to_string(stored), bytes_of(stored, 10'000));
            stored += result == kOk ? 1 : 0;
        }
        verdict.expect_result(result, kCacheFull, "more than the limit");
        verdict.expect(stored * 10'000 <= limit, "more is kept than the limit");
        verdict.expect(stored * 10'000 >= limit / 2, "less than half of the limit is kept");
        for (unsigned i = 0; i < stored; ++i) {
            const Bytes value = bytes_of(i, 10'000);
            verdict.expect(
                find(session, std::to_string(i)) == std::string(value.begin(), value.end()),
                "an entry is gone");
        }
        verdict.expect_result(store(session, "0", std::string("v")), kAlreadyExists, "a duplicate");
    }
}

void keys_of_any_length(Verdict &verdict, Stage &stage) {
    for (const auto make : kModes) {
        const Session session = open(verdict, stage, make(1));
        for (const size_t size : {size_t{1}, size_t{20 * 1024}, size_t{65'537}, size_t{300'000}}) {
            std::string key(size, 'k');
            verdict.expect_result(store(session, key, std::string("value")), kOk, "a store");
            verdict.expect(find(session, key) == "value", "it is not found");
            key.back() = 'x';
            verdict.expect_result(look(session, key), kNotFound, "another last byte");
        }
    }
}

void keys_of_any_bytes(Verdict &verdict, Stage &stage) {
    for (const auto make : kModes) {
        const Session session = open(verdict, stage, make(1));
        const std::array<std::string, 5> keys = {std::string(1, '\0'), std::string(2, '\0'),
                                                 std::string("\0a", 2), std::string("\0b", 2),
                                                 std::string("\xff\xfe", 2)};
        for (const std::string &key : keys) {
            verdict.expect_result(store(session, key, "of " + key), kOk, "a store");
        }
        for (const std::string &key : keys) {
            verdict.expect(find(session, key) == "of " + key, "another value");
        }
    }
}

void large_value(Verdict &verdict, Stage &stage) {
    for (const auto make : kModes) {
        const Session session = open(verdict, stage, make(1));
        const Bytes value = bytes_of(3, 16 * 1024 * 1024);
        verdict.expect_result(store(session, "key", value), kOk, "16 MiB");
        verdict.expect(find(session, "key") == std::string(value.begin(), value.end()), "other");
    }
}

constexpr Native kSame = Native::same;
constexpr Needs kNothing = Needs::nothing;
constexpr std::array kRows = {
    Row{"find.size-null", kNothing, kSame, find_size_null},
    Row{"find.key-null", kNothing, kSame, find_key_null},
    Row{"find.missing", kNothing, kSame, find_missing},
    Row{"find.size", kNothing, kSame, find_size},
    Row{"find.too-small", kNothing, kSame, find_too_small},
    Row{"find.large-enough", kNothing, kSame, find_large_enough},
    Row{"collision.same-session", kNothing, kSame, collision},
    Row{"collision.on-disk", kNothing, kSame, collision_on_disk},
    Row{"store.null", kNothing, kSame, store_null},
    Row{"store.present", kNothing, kSame, store_present},
    Row{"store.present-read-only", kNothing, kSame, store_present_read_only},
    Row{"store.refused-not-charged", kNothing, Native::differs, refused_not_charged},
    Row{"memory.over-quota", kNothing, kSame, memory_over_quota},
    Row{"memory.found-is-newer", kNothing, kSame, memory_found_is_newer},
    Row{"memory.counts-keys", kNothing, kSame, memory_counts_keys},
    Row{"memory.larger-than-quota", kNothing, kSame, memory_larger_than_quota},
    Row{"memory.entries", kNothing, kSame, memory_entries},
    Row{"disk.value-too-large", kNothing, kSame, disk_value_too_large},
    Row{"disk.busy", kNothing, kSame, disk_busy},
    Row{"disk.full", kNothing, kSame, disk_full},
    Row{"keys.any-length", kNothing, kSame, keys_of_any_length},
    Row{"keys.any-bytes", kNothing, kSame, keys_of_any_bytes},
    Row{"values.large", kNothing, kSame, large_value},
};

}  // namespace

std::span<const Row> value_rows() {
    return kRows;
}

}  // namespace conformance
