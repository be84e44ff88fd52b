// Uses an installed Cairn from C++. argv[1]: an empty directory.
// SPDX-License-Identifier: MIT
#include <cairn/cairn.hpp>
#include <cstdio>
#include <string>

namespace {

bool check(bool holds, const char *what) {
    if (!holds) std::fprintf(stderr, "does not hold: %s\n", what);
    return holds;
}

}  // namespace

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    auto [cache, status] = cairn::Cache::open({.identifier = "consumer", .root = argv[1]});
    if (!check(status == cairn::Status::ok, cairn::describe(status))) return 1;

    const auto key = cairn::KeyBuilder("consumer/1").add(1, "void main() {}").finish();
    if (!check(key.has_value(), "a key is made")) return 1;
    bool good = check(!cache.get(*key), "an empty cache misses");
    good &= check(cache.put(*key, cairn::bytes("binary")) == cairn::Status::ok, "a put succeeds");
    const auto blob = cache.get(*key);
    good &= check(blob && blob->size() == 6, "what was put is found");
    if (good) std::puts("C++ consumer: ok");
    return good ? 0 : 1;
}
