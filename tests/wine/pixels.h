// SPDX-License-Identifier: MIT
// What the Direct3D programs of this folder share: a shader compiler, and the check of what they drew.
// Each draws a quad in four colours, by as many shaders, and prints a hash of all pixels.
#ifndef CAIRN_TESTS_WINE_PIXELS_H
#define CAIRN_TESTS_WINE_PIXELS_H

#include <d3dcompiler.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kSize = 128, kQuadrant = kSize / 2 };

static void require(HRESULT result, const char *what) {
    if (SUCCEEDED(result)) return;
    fprintf(stderr, "%s failed: 0x%08lx\n", what, (unsigned long)result);
    exit(1);
}

static ID3DBlob *compile(const char *source, const char *profile) {
    ID3DBlob *code = NULL;
    ID3DBlob *messages = NULL;
    const HRESULT result = D3DCompile(source, strlen(source), NULL, NULL, NULL, "main", profile, 0,
                                      0, &code, &messages);
    if (messages) fprintf(stderr, "%s\n", (const char *)ID3D10Blob_GetBufferPointer(messages));
    require(result, profile);
    return code;
}

// The source of a pixel shader that gives one colour: quadrant 0 is red, 1 green, 2 blue, 3 white.
static const char *pixel_source(int quadrant, const char *semantic) {
    static char source[256];
    snprintf(source, sizeof(source), "float4 main() : %s { return float4(%d.0, %d.0, %d.0, 1.0); }",
             semantic, quadrant == 0 || quadrant == 3, quadrant == 1 || quadrant == 3,
             quadrant == 2 || quadrant == 3);
    return source;
}

// The corners of a quadrant's two triangles, as x, y, z, w.
static void corners(int quadrant, float vertices[6][4]) {
    const float left = quadrant % 2 ? 0 : -1;
    const float top = quadrant / 2 ? 0 : 1;
    const float points[6][2] = {{0, 0}, {1, 0}, {0, -1}, {0, -1}, {1, 0}, {1, -1}};
    for (int i = 0; i < 6; ++i) {
        vertices[i][0] = left + points[i][0];
        vertices[i][1] = top + points[i][1];
        vertices[i][2] = 0;
        vertices[i][3] = 1;
    }
}

// Checks the middle of each quadrant and prints a hash (FNV-1a) of all pixels. Each has 4 bytes, of
// which `red`, 1 and `blue` are the colours. Returns the program's exit code.
static int judge(const uint8_t *pixels, size_t pitch, int red, int blue) {
    uint64_t hash = 14695981039346656037u;
    int wrong = 0;
    for (int y = 0; y < kSize; ++y) {
        for (int x = 0; x < kSize; ++x) {
            const uint8_t *pixel = pixels + y * pitch + x * 4;
            const uint8_t colours[3] = {pixel[red], pixel[1], pixel[blue]};
            const int quadrant = y / kQuadrant * 2 + x / kQuadrant;
            for (int i = 0; i < 3; ++i) {
                hash = (hash ^ colours[i]) * 1099511628211u;
                wrong += colours[i] != (quadrant == 3 || quadrant == i ? 255 : 0);
            }
        }
    }
    printf("hash %016llx, %d wrong\n", (unsigned long long)hash, wrong);
    return wrong ? 1 : 0;
}

#endif
