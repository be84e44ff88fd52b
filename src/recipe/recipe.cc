// SPDX-License-Identifier: MIT
#include "recipe/recipe.h"

#include <bit>
#include <limits>
#include <type_traits>

#include "base/hash.h"
#include "recipe/player.h"

namespace cairn::recipe {
namespace {

constexpr std::size_t kTextMax = 4096;                    // of a name, an attribute, a path
constexpr std::size_t kSourceMax = std::size_t{8} << 20;  // of a string
constexpr std::size_t kStringsMax = 65536;                // of a source
constexpr std::size_t kArgumentsMax = 65536;              // of a setting
constexpr std::size_t kSettingsMax = 4096;
constexpr std::size_t kStagesMax = 64;
constexpr std::size_t kBuffersMax = 32;  // draw buffers, attachments
constexpr std::size_t kValuesMax = 256;
constexpr std::size_t kUnitsMax = 256;
constexpr std::size_t kAttributesMax = 64;
constexpr std::size_t kStatesMax = 4096;  // of a program

// Each structure is described once, by describe(io, structure): a Writer and a Reader go through its
// members in that order. All numbers have 32 bits and are little-endian.

class Writer {
  public:
    void number(std::uint32_t value) {
        std::array<std::byte, 4> bytes = {};
        put_le(MutableBytes(bytes), 0, value);
        out_.append(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    }
    void number(std::int32_t value) { number(static_cast<std::uint32_t>(value)); }
    void text(const std::string &value, std::size_t) {
        number(static_cast<std::uint32_t>(value.size()));
        out_.append(value);
    }
    void key(const Key &value) {
        out_.append(reinterpret_cast<const char *>(value.data()), value.size());
    }
    template <typename T, typename Each>
    void list(const std::vector<T> &values, std::size_t, Each each) {
        number(static_cast<std::uint32_t>(values.size()));
        for (const T &value : values) each(value);
    }
    std::string take() { return std::move(out_); }

  private:
    std::string out_;
};

class Reader {
  public:
    explicit Reader(Bytes bytes) : rest_(bytes) {}

    void number(std::uint32_t &value) {
        value = 0;
        if (!has(sizeof value)) return;
        value = get_le<std::uint32_t>(rest_, 0);
        rest_ = rest_.subspan(sizeof value);
    }
    void number(std::int32_t &value) {
        std::uint32_t bits = 0;
        number(bits);
        value = static_cast<std::int32_t>(bits);
    }
    void text(std::string &value, std::size_t size_max) {
        std::uint32_t size = 0;
        number(size);
        if (size > size_max || !has(size)) {
            is_good_ = false;
            return;
        }
        value.assign(reinterpret_cast<const char *>(rest_.data()), size);
        rest_ = rest_.subspan(size);
    }
    void key(Key &value) {
        if (!has(value.size())) return;
        for (std::size_t i = 0; i < value.size(); ++i) {
            value[i] = std::to_integer<std::uint8_t>(rest_[i]);
        }
        rest_ = rest_.subspan(value.size());
    }
    template <typename T, typename Each>
    void list(std::vector<T> &values, std::size_t count_max, Each each) {
        std::uint32_t count = 0;
        number(count);
        // Each element has four bytes at least.
        if (count > count_max || !has(std::size_t{count} * 4)) {
            is_good_ = false;
            return;
        }
        values.resize(count);
        for (T &value : values) {
            if (!is_good_) return;
            each(value);
        }
    }
    // All was there, and nothing more.
    bool is_whole() const { return is_good_ && rest_.empty(); }

  private:
    bool has(std::size_t size) {
        is_good_ = is_good_ && rest_.size() >= size;
        return is_good_;
    }

