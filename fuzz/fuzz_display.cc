// A display's program cache under calls with hostile sizes and pointers, beside a model of it.
// Every buffer is exactly as large as the call is told, so that a byte too many is noticed.
// SPDX-License-Identifier: MIT
#include <cairn/eglext_cairn.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <list>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "display_cache.h"
#include "gl/entry.h"
#include "model/byte_source.h"

namespace {

using cairn::egl::DisplayCache;
using cairn::gl::ProgramKey;
using cairn_test::ByteSource;
using Bytes = std::vector<uint8_t>;

constexpr EGLint kSizes[] = {8,   0,    1,         -1,        INT32_MIN, 7,         20,
                             100, 4000, INT32_MAX, 0x4000001, 19,        INT32_MIN, 21};

void require(bool holds) {
    if (!holds) std::abort();
}

// A buffer of the size that a call is told; where that is larger than any entry, of the largest
// entry's.
std::unique_ptr<uint8_t[]> buffer_of(EGLint size) {
    return std::make_unique<uint8_t[]>(static_cast<size_t>(std::clamp(size, 0, 4000)));
}

struct Model {
    struct Entry {
        uint8_t key;
        EGLint size;
    };
    std::list<Entry> entries;
    int64_t limit = 0;

    int64_t bytes() const {
        return std::accumulate(entries.begin(), entries.end(), int64_t{0},
                               [](int64_t sum, const Entry &entry) { return sum + entry.size; });
    }
    int64_t trim(int64_t to) {
        const int64_t before = bytes();
        while (bytes() > to) entries.pop_back();
        if (to == 0) entries.clear();  // also what counts nothing
        return before - bytes();
    }
    void put(uint8_t key, EGLint size) {
        if (limit == 0 || size > limit) return;
        entries.remove_if([key](const Entry &entry) { return entry.key == key; });
        while (bytes() > limit - size) entries.pop_back();
        entries.push_front({key, size});
    }
};

class Player {
  public:
    explicit Player(std::span<const uint8_t> bytes) : source_(bytes) {
        EGLint held = 0;
        resize(5000, EGL_PROGRAM_CACHE_RESIZE_ANGLE, held);
        model_.entries.clear();
    }

    void play() {
        while (!source_.empty()) {
            step();
            EGLint count = -1;
            require(cache_.attribute(EGL_PROGRAM_CACHE_SIZE_ANGLE, count) == EGL_SUCCESS);
            require(count == static_cast<EGLint>(model_.entries.size()));
            require(model_.bytes() <= model_.limit);
        }
    }

  private:
    EGLint size() { return kSizes[source_.below(std::size(kSizes))]; }

    void step() {
        const bool draft = source_.below(2) == 1;
        switch (source_.below(5)) {
            case 0:
            case 1:
                return populate(draft);
            case 2:
                return query(draft);
            case 3: {
                EGLint bytes = 0;
                const EGLint mode = 0x3456 + static_cast<EGLint>(source_.below(4));
                return resize(size(), mode, bytes);
            }
            default:
                return attribute();
        }
    }

    void populate(bool draft) {
        ProgramKey key = {};
        key[0] = source_.byte();
        const EGLint key_size = source_.below(4) == 0 ? size() : 20;
        const EGLint bytes = size();
        const auto binary = buffer_of(bytes);
        std::fill_n(binary.get(), std::clamp(bytes, 0, 4000), key[0]);
        const void *key_given = source_.below(8) == 7 ? nullptr : key.data();
        const void *binary_given = source_.below(8) == 7 ? nullptr : binary.get();
        const EGLint error = draft ? cache_.draft_populate(key_given, key_size, binary_given, bytes)
                                   : cache_.populate(key_given, key_size, binary_given, bytes);
        const bool is_valid = key_given != nullptr && binary_given != nullptr && key_size == 20 &&
                              bytes >= (draft ? 0 : 1) && bytes <= EGLint{DisplayCache::kBinaryMax};
        require(error == (is_valid ? EGL_SUCCESS : EGL_BAD_PARAMETER));
        if (is_valid) model_.put(key[0], bytes);
    }

