/* A program that uses Cairn, for the build files beside it. Run it twice.
 * SPDX-License-Identifier: MIT */
#include <cairn/cairn.h>
#include <stdio.h>

int main(void) {
    const cairn_options options = {.size = sizeof(options), .identifier = "cairn-example-project"};
    cairn_cache *cache;
    cairn_blob *blob;
    const int opened = cairn_open(&options, &cache);
    if (opened != CAIRN_OK) fprintf(stderr, "no cache: %s\n", cairn_result_string(opened));
    if (cairn_get(cache, "key", 3, &blob) == CAIRN_OK) {
        printf("found %zu bytes\n", cairn_blob_size(blob));
        cairn_blob_free(blob);
    } else if (cairn_put(cache, "key", 3, "binary", 6, NULL) == CAIRN_OK) {
        puts("compiled and stored");
    }
    cairn_close(cache);
    return 0;
}
