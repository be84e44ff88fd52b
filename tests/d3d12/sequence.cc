// SPDX-License-Identifier: MIT
#include "d3d12/sequence.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "d3d12/reference.h"
#include "d3d12/stage.h"
#include "model/byte_source.h"
#include "setting.h"

namespace d3d12_test {
namespace {

using cairn_test::ByteSource;

constexpr size_t kSlots = 5;
constexpr std::array<UINT, 5> kMemoryBytes = {0, 1, 120, 500, 0xffffffff};
constexpr std::array<UINT, 4> kMemoryEntries = {0, 1, 3, 1000};
constexpr std::array<UINT, 4> kFileBytes = {0, 300, 2000, 1073741824};
constexpr std::array<UINT, 6> kValueSizes = {1, 10, 30, 100, 400, 3000};

cairn::d3d12::KeyHash weak_hash(cairn::Bytes key) {
    return {static_cast<uint8_t>(key.size()), static_cast<uint8_t>(key.size() >> 8)};
}

class Player {
  public:
    explicit Player(std::span<const std::uint8_t> input)
        : source_(input), is_weak_(source_.below(4) == 3), reference_(is_weak_) {
        cairn::d3d12::set_hash_for_tests(is_weak_ ? weak_hash : nullptr);
    }
    ~Player() { cairn::d3d12::set_hash_for_tests(nullptr); }

    SequenceResult play() {
        while (!source_.empty() && result_.difference.empty()) {
            step();
            ++result_.calls;
        }
        for (Slot &slot : slots_) release(slot);
        return result_;
    }

  private:
    struct Slot {
        Session session;
        Desc desc = {};
    };

    void expect(HRESULT actual, HRESULT expected, const char *call) {
        if (actual == expected || !result_.difference.empty()) return;
        char text[120];
        std::snprintf(text, sizeof text, "call %u, %s: %08x, the reference: %08x", result_.calls,
                      call, static_cast<unsigned>(actual), static_cast<unsigned>(expected));
        result_.difference = text;
    }
    void expect_that(bool holds, const char *what) {
        if (holds || !result_.difference.empty()) return;
        result_.difference = "call " + std::to_string(result_.calls) + ": not so: " + what;
    }

    void step() {
        Slot &slot = slots_[source_.below(kSlots)];
        const size_t choice = source_.below(16);
        if (choice == 15) return control();
        if (choice == 14) return create_wrongly();
        if (!slot.session) return create(slot);
        if (choice < 6) return store(slot);
        if (choice < 11) return find(slot);
        if (choice == 11) return mark(slot);
        if (choice == 12) return look_at(slot);
        release(slot);
    }

    Desc some_desc() {
        Desc desc = memory_desc(1 + static_cast<unsigned>(source_.below(2)));
        desc.Mode = static_cast<D3D12_SHADER_CACHE_MODE>(source_.below(2));
        desc.Flags = static_cast<D3D12_SHADER_CACHE_FLAGS>(source_.below(2));
        desc.Version = source_.below(2);
        desc.MaximumInMemoryCacheSizeBytes = kMemoryBytes[source_.below(kMemoryBytes.size())];
        desc.MaximumInMemoryCacheEntries = kMemoryEntries[source_.below(kMemoryEntries.size())];
        desc.MaximumValueFileSizeBytes = kFileBytes[source_.below(kFileBytes.size())];
        return desc;
    }

    void create(Slot &slot) {
        slot.desc = some_desc();
        expect(stage_.create(slot.desc, slot.session), reference_.create(slot.desc), "create");
        expect_that(slot.session ? true : slot.session.get() == nullptr, "null after an error");
    }

    void create_wrongly() {
        Desc desc = some_desc();
        int place = 0;
        void *session = &place;
        HRESULT expected = kInvalidArgument;
        const Desc *given = &desc;
        const IID *iid = &IID_ID3D12ShaderCacheSession;
        void **receiver = &session;
        const unsigned wrong = source_.byte() | 2u;
        switch (source_.below(7)) {
            case 0:
                given = nullptr;
                break;
            case 1:
                desc.Identifier = {};
                break;
            case 2:
                std::memcpy(&desc.Mode, &wrong, sizeof wrong);
                break;
            case 3: {
                const unsigned flags = wrong << 2 | 4;
                std::memcpy(&desc.Flags, &flags, sizeof flags);
                break;
            }
            case 4:
                desc.MaximumValueFileSizeBytes = 1073741824 + wrong;
                break;
            case 5:
                receiver = nullptr;
                expected = kFalse;
                break;
            default:
                iid = &IID_ID3D12Device;
                expected = kNoInterface;
        }
        expect(stage_.create(given, iid, receiver), expected, "a wrong create");
        expect_that(session == (expected == kNoInterface ? nullptr : &place), "the pointer");
    }

