// What bgfx declares of its callbacks. See ../README.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdarg>
#include <cstdint>

namespace bgfx {

struct Fatal {
    enum Enum { DebugCheck };
};

struct TextureFormat {
    enum Enum { Unknown };
};

struct CallbackI {
    virtual ~CallbackI() = default;
    virtual void fatal(const char *path, uint16_t line, Fatal::Enum code, const char *text) = 0;
    virtual void traceVargs(const char *path, uint16_t line, const char *format,
                            va_list arguments) = 0;
    virtual void profilerBegin(const char *name, uint32_t abgr, const char *path,
                               uint16_t line) = 0;
    virtual void profilerBeginLiteral(const char *name, uint32_t abgr, const char *path,
                                      uint16_t line) = 0;
    virtual void profilerEnd() = 0;
    virtual uint32_t cacheReadSize(uint64_t id) = 0;
    virtual bool cacheRead(uint64_t id, void *data, uint32_t size) = 0;
    virtual void cacheWrite(uint64_t id, const void *data, uint32_t size) = 0;
    virtual void screenShot(const char *path, uint32_t width, uint32_t height, uint32_t pitch,
                            const void *data, uint32_t size, bool yflip) = 0;
    virtual void captureBegin(uint32_t width, uint32_t height, uint32_t pitch,
                              TextureFormat::Enum format, bool yflip) = 0;
    virtual void captureEnd() = 0;
    virtual void captureFrame(const void *data, uint32_t size) = 0;
};

}  // namespace bgfx
