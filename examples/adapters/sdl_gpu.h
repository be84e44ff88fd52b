/* Shader code for SDL's GPU interface from Cairn: what SDL_shadercross, or any other converter,
 * makes of a source for the format that a device takes is made once. SDL 3 keeps no compiled
 * pipelines and has no interface to do so; drivers do (docs/embedding.md).
 * SPDX-License-Identifier: MIT
 *
 * C99 or C++. Threads: any, each with its own cairn_sdl_code.
 */
#ifndef CAIRN_ADAPTERS_SDL_GPU_H
#define CAIRN_ADAPTERS_SDL_GPU_H

#include <SDL3/SDL_gpu.h>
#include <SDL3/SDL_stdinc.h>
#include <SDL3/SDL_timer.h>
#include <cairn/cairn.h>

/* All that decides what the converter makes. What is not named here does not count: name it. */
typedef struct cairn_sdl_source {
    const void *code; /* HLSL, SPIR-V, ... */
    size_t code_size;
    const char *entrypoint;
    int stage;                  /* SDL_GPU_SHADERSTAGE_..., or SDL_SHADERCROSS_SHADERSTAGE_... */
    SDL_GPUShaderFormat format; /* that is wanted */
    /* The rest as text: name and version of the converter, defines, properties, and the contents of
     * included files. */
    const char *rest;
} cairn_sdl_source;

/* Converts. Returns memory of SDL_malloc with its size, as the calls of SDL_shadercross do; NULL
 * where it cannot. */
typedef void *(*cairn_sdl_convert)(void *user, size_t *size);

typedef struct cairn_sdl_code {
    const Uint8 *code; /* for SDL_GPUShaderCreateInfo; valid until cairn_sdl_code_free */
    size_t code_size;
    cairn_blob *found; /* NULL: it was converted */
    void *converted;
} cairn_sdl_code;

static inline void cairn_sdl_key(const cairn_sdl_source *source,
                                 uint8_t key[CAIRN_PROGRAM_KEY_SIZE], bool *is_made) {
    cairn_key_builder *builder = cairn_key_begin("sdl-gpu-code/1");
    *is_made = builder != NULL;
    if (!builder) return;
    cairn_key_add(builder, 1, source->code, source->code_size);
    cairn_key_add(builder, 2, source->entrypoint,
                  source->entrypoint ? SDL_strlen(source->entrypoint) : 0);
    cairn_key_add_u64(builder, 3, (uint64_t)source->stage);
    cairn_key_add_u64(builder, 4, (uint64_t)source->format);
    cairn_key_add(builder, 5, source->rest, source->rest ? SDL_strlen(source->rest) : 0);
    cairn_key_finish(builder, key);
}

/* The code, found or converted. A cache that is NULL or fails costs the conversion and no more.
 * False where `convert` cannot do it. Give `*code` back with cairn_sdl_code_free either way. */
static inline bool cairn_sdl_code_get(cairn_cache *cache, const cairn_sdl_source *source,
                                      cairn_sdl_convert convert, void *user, cairn_sdl_code *code) {
    uint8_t key[CAIRN_PROGRAM_KEY_SIZE];
    bool has_key;
    SDL_memset(code, 0, sizeof(*code));
    cairn_sdl_key(source, key, &has_key);
    if (has_key && cairn_get(cache, key, sizeof(key), &code->found) == CAIRN_OK) {
        code->code = (const Uint8 *)cairn_blob_data(code->found);
        code->code_size = cairn_blob_size(code->found);
        return true;
    }
    Uint64 began_ns = SDL_GetTicksNS();
    code->converted = convert(user, &code->code_size);
    if (!code->converted) return false;
    Uint64 cost_us = (SDL_GetTicksNS() - began_ns) / 1000;
    code->code = (const Uint8 *)code->converted;
    if (has_key) {
        cairn_put_options options = {sizeof(options), 0, (uint32_t)SDL_min(cost_us, UINT32_MAX)};
        cairn_put(cache, key, sizeof(key), code->converted, code->code_size, &options);
    }
    return true;
}

static inline void cairn_sdl_code_free(cairn_sdl_code *code) {
    cairn_blob_free(code->found);
    SDL_free(code->converted);
    SDL_memset(code, 0, sizeof(*code));
}

#endif
