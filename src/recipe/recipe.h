// Recipes: what it takes to make an application's GL programs on any driver, and the states that it
// draws in. docs/formats/recipe.md has every byte.
// SPDX-License-Identifier: MIT
//
// A Program names its shaders' sources by their hashes and has everything that was set before the
// link. A DrawState has what drivers compile for when a program draws: formats, not contents; sizes
// only as far as they matter. Two states that compile alike have the same bytes.
//
// Thread safety: values and pure functions.
// Failure: decoding gives nothing for bytes that encoding cannot have written: numbers and sizes are
// bounded, so that what is decoded takes little memory. Whether a number means something to GL is not
// checked: drivers do that, as for every application.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace cairn::recipe {

// Of the layout. A cache of recipes has this as its version.
inline constexpr std::uint64_t kVersion = 1;
// The identity of that cache among an application's program caches: it depends on no driver.
inline constexpr const char *kIdentity =
    "Recipes of programs, for any driver\nKept by Cairn's front ends for GL.\n";

using Key = std::array<std::uint8_t, 32>;

// What an entry of the cache is, by the first byte of its key.
enum class Kind : std::uint8_t {
    program = 'p',      // then the hash of the value
    source = 's',       // then the hash of the source
    state = 'd',        // then the program's hash, then 16 bytes of the hash of the value
    seen = 'v',         // then the program's hash, then 16 bytes of the driver's
    application = 'x',  // of this machine, never in packs
};
std::string key_of_source(const Key &source);
std::string key_of_program(const Key &program);
std::string key_of_state(const Key &program, Bytes encoded_state);
// That a driver has linked the program where it was recorded. `driver`: the hash of the text that
// tells this driver from others, the same for all its contexts. The value is the driver's name, for
// people. Nothing of it is in recipes, which are the same wherever they are recorded.
std::string key_of_seen(const Key &program, const Key &driver);
inline constexpr std::size_t kSeenNameMax = 64;  // bytes
std::string key_of_application();
// The kind of a key with the right size; nothing for others.
std::optional<Kind> kind_of(std::string_view key);
// REQUIRES: kind_of(key) is one that has it.
Key hash_in(std::string_view key);
// The part of the driver's hash in the key of such a note. REQUIRES: kind_of(key) is Kind::seen.
std::string driver_in(std::string_view key);
// In a cache of programs, and not of recipes: that a program was made for its driver, and drawn in
// these states. `unit` is the hash of the keys of both; the value is a Note.
std::string key_of_note(const Key &unit);
bool is_note(std::string_view key);
enum class Note : std::uint8_t {
    made = 'm',
    refused = 'r',  // it does not compile or link
    failed = 'f',   // a player has died of it, or was silent
};

// What is of this machine, or of no kind that is known, is not for packs.
bool is_for_packs(std::string_view key);

// The hash of encoded bytes.
Key hash_of(Bytes encoded);

// A context, in the words of frontends/gl/context.h.
struct ContextKind {
    std::uint32_t is_es = 0;
    std::uint32_t major = 1, minor = 0;  // what the application asked for
    std::uint32_t profile = 0;           // GL_CONTEXT_..._PROFILE_BIT
    std::uint32_t flags = 0;             // ContextOptions
    std::string others;                  // attributes without a member
    // NOLINTNEXTLINE(modernize-use-nullptr): there is no pointer, clang-tidy 14 only thinks so
    auto operator<=>(const ContextKind &) const = default;
};

struct Stage {
    std::uint32_t type = 0;  // GL_VERTEX_SHADER, ...
    Key source = {};         // the hash of a Source
    bool operator==(const Stage &) const = default;
};

// Calls that set something for the next link. The numbers are part of programs' keys.
enum class SettingKind : std::uint32_t {
    attribute_location = 1,
    fragment_location = 2,
    transform_feedback = 3,
    parameter = 4,
};

// One such call, as frontends/gl/requests.h keeps it.
struct Setting {
    std::uint32_t kind = 0;  // SettingKind, or what an unknown writer takes for one
    std::string arguments;
    bool operator==(const Setting &) const = default;
};

struct Program {
    ContextKind context;
    std::uint32_t is_separable = 0;  // made by glCreateShaderProgramv: one stage, no settings
    std::vector<Stage> stages;       // as attached
    std::vector<Setting> settings;
    bool operator==(const Program &) const = default;
};

// The strings that glShaderSource was given.
using Source = std::vector<std::string>;
// The hash that front ends know it by: of all strings in a row; where there are several, then a zero,
// and the size of each in 4 bytes.
Key hash_of(const Source &source);

// The default framebuffer: bits of a pixel.
struct Surface {
    std::uint32_t red = 0, green = 0, blue = 0, alpha = 0, depth = 0, stencil = 0, samples = 0;
    bool operator==(const Surface &) const = default;
};

