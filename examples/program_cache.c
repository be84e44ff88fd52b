/* How an engine keeps what it compiles: it looks a program up, and on a miss compiles and stores it.
 * Of several processes that miss it at once, one compiles and the others wait. Run it twice.
 * SPDX-License-Identifier: MIT
 *
 * cc program_cache.c $(pkg-config --cflags --libs cairn)
 */
#include <cairn/cairn_program_cache.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* These two stand for the engine's compiler, and for the driver's call that takes a binary. */
static size_t compile(const char *source, unsigned samples, char binary[4096]) {
    for (clock_t begin = clock(); clock() - begin < CLOCKS_PER_SEC / 20;) continue;
    return (size_t)snprintf(binary, 4096, "binary of %s, %u samples", source, samples);
}
static int load(const void *binary, size_t size) {
    return size > 6 && memcmp(binary, "binary", 6) == 0;
}

static int find(cairn_cache *cache, const uint8_t key[CAIRN_PROGRAM_KEY_SIZE]) {
    cairn_blob *blob;
    uint32_t ticket;
    if (cairn_get(cache, key, CAIRN_PROGRAM_KEY_SIZE, &blob) != CAIRN_OK) return 0;
    /* If the driver dies of the binary, the next start does not find it. */
    cairn_use_begin(cache, key, CAIRN_PROGRAM_KEY_SIZE, &ticket);
    const int is_loaded = load(cairn_blob_data(blob), cairn_blob_size(blob));
    cairn_use_end(cache, ticket);
    cairn_blob_free(blob);
    return is_loaded;
}

/* Says what it did. Where the cache is NULL all calls fail, and the engine compiles: it needs no
 * second path. */
static const char *make_program(cairn_cache *cache, const char *source, unsigned samples) {
    uint8_t key[CAIRN_PROGRAM_KEY_SIZE];
    cairn_lease *lease = NULL;
    char binary[4096];

    /* All that can change the result, but for the driver, which the cache is opened for. When the
     * fields get another meaning, the domain gets another name: "example/2". */
    cairn_key_builder *builder = cairn_key_begin("example/1");
    if (builder == NULL) cache = NULL; /* no memory, no key */
    cairn_key_add(builder, 1, source, strlen(source));
    cairn_key_add_u64(builder, 2, samples);
    cairn_key_finish(builder, key);

    if (find(cache, key)) return "found";
    /* Where another process compiles it just now, this waits for that, 2 s at most. */
    const int leased = cairn_lease_acquire(cache, key, sizeof(key), 2000, &lease);
    if (leased == CAIRN_EXISTS && find(cache, key)) return "found";
    const clock_t begin = clock();
    const size_t size = compile(source, samples, binary);
    const clock_t cost_us = (clock() - begin) * 1000000 / CLOCKS_PER_SEC;
    const cairn_put_options put = {.size = sizeof(put), .cost_us = (uint32_t)cost_us};
    const int stored = cairn_put(cache, key, sizeof(key), binary, size, &put);
    cairn_lease_release(lease);
    return stored == CAIRN_OK ? "compiled, stored" : "compiled, not stored";
}

int main(void) {
    const cairn_program_cache_options options = {
        .size = sizeof(options),
        .application = "cairn-example",
        .identity = "example GPU, driver 42", /* of one driver's binaries another has no use */
        .version = 1,                         /* of what is stored: another empties the cache */
    };
    cairn_cache *cache;
    const int opened = cairn_program_cache_open(&options, &cache);
    if (opened != CAIRN_OK) fprintf(stderr, "no cache: %s\n", cairn_result_string(opened));
    puts(make_program(cache, "void main() {}", 4));
    cairn_close(cache);
    return 0;
}