    void query(bool draft) {
        const EGLint index = source_.below(6) == 5 ? size() : static_cast<EGLint>(source_.below(8));
        EGLint key_size = source_.below(3) == 0 ? size() : 20;
        EGLint bytes = size();
        // What ANGLE's form is told of the key's size must be 20, whatever the buffer is.
        const auto key = buffer_of(key_size);
        const auto binary = buffer_of(bytes);
        const size_t shape = source_.below(8);
        void *key_given = shape == 1 || shape == 2 ? nullptr : key.get();
        void *binary_given = shape == 1 || shape == 3 ? nullptr : binary.get();
        EGLint *key_size_given = shape == 4 ? nullptr : &key_size;
        EGLint *bytes_given = shape == 5 ? nullptr : &bytes;
        const EGLint room = bytes;
        const EGLint key_room = key_size;
        const EGLint error =
            draft ? cache_.draft_query(index, key_given, key_size_given, binary_given, bytes_given)
                  : cache_.query(index, key_given, key_size_given, binary_given, bytes_given);
        const bool is_there = index >= 0 && index < static_cast<EGLint>(model_.entries.size());
        const bool is_whole = shape < 2 || shape > 5;
        const bool is_accepted =
            is_there && is_whole && (draft || binary_given == nullptr || key_room == 20);
        if (!is_accepted) return require(error == EGL_BAD_PARAMETER);
        const auto &entry = *std::next(model_.entries.begin(), index);
        const bool fits =
            binary_given == nullptr || (room >= entry.size && (!draft || key_room >= 20));
        require(error == (fits ? EGL_SUCCESS : EGL_BAD_ACCESS));
        if (!fits) return require(bytes == room && key_size == key_room);
        require(bytes == entry.size && key_size == 20);
        require(binary_given == nullptr || key[0] == entry.key);
        require(binary_given == nullptr ||
                std::all_of(binary.get(), binary.get() + bytes,
                            [&entry](uint8_t byte) { return byte == entry.key; }));
    }

    void resize(EGLint limit, EGLint mode, EGLint &bytes) {
        const EGLint error = cache_.resize(limit, mode, bytes);
        const bool is_trim = mode == EGL_PROGRAM_CACHE_TRIM_ANGLE;
        if (limit < 0 || (!is_trim && mode != EGL_PROGRAM_CACHE_RESIZE_ANGLE)) {
            return require(error == EGL_BAD_PARAMETER && bytes == 0);
        }
        require(error == EGL_SUCCESS);
        if (is_trim) return require(bytes == model_.trim(limit));
        require(started_ ? bytes == model_.bytes() : true);
        model_.entries.clear();
        model_.limit = limit;
        started_ = true;
    }

    void attribute() {
        EGLint value = -7;
        const auto name = static_cast<EGLenum>(0x3454 + source_.below(4));
        const bool is_known =
            name == EGL_PROGRAM_CACHE_SIZE_ANGLE || name == EGL_PROGRAM_CACHE_KEY_LENGTH_ANGLE;
        require(cache_.attribute(name, value) == (is_known ? EGL_SUCCESS : EGL_BAD_PARAMETER));
        require((value == -7) == !is_known);
        require(cache_.draft_attribute(name, nullptr) ==
                (is_known ? EGL_BAD_PARAMETER : EGL_BAD_ATTRIBUTE));
    }

    ByteSource source_;
    Model model_;
    bool started_ = false;
    // Displays' caches live for ever: every input has the same one, emptied.
    DisplayCache &cache_ = cairn::egl::display_cache(nullptr);
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    // Does what a link does with a populated binary, but without the seal, which would let no
    // input pass.
    const std::span input(data, size);
    if (const auto entry = cairn::gl::decode_program(std::as_bytes(input))) {
        require(!entry->binary.empty() && entry->report.log_length >= 0);
        require(entry->report.log.size() + entry->binary.size() < size);
    }
    Player(input.first(std::min<size_t>(size, 4096))).play();
    return 0;
}
