/* Uses an installed Cairn from C: stores in one handle and finds it in another one. argv[1]: an
 * empty directory.
 * SPDX-License-Identifier: MIT */
#include <cairn/cairn.h>
#include <stdio.h>
#include <string.h>

#define CHECK(condition)                                                    \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            return 1;                                                       \
        }                                                                   \
    } while (0)

static int count(void *user, const cairn_entry *entry) {
    size_t *bytes = user;
    *bytes += entry->key_size + entry->value_size;
    return 0;
}

int main(int argc, char **argv) {
    cairn_options options = {.size = sizeof(options), .identifier = "consumer", .version = 1};
    cairn_cache *cache = NULL;
    cairn_blob *blob = NULL;
    size_t bytes = 0;
    cairn_stats stats = {.size = sizeof(stats)};

    CHECK(argc == 2);
    options.root = argv[1];
    CHECK(strcmp(cairn_version_string(), "0.2.0") == 0);
    CHECK(cairn_open(&options, &cache) == CAIRN_OK);
    CHECK(cairn_get(cache, "key", 3, &blob) == CAIRN_MISS && blob == NULL);
    CHECK(cairn_put(cache, "key", 3, "value", 5, NULL) == CAIRN_OK);
    cairn_close(cache);

    CHECK(cairn_open(&options, &cache) == CAIRN_OK);
    CHECK(cairn_get(cache, "key", 3, &blob) == CAIRN_OK);
    CHECK(cairn_blob_size(blob) == 5 && memcmp(cairn_blob_data(blob), "value", 5) == 0);
    cairn_blob_free(blob);
    CHECK(cairn_enumerate(cache, count, &bytes) == CAIRN_OK && bytes == 8);
    CHECK(cairn_stats_get(cache, &stats) == CAIRN_OK && stats.entries == 1 && stats.hits == 1);
    cairn_close(cache);
    puts("C consumer: ok");
    return 0;
}
