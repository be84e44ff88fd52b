// SPDX-License-Identifier: MIT
#include "cache/gl_programs.h"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

#include "base/guarded.h"
#include "base/words.h"
#include "os/environment.h"
#include "store/record.h"

namespace cairn {
namespace {

// Of GL's headers, which nobody should need for this.
constexpr unsigned kVendor = 0x1F00, kRenderer = 0x1F01, kVersion = 0x1F02, kExtensions = 0x1F03;
constexpr unsigned kNumExtensions = 0x821D, kContextFlags = 0x821E, kProfileMask = 0x9126;
constexpr unsigned kShadingLanguageVersion = 0x8B8C, kLinkStatus = 0x8B82;
constexpr unsigned kRetrievableHint = 0x8257, kBinaryLength = 0x8741;
constexpr unsigned kNumBinaryFormats = 0x87FE, kBinaryFormats = 0x87FF;

constexpr std::size_t kFormatSize = 4;

template <typename Function>
bool look_up(GlPrograms::GetProcAddress get, const std::string &name, Function *&function) {
    function = reinterpret_cast<Function *>(get(name.c_str()));
    return function != nullptr;
}

std::string_view text(const unsigned char *given) {
    return given == nullptr ? std::string_view() : reinterpret_cast<const char *>(given);
}

}  // namespace

// Constant after find_core() and find_binaries().
struct GlPrograms::Driver {
    bool find_core(GetProcAddress get) {
        look_up(get, "glGetStringi", GetStringi);
        look_up(get, "glProgramParameteri", ProgramParameteri);
        return look_up(get, "glGetString", GetString) &&
               look_up(get, "glGetIntegerv", GetIntegerv) && look_up(get, "glGetError", GetError) &&
               look_up(get, "glGetProgramiv", GetProgramiv) && GetString(kVersion) != nullptr;
    }

    // Leaves `formats` empty where there are no program binaries. A loader may give functions for
    // names that the driver does not know, so version and extensions decide.
    void find_binaries(GetProcAddress get) {
        read_version();
        std::string suffix;
        if (version < (is_es ? 30 : 41)) {
            if (!has_extension(is_es ? "GL_OES_get_program_binary" : "GL_ARB_get_program_binary"))
                return;
            if (is_es) {
                suffix = "OES";
                ProgramParameteri = nullptr;
            }
        }
        if (!look_up(get, "glProgramBinary" + suffix, ProgramBinary) ||
            !look_up(get, "glGetProgramBinary" + suffix, GetProgramBinary))
            return;
        formats.resize(static_cast<std::size_t>(std::max(number(kNumBinaryFormats), 0)));
        if (!formats.empty()) GetIntegerv(kBinaryFormats, formats.data());
    }

    // GL_VERSION is "OpenGL ES 3.2 Mesa ...", "4.5 (Core Profile) ...".
    void read_version() {
        constexpr std::string_view kEs = "OpenGL ES ";
        std::string_view given = text(GetString(kVersion));
        is_es = given.starts_with(kEs);
        if (is_es) given.remove_prefix(kEs.size());
        const std::string numbers(given);
        int major = 0, minor = 0;
        // NOLINTNEXTLINE(cert-err34-c): versions are small numbers
        if (std::sscanf(numbers.c_str(), "%d.%d", &major, &minor) != 2) return;
        version = major * 10 + minor;
    }

    bool has_extension(std::string_view wanted) const {
        if (version < 30) return has_word(text(GetString(kExtensions)), wanted);
        if (GetStringi == nullptr) return false;
        const auto count = static_cast<unsigned>(number(kNumExtensions));
        for (unsigned i = 0; i < count; ++i) {
            if (text(GetStringi(kExtensions, i)) == wanted) return true;
        }
        return false;
    }

    std::int32_t number(unsigned name) const {
        std::int32_t value = 0;
        GetIntegerv(name, &value);
        return value;
    }

    bool is_linked(unsigned program) const {
        std::int32_t linked = 0;
        GetProgramiv(program, kLinkStatus, &linked);
        return linked != 0;
    }

    // Whether the driver accepts an entry. REQUIRES: the crash note is made.
    bool give(unsigned program, Bytes entry) const {
        if (entry.size() <= kFormatSize || entry.size() > INT32_MAX) return false;
        const auto format = get_le<std::uint32_t>(entry, 0);
        // Anything else would be an error of GL's.
        if (std::find(formats.begin(), formats.end(), static_cast<std::int32_t>(format)) ==
            formats.end())
            return false;
        ProgramBinary(program, format, entry.data() + kFormatSize,
                      static_cast<std::int32_t>(entry.size() - kFormatSize));
        if (is_linked(program)) return true;
        // A few at most: without a context, there is an error each time that one asks.
        for (int i = 0; i < 8 && GetError() != 0; ++i) {
        }
        return false;
    }

