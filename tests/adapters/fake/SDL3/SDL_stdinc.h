/* What SDL 3 declares of its own C library. See ../README.md.
 * SPDX-License-Identifier: MIT */
#ifndef FAKE_SDL_STDINC_H
#define FAKE_SDL_STDINC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t Uint8;
typedef uint32_t Uint32;
typedef uint64_t Uint64;

#define SDL_min(x, y) (((x) < (y)) ? (x) : (y))
#define SDL_memset memset
#define SDL_strlen strlen
#define SDL_malloc malloc
#define SDL_free free

#endif
