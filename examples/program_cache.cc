// How a program that compiles shaders uses Cairn from C++: make a key of everything that can change
// the result, look it up, and compile only on a miss. Run it twice.
// SPDX-License-Identifier: MIT
//
// c++ -std=c++20 program_cache.cc $(pkg-config --cflags --libs cairn)
#include <cairn/cairn.hpp>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string_view>
#include <vector>

namespace {

// Field numbers of our keys. A change of their meaning needs a new domain, here "example/2".
enum KeyField : std::uint32_t { kSource = 1, kSampleCount = 2, kDriver = 3 };

// Stands for what takes long.
std::vector<std::uint32_t> compile(std::string_view source) {
    return std::vector<std::uint32_t>(1000, static_cast<std::uint32_t>(source.size()));
}

}  // namespace

int main() {
    auto [cache, status] = cairn::Cache::open({
        .identifier = "cairn-example-cpp",
        .version = 1,  // of what we store: another one empties the cache
        .about = "Example program of Cairn, in C++",
    });
    if (status != cairn::Status::ok)
        std::fprintf(stderr, "no cache: %s\n", cairn::describe(status));

    const std::string_view source = "void main() { gl_FragColor = vec4(1.0); }";
    const auto key = cairn::KeyBuilder("example/1")
                         .add(kSource, source)
                         .add_number(kSampleCount, 4)
                         .add(kDriver, "example driver, build 42")
                         .finish();
    if (!key) return 1;

    // A cache that is not open finds nothing and stores nothing: the program needs no second path.
    if (const auto found = cache.get(*key)) {
        std::printf("found: %zu bytes that cost %u us to make\n", found->size(), found->cost_us());
    } else {
        const auto binary = compile(source);
        const auto stored = cache.put(*key, cairn::bytes(binary), {.cost_us = 12000});
        std::printf("compiled: %s\n", cairn::describe(stored));
    }

    (void)cache.enumerate([](const cairn::Entry &entry) {
        std::printf("an entry of %zu bytes\n", entry.value_size);
    });
}