    // The entry of a program; empty: it is not linked, or the driver gives no binary of it.
    std::vector<std::byte> take(unsigned program) const {
        std::int32_t size = 0;
        if (is_linked(program)) GetProgramiv(program, kBinaryLength, &size);
        if (size <= 0) return {};
        std::vector<std::byte> entry(kFormatSize + static_cast<std::size_t>(size));
        std::int32_t written = 0;
        unsigned format = 0;
        GetProgramBinary(program, size, &written, &format, entry.data() + kFormatSize);
        if (written <= 0) return {};
        put_le(MutableBytes(entry), 0, std::uint32_t{format});
        entry.resize(kFormatSize + static_cast<std::size_t>(written));
        return entry;
    }

    const unsigned char *(*GetString)(unsigned name) = nullptr;
    const unsigned char *(*GetStringi)(unsigned name, unsigned index) = nullptr;
    void (*GetIntegerv)(unsigned name, std::int32_t *values) = nullptr;
    unsigned (*GetError)() = nullptr;
    void (*GetProgramiv)(unsigned program, unsigned name, std::int32_t *value) = nullptr;
    void (*ProgramParameteri)(unsigned program, unsigned name, std::int32_t value) = nullptr;
    void (*ProgramBinary)(unsigned program, unsigned format, const void *binary,
                          std::int32_t size) = nullptr;
    void (*GetProgramBinary)(unsigned program, std::int32_t capacity, std::int32_t *size,
                             unsigned *format, void *binary) = nullptr;
    bool is_es = false;
    int version = 0;  // 32 is version 3.2
    std::vector<std::int32_t> formats;
};

GlPrograms::GlPrograms(std::unique_ptr<const Driver> driver) : driver_(std::move(driver)) {}
GlPrograms::~GlPrograms() = default;

Result<std::unique_ptr<GlPrograms>> GlPrograms::find(GetProcAddress get) {
    auto driver = std::make_unique<Driver>();
    if (!driver->find_core(get)) return Error::unsupported;
    driver->find_binaries(get);
    return std::unique_ptr<GlPrograms>(new GlPrograms(std::move(driver)));
}

bool GlPrograms::has_binaries() const {
    return !driver_->formats.empty();
}

std::string GlPrograms::identity() const {
    std::string all;
    for (const unsigned name : {kRenderer, kVendor, kVersion, kShadingLanguageVersion}) {
        all.append(text(driver_->GetString(name))).append("\n");
    }
    if (driver_->is_es || driver_->version < 32) return all;
    for (const unsigned name : {kProfileMask, kContextFlags}) {
        all.append(std::to_string(driver_->number(name))).append("\n");
    }
    return all;
}

Result<bool> GlPrograms::load(Cache &cache, unsigned program, ProgramKey key, Link &link) {
    if (!has_binaries()) return false;
    link.key = key.finish();
    auto loaded = guarded([&]() -> Result<bool> {
        auto found = cache.get(link.key);
        if (!found.ok() || !*found) {
            ++counts_.missed;
            return found.ok() ? Result<bool>(false) : found.error();
        }
        const std::uint32_t ticket = cache.begin_use(link.key);
        const bool is_accepted = driver_->give(program, (*found)->value());
        cache.end_use(ticket);
        ++(is_accepted ? counts_.loaded : counts_.refused);
        if (!is_accepted) (void)cache.remove(link.key);
        return is_accepted;
    });
    const bool is_linked = loaded.ok() && *loaded;
    if (!is_linked && driver_->ProgramParameteri != nullptr)
        driver_->ProgramParameteri(program, kRetrievableHint, 1);
    link.begin_ns = monotonic_ns();
    return loaded;
}

Result<std::optional<PutOutcome>> GlPrograms::store(Cache &cache, unsigned program,
                                                    const Link &link) {
    if (!has_binaries()) return Error::unsupported;
    if (link.begin_ns == 0) return Error::invalid_argument;
    const std::uint64_t cost_us = (monotonic_ns() - link.begin_ns) / 1000;
    auto outcome = guarded([&]() -> Result<std::optional<PutOutcome>> {
        const std::vector<std::byte> entry = driver_->take(program);
        if (entry.empty()) return std::optional<PutOutcome>();
        if (entry.size() > kValueSizeMax) return Error::invalid_argument;
        PutOptions options;
        options.cost_us = static_cast<std::uint32_t>(std::min<std::uint64_t>(cost_us, UINT32_MAX));
        TRY_ASSIGN(const PutOutcome put, cache.put(link.key, entry, options));
        return std::optional(put);
    });
    const bool is_stored = outcome.ok() && *outcome == PutOutcome::stored;
    if (!outcome.ok() || *outcome) ++(is_stored ? counts_.stored : counts_.store_failed);
    return outcome;
}

}  // namespace cairn