    Bytes rest_;
    bool is_good_ = true;
};

template <typename IO, typename... Numbers>
void numbers(IO &io, Numbers &...each) {
    (io.number(each), ...);
}

// T is the structure, const for a Writer.
template <typename T, typename Of>
concept Is = std::is_same_v<std::remove_const_t<T>, Of>;

template <typename IO, Is<ContextKind> T>
void describe(IO &io, T &context) {
    numbers(io, context.is_es, context.major, context.minor, context.profile, context.flags);
    io.text(context.others, kTextMax);
}

template <typename IO, Is<Program> T>
void describe(IO &io, T &program) {
    describe(io, program.context);
    io.number(program.is_separable);
    io.list(program.stages, kStagesMax, [&](auto &stage) {
        io.number(stage.type);
        io.key(stage.source);
    });
    io.list(program.settings, kSettingsMax, [&](auto &setting) {
        io.number(setting.kind);
        io.text(setting.arguments, kArgumentsMax);
    });
}

template <typename IO, Is<Source> T>
void describe(IO &io, T &source) {
    io.list(source, kStringsMax, [&](auto &text) { io.text(text, kSourceMax); });
}

template <typename IO, Is<Attachment> T>
void describe(IO &io, T &attachment) {
    numbers(io, attachment.format, attachment.target, attachment.samples, attachment.is_layered,
            attachment.upload.format, attachment.upload.type);
}

template <typename IO, Is<Framebuffer> T>
void describe(IO &io, T &framebuffer) {
    auto &surface = framebuffer.surface;
    numbers(io, framebuffer.is_window, surface.red, surface.green, surface.blue, surface.alpha,
            surface.depth, surface.stencil, surface.samples);
    io.list(framebuffer.draw_buffers, kBuffersMax, [&](auto &buffer) { io.number(buffer); });
    io.list(framebuffer.colors, kBuffersMax, [&](auto &color) { describe(io, color); });
    describe(io, framebuffer.depth);
    describe(io, framebuffer.stencil);
}

template <typename IO, Is<Values> T>
void describe(IO &io, T &values) {
    io.list(values, kValuesMax, [&](auto &value) {
        io.number(value.first);
        io.number(value.second);
    });
}

template <typename IO, Is<Texture> T>
void describe(IO &io, T &texture) {
    numbers(io, texture.target, texture.format, texture.samples, texture.width, texture.height,
            texture.depth, texture.levels, texture.upload.format, texture.upload.type);
    describe(io, texture.parameters);
}

template <typename IO, Is<DrawState> T>
void describe(IO &io, T &state) {
    numbers(io, state.mode, state.index_type, state.is_instanced);
    describe(io, state.framebuffer);
    describe(io, state.values);
    io.list(state.color_buffers, kBuffersMax, [&](auto &buffer) {
        numbers(io, buffer.blends, buffer.source_rgb, buffer.target_rgb, buffer.source_alpha,
                buffer.target_alpha, buffer.equation_rgb, buffer.equation_alpha, buffer.mask);
    });
    io.list(state.bindings, kUnitsMax, [&](auto &binding) {
        io.text(binding.uniform, kTextMax);
        io.number(binding.type);
        io.list(binding.units, kUnitsMax, [&](auto &unit) { io.number(unit); });
    });
    io.list(state.units, kUnitsMax, [&](auto &unit) {
        io.number(unit.number);
        describe(io, unit.texture);
    });
    io.list(state.images, kUnitsMax, [&](auto &image) {
        numbers(io, image.number, image.format, image.access, image.is_layered);
        describe(io, image.texture);
    });
    io.list(state.attributes, kAttributesMax, [&](auto &each) {
        numbers(io, each.location, each.source, each.size, each.type, each.kind, each.stride,
                each.divisor, each.group, each.offset);
    });
}

template <typename IO, Is<Application> T>
void describe(IO &io, T &application) {
    io.text(application.executable, kTextMax);
    io.text(application.invocation, kTextMax);
}

template <typename IO, Is<Work> T>
void describe(IO &io, T &work) {
    describe(io, work.program);
    io.list(work.sources, kStagesMax, [&](auto &source) { describe(io, source); });
    io.list(work.states, kStatesMax, [&](auto &state) { describe(io, state); });
}

template <typename IO, Is<Ready> T>
void describe(IO &io, T &ready) {
    io.number(ready.is_ready);
    io.text(ready.cache, kTextMax);
    io.text(ready.problem, kTextMax);
}

template <typename IO, Is<Done> T>
void describe(IO &io, T &done) {
    numbers(io, done.outcome, done.drawn, done.skipped);
    io.text(done.problem, kTextMax);
}

template <typename T>
std::string encoded(const T &structure) {
    Writer writer;
    describe(writer, structure);
    return writer.take();
}

template <typename T>
std::optional<T> decoded(Bytes bytes) {
    Reader reader(bytes);
    T structure;
    describe(reader, structure);
    if (!reader.is_whole()) return std::nullopt;
    return structure;
}

std::string key_with(Kind kind, const Key &hash) {
    std::string key(1, static_cast<char>(kind));
    return key.append(reinterpret_cast<const char *>(hash.data()), hash.size());
}

constexpr char kNote = 'w';
constexpr std::size_t kShortHashSize = 16;

// An entry that belongs to a program.
std::string key_with(Kind kind, const Key &program, const Key &other) {
    return key_with(kind, program)
        .append(reinterpret_cast<const char *>(other.data()), kShortHashSize);
}

}  // namespace

Key hash_of(Bytes encoded) {
    Blake2b hash;
    hash.add(encoded);
    return std::bit_cast<Key>(hash.finish());
}

Key hash_of(const Source &source) {
    std::string all;
    for (const std::string &text : source) all += text;
    if (source.size() > 1) {
        all.push_back('\0');
        for (const std::string &text : source) {
            std::array<std::byte, 4> size = {};
            put_le(MutableBytes(size), 0, static_cast<std::uint32_t>(text.size()));
            all.append(reinterpret_cast<const char *>(size.data()), size.size());
        }
    }
    return std::bit_cast<Key>(hash_of_source(as_bytes(all)));
}

std::string key_of_source(const Key &source) {
    return key_with(Kind::source, source);
}

std::string key_of_program(const Key &program) {
    return key_with(Kind::program, program);
}

std::string key_of_state(const Key &program, Bytes encoded_state) {
    return key_with(Kind::state, program, hash_of(encoded_state));
}

std::string key_of_seen(const Key &program, const Key &driver) {
    return key_with(Kind::seen, program, driver);
}

std::string key_of_application() {
    return std::string(1, static_cast<char>(Kind::application));
}

std::optional<Kind> kind_of(std::string_view key) {
    constexpr std::size_t kHashed = 1 + sizeof(Key);
    if (key.empty()) return std::nullopt;
    const auto kind = static_cast<Kind>(key.front());
    switch (kind) {
        case Kind::program:
        case Kind::source:
            return key.size() == kHashed ? std::optional(kind) : std::nullopt;
        case Kind::state:
        case Kind::seen:
            return key.size() == kHashed + kShortHashSize ? std::optional(kind) : std::nullopt;
        case Kind::application:
            return key.size() == 1 ? std::optional(kind) : std::nullopt;
    }
    return std::nullopt;
}

Key hash_in(std::string_view key) {
    Key hash = {};
    for (std::size_t i = 0; i < hash.size(); ++i) {
        hash[i] = static_cast<std::uint8_t>(key[1 + i]);
    }
    return hash;
}

std::string driver_in(std::string_view key) {
    return std::string(key.substr(key.size() - kShortHashSize));
}

std::string key_of_note(const Key &unit) {
    return std::string(1, kNote).append(reinterpret_cast<const char *>(unit.data()), unit.size());
}

bool is_note(std::string_view key) {
    return key.size() == 1 + sizeof(Key) && key.front() == kNote;
}

bool is_for_packs(std::string_view key) {
    const auto kind = kind_of(key);
    return kind && *kind != Kind::application;
}

std::string encode(const ContextKind &context) {
    return encoded(context);
}
std::string encode(const Program &program) {
    return encoded(program);
}
std::string encode(const Source &source) {
    return encoded(source);
}
std::string encode(const DrawState &state) {
    return encoded(state);
}
std::string encode(const Application &application) {
    return encoded(application);
}

std::string encode(const Work &work) {
    return encoded(work);
}
std::string encode(const Ready &ready) {
    return encoded(ready);
}
std::string encode(const Done &done) {
    return encoded(done);
}

std::optional<ContextKind> decode_context(Bytes bytes) {
    return decoded<ContextKind>(bytes);
}
std::optional<Program> decode_program(Bytes bytes) {
    return decoded<Program>(bytes);
}
std::optional<Source> decode_source(Bytes bytes) {
    return decoded<Source>(bytes);
}
std::optional<DrawState> decode_state(Bytes bytes) {
    return decoded<DrawState>(bytes);
}
std::optional<Application> decode_application(Bytes bytes) {
    return decoded<Application>(bytes);
}
std::optional<Work> decode_work(Bytes bytes) {
    return decoded<Work>(bytes);
}
std::optional<Ready> decode_ready(Bytes bytes) {
    return decoded<Ready>(bytes);
}
std::optional<Done> decode_done(Bytes bytes) {
    return decoded<Done>(bytes);
}

}  // namespace cairn::recipe
