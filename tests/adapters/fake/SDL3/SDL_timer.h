/* What SDL 3 declares of time. See ../README.md.
 * SPDX-License-Identifier: MIT */
#ifndef FAKE_SDL_TIMER_H
#define FAKE_SDL_TIMER_H

#include <SDL3/SDL_stdinc.h>
#include <time.h>

static inline Uint64 SDL_GetTicksNS(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (Uint64)now.tv_sec * 1000000000u + (Uint64)now.tv_nsec;
}

#endif
