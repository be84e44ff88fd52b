/* How a program that compiles shaders uses Cairn from C: make a key of everything that can change
 * the result, look it up, and compile only on a miss. Run it twice.
 * SPDX-License-Identifier: MIT
 *
 * cc program_cache.c $(pkg-config --cflags --libs cairn)
 */
#include <cairn/cairn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Field numbers of our keys. A change of their meaning needs a new domain, here "example/2". */
enum { KEY_VERTEX_SOURCE = 1, KEY_FRAGMENT_SOURCE = 2, KEY_SAMPLE_COUNT = 3, KEY_DRIVER = 4 };

static void print_line(void *user, int severity, const char *line) {
    (void)user;
    (void)severity;
    fprintf(stderr, "cairn: %s\n", line);
}

static int make_key(uint8_t key[CAIRN_PROGRAM_KEY_SIZE]) {
    const char *vertex = "void main() { gl_Position = vec4(0.0); }";
    const char *fragment = "void main() { gl_FragColor = vec4(1.0); }";
    const char *driver = "example driver, build 42";
    cairn_key_builder *builder = cairn_key_begin("example/1");
    if (builder == NULL) return 0;
    cairn_key_add(builder, KEY_VERTEX_SOURCE, vertex, strlen(vertex));
    cairn_key_add(builder, KEY_FRAGMENT_SOURCE, fragment, strlen(fragment));
    cairn_key_add_u64(builder, KEY_SAMPLE_COUNT, 4);
    cairn_key_add(builder, KEY_DRIVER, driver, strlen(driver));
    cairn_key_finish(builder, key);
    return 1;
}

/* Stands for what takes long. */
static size_t compile(uint8_t binary[4096]) {
    memset(binary, 0x5a, 4096);
    return 4096;
}

int main(void) {
    cairn_options options = {
        .size = sizeof(options),
        .identifier = "cairn-example-c",
        .version = 1, /* of what we store: another one empties the cache */
        .limit_bytes = 64u << 20,
        .about = "Example program of Cairn, in C",
        .log = print_line,
    };
    uint8_t key[CAIRN_PROGRAM_KEY_SIZE];
    uint8_t binary[4096];
    cairn_cache *cache;
    cairn_blob *blob;
    cairn_stats stats = {.size = sizeof(stats)};

    int result = cairn_open(&options, &cache);
    if (result != CAIRN_OK || !make_key(key)) {
        /* A program goes on without a cache; an example may stop. */
        fprintf(stderr, "no cache: %s\n", cairn_result_string(result));
        return 1;
    }

    if (cairn_get(cache, key, sizeof(key), &blob) == CAIRN_OK) {
        printf("found: %zu bytes that cost %" PRIu32 " us to make\n", cairn_blob_size(blob),
               cairn_blob_cost_us(blob));
        cairn_blob_free(blob);
    } else {
        const size_t size = compile(binary);
        const cairn_put_options put = {.size = sizeof(put), .cost_us = 12000};
        result = cairn_put(cache, key, sizeof(key), binary, size, &put);
        printf("compiled: %s\n", result == CAIRN_OK ? "stored" : cairn_result_string(result));
    }

    if (cairn_stats_get(cache, &stats) == CAIRN_OK) {
        printf("the cache holds %" PRIu64 " entries in %" PRIu64 " bytes on disk\n", stats.entries,
               stats.disk_bytes);
    }
    cairn_close(cache);
    return 0;
}
