/* What SDL 3 declares of formats of shaders. See ../README.md.
 * SPDX-License-Identifier: MIT */
#ifndef FAKE_SDL_GPU_H
#define FAKE_SDL_GPU_H

#include <SDL3/SDL_stdinc.h>

typedef Uint32 SDL_GPUShaderFormat;
#define SDL_GPU_SHADERFORMAT_SPIRV (1u << 1)
#define SDL_GPU_SHADERFORMAT_DXIL (1u << 3)
#define SDL_GPU_SHADERFORMAT_MSL (1u << 4)

typedef enum SDL_GPUShaderStage {
    SDL_GPU_SHADERSTAGE_VERTEX,
    SDL_GPU_SHADERSTAGE_FRAGMENT
} SDL_GPUShaderStage;

#endif
