// SPDX-License-Identifier: MIT
#include "sequence.h"

#include <cstdarg>
#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "subject.h"
#include "support/random.h"

namespace conformance {
namespace {

constexpr EGLint kHuge = 1 << 28;

// FNV-1a.
uint32_t hash_of(const Bytes &bytes) {
    uint32_t hash = 0x811c9dc5;
    for (const uint8_t byte : bytes) {
        hash = (hash ^ byte) * 0x01000193;
    }
    return hash;
}

class Player {
  public:
    explicit Player(uint64_t seed) : random_(seed), has_links_(seed % 2 == 1) {
        display_ = fresh_display(has_links_ ? kHuge : 1000);
    }

    void step() {
        switch (random_.below(has_links_ ? 8 : 6)) {
            case 0:
            case 1:
                return play_populate();
            case 2:
                return play_query();
            case 3:
                return play_resize();
            case 4:
                return play_attribute();
            case 5:
                return random_.one_in(8) ? play_restart() : play_populate();
            default:
                return play_link();
        }
    }

  private:
    // A size that is often at an edge.
    EGLint size() {
        constexpr EGLint kEdges[] = {0, 1, -1, 99, 100, 101, 999, 1000, 1001, INT32_MIN};
        return random_.one_in(4) ? kEdges[random_.below(std::size(kEdges))]
                                 : static_cast<EGLint>(random_.below(400));
    }
    EGLint key_size() {
        constexpr EGLint kEdges[] = {0, 19, 21, -1, INT32_MAX};
        return random_.one_in(12) ? kEdges[random_.below(std::size(kEdges))] : 20;
    }

    void play_populate() {
        const auto number = static_cast<uint8_t>(1 + random_.below(9));
        const Key key = key_of(number);
        // Each time other bytes, so that an entry which should have been replaced shows.
        Bytes binary(1024);
        for (auto &byte : binary) {
            byte = static_cast<uint8_t>(random_.below(256));
        }
        const EGLint bytes = size();
        const EGLint key_bytes = key_size();
        const bool no_key = random_.one_in(30);
        const bool no_binary = random_.one_in(30);
        egl.Populate(display_, no_key ? nullptr : key.data(), key_bytes,
                     no_binary ? nullptr : binary.data(), bytes);
        tell("populate %d: key size %d, size %d%s%s", number, key_bytes, bytes,
             no_key ? ", no key" : "", no_binary ? ", no binary" : "");
    }

    void play_query() {
        EGLint index = static_cast<EGLint>(random_.below(6)) - 1;
        // ANGLE's places are also those of shaders.
        index = has_links_ && index >= 0 ? 1000 : index;
        Key key = {};
        Bytes binary(1 << 20, 0xee);
        EGLint key_bytes = key_size();
        // Only for what was populated, and never negative: ANGLE would write out of bounds.
        const bool is_short = !has_links_ && random_.one_in(3);
        EGLint bytes = is_short ? static_cast<EGLint>(random_.below(300)) : 1 << 20;
        const uint64_t shape = random_.below(10);
        egl.Query(display_, index, shape == 0 || shape == 1 ? nullptr : key.data(),
                  shape == 2 ? nullptr : &key_bytes,
                  shape == 0 || shape == 3 ? nullptr : binary.data(),
                  shape == 4 ? nullptr : &bytes);
        const bool is_ours = key[19] == 0x77;
        tell("query %d, shape %d: key size %d, key %d, size %d, buffer %u", index,
             static_cast<int>(shape), key_bytes, is_ours ? key[0] : -1, has_links_ ? -1 : bytes,
             has_links_ ? 0 : hash_of(binary));
    }

    void play_resize() {
        constexpr EGLint kModes[] = {EGL_PROGRAM_CACHE_RESIZE_ANGLE, EGL_PROGRAM_CACHE_TRIM_ANGLE,
                                     EGL_PROGRAM_CACHE_TRIM_ANGLE, 0x3459, 0};
        const EGLint mode = kModes[random_.below(std::size(kModes))];
        const EGLint limit = has_links_ ? (random_.one_in(3) ? 0 : kHuge)
                                        : (random_.one_in(3) ? size() : 500 + size());
        const EGLint bytes = egl.Resize(display_, limit, mode);
        tell("resize %d, mode %#x: %d", limit, static_cast<unsigned>(mode),
             has_links_ ? -1 : bytes);
    }

    void play_attribute() {
        const auto name = static_cast<EGLenum>(0x3454 + random_.below(6));
        const EGLint value = egl.GetAttrib(display_, name);
        const bool is_count = has_links_ && name == EGL_PROGRAM_CACHE_SIZE_ANGLE;
        tell("attribute %#x: %d", name, is_count ? -1 : value);
    }

    void play_restart() {
        context_.reset();
        egl.Terminate(display_);
        count(display_);
        tell_error("terminated");
        egl.Initialize(display_, nullptr, nullptr);
        tell("initialised");
    }

    void play_link() {
        if (context_ == nullptr || random_.one_in(8)) {
            context_.reset();
            const bool enabled = !random_.one_in(4);
            context_ = std::make_unique<Context>(
                display_,
                std::vector<EGLint>{EGL_CONTEXT_PROGRAM_BINARY_CACHE_ENABLED_ANGLE, enabled});
            tell("context %d: enabled %d", enabled, is_enabled());
        }
        const int variant = static_cast<int>(random_.below(4));
        const bool is_broken = random_.one_in(6);
        const bool linked = link_once({.variant = variant, .is_broken = is_broken});
        // A key that was not there before is this program's.
        const std::vector<Entry> now = programs(display_);
        if (!now.empty() && now[0].key[19] != 0x77) {
            names_.try_emplace(now[0].key, "program " + std::to_string(variant));
        }
        tell("link %d%s: %d, GL error %#x", variant, is_broken ? ", broken" : "", linked,
             gl.GetError());
    }

    std::string name_of(const Entry &entry) const {
        const auto named = names_.find(entry.key);
        if (named != names_.end()) {
            return named->second;
        }
        return std::to_string(entry.key[0]) + " of " + std::to_string(entry.binary.size()) + ": " +
               std::to_string(hash_of(entry.binary));
    }

    void tell_error(const char *what) {
        std::printf("%s: error %#x\n", what, static_cast<unsigned>(egl.GetError()));
    }

    [[gnu::format(printf, 2, 3)]] void tell(const char *format, ...) {
        const EGLint error = egl.GetError();
        char text[200];
        va_list values;
        va_start(values, format);
        std::vsnprintf(text, sizeof text, format, values);
        va_end(values);
        std::printf("%s; error %#x; cache:", text, static_cast<unsigned>(error));
        for (const Entry &entry : programs(display_)) {
            std::printf(" [%s]", name_of(entry).c_str());
        }
        std::puts("");
    }

    cairn_test::Random random_;
    const bool has_links_;
    EGLDisplay display_;
    std::unique_ptr<Context> context_;
    std::map<Key, std::string> names_;
};

}  // namespace

void play_sequence(uint64_t seed, int steps) {
    Player player(seed);
    for (int step = 0; step < steps; ++step) {
        player.step();
    }
}

}  // namespace conformance