// What glTexImage was given for the first image, from which drivers choose how to keep it. 0: the
// image was made by glTexStorage, or nobody knows.
struct Upload {
    std::uint32_t format = 0, type = 0;
    bool operator==(const Upload &) const = default;
};

struct Attachment {
    std::uint32_t format = 0;  // internal format; 0: nothing is attached
    std::uint32_t target = 0;  // GL_RENDERBUFFER, GL_TEXTURE_2D, ...
    std::uint32_t samples = 0;
    std::uint32_t is_layered = 0;
    Upload upload;
    bool operator==(const Attachment &) const = default;
};

struct Framebuffer {
    std::uint32_t is_window = 0;
    Surface surface;                          // where it is a window
    std::vector<std::uint32_t> draw_buffers;  // GL_COLOR_ATTACHMENT0, GL_NONE, GL_BACK, ...
    std::vector<Attachment> colors;           // by attachment point
    Attachment depth, stencil;
    bool operator==(const Framebuffer &) const = default;
};

struct ColorBuffer {
    std::uint32_t blends = 0;
    std::uint32_t source_rgb = 0, target_rgb = 0, source_alpha = 0, target_alpha = 0;
    std::uint32_t equation_rgb = 0, equation_alpha = 0;
    std::uint32_t mask = 15;  // bits: red 1, green 2, blue 4, alpha 8
    bool operator==(const ColorBuffer &) const = default;
};

// Numbers of GL by their names, in order of name: parameters that are not what GL begins with. Of
// floating-point ones, the value rounded to an integer.
using Values = std::vector<std::pair<std::uint32_t, std::int32_t>>;

struct Texture {
    std::uint32_t target = 0;
    std::uint32_t format = 0;  // internal format; 0: no image is there
    std::uint32_t samples = 0;
    // Sizes: 1 where it is 1, 4 for another power of two, 3 for any other.
    std::uint32_t width = 1, height = 1, depth = 1;
    std::uint32_t levels = 1;  // 1, or 2 for more
    Upload upload;
    Values parameters;  // of the sampler object where there is one
    bool operator==(const Texture &) const = default;
};

// A uniform that is a sampler or an image, and what it reads from: one for each element.
struct Binding {
    std::string uniform;
    std::uint32_t type = 0;  // GL_SAMPLER_2D, ...
    std::vector<std::uint32_t> units;
    bool operator==(const Binding &) const = default;
};

struct Unit {
    std::uint32_t number = 0;
    Texture texture;
    bool operator==(const Unit &) const = default;
};

struct ImageUnit {
    std::uint32_t number = 0;
    std::uint32_t format = 0, access = 0, is_layered = 0;
    Texture texture;
    bool operator==(const ImageUnit &) const = default;
};

struct Attribute {
    std::uint32_t location = 0;
    std::uint32_t source = 0;  // 0: a constant; 1: a buffer object; 2: the application's memory
    std::uint32_t size = 4;    // 1 to 4, or GL_BGRA
    std::uint32_t type = 0;
    std::uint32_t kind = 0;    // 0: as floats, 1: normalized, 2: integers, 3: doubles
    std::uint32_t stride = 0;  // in bytes, never 0
    std::uint32_t divisor = 0;
    // Attributes that lie in one buffer (or in memory), near each other, have the same group; the offset is that
    // from the first of them.
    std::uint32_t group = 0, offset = 0;
    bool operator==(const Attribute &) const = default;
};

struct DrawState {
    std::uint32_t mode = 0;          // GL_TRIANGLES, ...; kDispatch: glDispatchCompute
    std::uint32_t index_type = 0;    // GL_UNSIGNED_SHORT, ...; 0: no indices
    std::uint32_t is_instanced = 0;  // more than one instance
    Framebuffer framebuffer;
    Values values;
    std::vector<ColorBuffer> color_buffers;  // by draw buffer; one where all are the same
    std::vector<Binding> bindings;
    std::vector<Unit> units;
    std::vector<ImageUnit> images;
    std::vector<Attribute> attributes;  // by location
    bool operator==(const DrawState &) const = default;

    static constexpr std::uint32_t kDispatch = 0xFFFF;
};

// Where the application runs from: Mesa treats some by the names of their executables.
struct Application {
    std::string executable;  // the path of its file
    std::string invocation;  // program_invocation_name
};

// A class of sizes of a texture.
constexpr std::uint32_t size_class(std::uint64_t size) {
    return size <= 1 ? 1 : (size & (size - 1)) == 0 ? 4 : 3;
}

std::string encode(const ContextKind &context);
std::string encode(const Program &program);
std::string encode(const Source &source);
std::string encode(const DrawState &state);
std::string encode(const Application &application);

std::optional<ContextKind> decode_context(Bytes bytes);
std::optional<Program> decode_program(Bytes bytes);
std::optional<Source> decode_source(Bytes bytes);
std::optional<DrawState> decode_state(Bytes bytes);
std::optional<Application> decode_application(Bytes bytes);

}  // namespace cairn::recipe
