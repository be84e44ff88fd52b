// How an engine keeps what it compiles: it looks a program up, and on a miss compiles and stores it.
// Of several processes that miss it at once, one compiles and the others wait. Run it twice.
// SPDX-License-Identifier: MIT
//
// c++ -std=c++20 program_cache.cc $(pkg-config --cflags --libs cairn)
#include <cairn/cairn_program_cache.h>

#include <cairn/cairn.hpp>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>

namespace {

// These two stand for the engine's compiler, and for the driver's call that takes a binary.
std::string compile(const std::string &source, unsigned samples) {
    for (const auto begin = std::clock(); std::clock() - begin < CLOCKS_PER_SEC / 20;) continue;
    return "binary of " + source + ", " + std::to_string(samples) + " samples";
}
bool load(cairn::Bytes binary) {
    return binary.size() > 6 && binary[0] == std::byte{'b'};
}

bool find(const cairn::Cache &cache, const cairn::ProgramKey &key) {
    const auto blob = cache.get(key);
    if (!blob) return false;
    // If the driver dies of the binary, the next start does not find it.
    std::uint32_t ticket;
    cairn_use_begin(cache.handle(), key.data(), key.size(), &ticket);
    const bool is_loaded = load(blob->bytes());
    cairn_use_end(cache.handle(), ticket);
    return is_loaded;
}

// Says what it did. A cache that is not open finds nothing and stores nothing: the engine needs no
// second path.
const char *make_program(cairn::Cache &cache, const std::string &source, unsigned samples) {
    // All that can change the result, but for the driver, which the cache is opened for. When the
    // fields get another meaning, the domain gets another name: "example/2".
    const cairn::ProgramKey key =
        cairn::KeyBuilder("example/1").add(1, source).add_number(2, samples).finish().value();

    if (find(cache, key)) return "found";
    // Where another process compiles it just now, this waits for that, 2 s at most.
    const auto leased = cache.lease(key, 2000);
    if (leased.status == cairn::Status::exists && find(cache, key)) return "found";

    const auto begin = std::clock();
    const std::string binary = compile(source, samples);
    const auto cost_us = static_cast<std::uint32_t>((std::clock() - begin) * 1e6 / CLOCKS_PER_SEC);
    const auto stored = cache.put(key, cairn::bytes(binary), {.cost_us = cost_us});
    return stored == cairn::Status::ok ? "compiled, stored" : "compiled, not stored";
}

}  // namespace

int main() {
    cairn_program_cache_options options{};
    options.size = sizeof(options);
    options.application = "cairn-example";
    options.identity = "example GPU, driver 42";  // of one driver's binaries another has no use
    options.version = 1;                          // of what is stored: another empties the cache
    cairn_cache *handle = nullptr;
    const int opened = cairn_program_cache_open(&options, &handle);
    if (opened != CAIRN_OK) std::fprintf(stderr, "no cache: %s\n", cairn_result_string(opened));
    cairn::Cache cache(handle);
    std::puts(make_program(cache, "void main() {}", 4));
}