    // Keys of few lengths, so that weak hashes meet; one is long.
    std::string some_key() {
        const std::uint8_t byte = source_.byte();
        std::string key(1 + byte % 3, static_cast<char>('a' + byte / 3 % 5));
        if (byte == 255) key.assign(70'000, 'l');
        return key;
    }

    void store(Slot &slot) {
        const std::string key = some_key();
        const std::string value(kValueSizes[source_.below(kValueSizes.size())],
                                static_cast<char>('A' + source_.below(20)));
        const std::unique_ptr<char[]> key_copy(new char[key.size()]);
        const std::unique_ptr<char[]> value_copy(new char[value.size()]);
        std::memcpy(key_copy.get(), key.data(), key.size());
        std::memcpy(value_copy.get(), value.data(), value.size());
        const size_t shape = source_.below(16);
        const bool is_valid = shape < 12;
        const HRESULT actual = slot.session->StoreValue(
            shape == 12 ? nullptr : key_copy.get(), shape == 13 ? 0 : UINT(key.size()),
            shape == 14 ? nullptr : value_copy.get(), shape == 15 ? 0 : UINT(value.size()));
        expect(actual, is_valid ? reference_.store(slot.desc, key, value) : kInvalidArgument,
               "store");
    }

    void find(Slot &slot) {
        const std::string key = some_key();
        std::string value;
        const size_t shape = source_.below(8);
        const std::unique_ptr<char[]> key_copy(new char[key.size()]);
        std::memcpy(key_copy.get(), key.data(), key.size());
        const UINT room = kValueSizes[source_.below(kValueSizes.size())];
        const std::unique_ptr<char[]> buffer(new char[room]);
        std::memset(buffer.get(), '?', room);
        const bool has_buffer = shape < 5;
        UINT size = room;
        const HRESULT actual = slot.session->FindValue(
            shape == 6 ? nullptr : key_copy.get(), UINT(key.size()),
            has_buffer ? buffer.get() : nullptr, shape == 7 ? nullptr : &size);
        if (shape >= 6) return expect(actual, kInvalidArgument, "a wrong find");
        HRESULT expected = reference_.find(slot.desc, key, value);
        const bool is_found = expected == kOk;
        const bool fits = is_found && has_buffer && value.size() <= room;
        if (is_found && has_buffer && !fits) expected = kMoreData;
        expect(actual, expected, "find");
        expect_that(size == (is_found ? value.size() : room), "the size");
        const size_t written = fits ? value.size() : 0;
        expect_that(std::string_view(buffer.get(), written) == value.substr(0, written),
                    "the value");
        expect_that(
            std::string_view(buffer.get() + written, room - written).find_first_not_of('?') ==
                std::string_view::npos,
            "nothing beyond it");
    }

    void mark(Slot &slot) {
        slot.session->SetDeleteOnDestroy();
        reference_.delete_on_destroy(slot.desc);
    }

    void look_at(Slot &slot) {
        const Desc desc = desc_of(slot.session.get());
        const Desc expected = Reference::with_defaults(slot.desc);
        expect_that(
            desc.Identifier == expected.Identifier && desc.Mode == expected.Mode &&
                desc.Flags == expected.Flags && desc.Version == expected.Version &&
                desc.MaximumInMemoryCacheSizeBytes == expected.MaximumInMemoryCacheSizeBytes &&
                desc.MaximumInMemoryCacheEntries == expected.MaximumInMemoryCacheEntries &&
                desc.MaximumValueFileSizeBytes == expected.MaximumValueFileSizeBytes,
            "the description");
    }

    void release(Slot &slot) {
        if (!slot.session) return;
        slot.session.reset();
        reference_.release(slot.desc);
    }

    void control() {
        // Never the drivers' own caches: they are not this test's.
        const auto kinds = static_cast<unsigned>(source_.below(32)) & ~4u;
        const auto flags = static_cast<unsigned>(source_.below(9));
        expect(stage_.control(kinds, flags), reference_.control(kinds, flags), "control");
    }

    const DeveloperMode on_;
    Stage stage_;
    ByteSource source_;
    const bool is_weak_;
    Reference reference_;
    std::array<Slot, kSlots> slots_;
    SequenceResult result_;
};

}  // namespace

SequenceResult play_sequence(std::span<const std::uint8_t> input) {
    return Player(input).play();
}

}  // namespace d3d12_test
