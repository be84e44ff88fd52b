// Writes the cache that tests/golden/vN keeps a copy of: write_golden ROOT makes ROOT/example, and
// write_golden ROOT compressed that of vN-compressed.
// SPDX-License-Identifier: MIT
#include <cairn/cairn.h>

#include <cstdio>
#include <string>

int main(int argc, char **argv) {
    if (argc != 2 && argc != 3) {
        std::fprintf(stderr, "usage: write_golden ROOT [compressed]\n");
        return 2;
    }
    cairn_options options = {};
    options.size = sizeof options;
    options.root = argv[1];
    options.identifier = "example";
    options.version = 3;
    cairn_cache *cache = nullptr;
    if (cairn_open(&options, &cache) != CAIRN_OK) return 1;
    for (unsigned i = 0; i < 20; ++i) {
        const std::string key = "key " + std::to_string(i);
        const std::string value(i * 37, static_cast<char>('a' + i));
        const cairn_put_options put = {sizeof put, 0, i};
        if (cairn_put(cache, key.data(), key.size(), value.data(), value.size(), &put) !=
            CAIRN_OK) {
            return 1;
        }
    }
    const bool compressed = argc == 2 || cairn_compress(cache) == CAIRN_OK;
    cairn_close(cache);
    return compressed ? 0 : 1;
}
