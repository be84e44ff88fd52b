// Mistakes that do not compile. Each is compiled twice: without it, and with it as MISUSE.
// SPDX-License-Identifier: MIT
#include "gl/requests.h"

#ifndef MISUSE
#define MISUSE 0
#endif

namespace cairn::gl {

struct Forgetful {
    static constexpr const char *kDomain = "test/1";
    Hashed<Tag::traits, Key> traits;
    Hashed<Tag::identity, std::string_view> identity;
    Hashed<Tag::type, GLenum> type;
#if MISUSE == 1
    GLenum forgotten;  // neither Hashed nor Unhashed
#else
    Hashed<Tag::flags, GLenum> forgotten;
#endif
};

Key key_of_forgetful(const Forgetful &request) {
    return key_of(request);
}

Forgetful without_a_member(const Key &traits) {
#if MISUSE == 2
    return {.traits = traits, .identity = std::string_view(), .type = GL_VERTEX_SHADER};
#else
    return {.traits = traits,
            .identity = std::string_view(),
            .type = GL_VERTEX_SHADER,
            .forgotten = 0u};
#endif
}

GLenum answer(const Forgetful &request, [[maybe_unused]] GLenum outside) {
#if MISUSE == 3
    return make_anew(request, [outside](const Forgetful &) { return outside; });
#else
    return make_anew(
        request, +[](const Forgetful &inside) { return *inside.type; });
#endif
}

struct Pointing {
    static constexpr const char *kDomain = "test/1";
    Hashed<Tag::traits, Key> traits;
    Hashed<Tag::identity, std::string_view> identity;
    Hashed<Tag::type, GLenum> type;
#if MISUSE == 4
    Hashed<Tag::source, const GLenum *> pointer;  // whose value is another in each process
#else
    Hashed<Tag::source, std::span<const GLenum> > pointer;
#endif
};

Key key_of_pointing(const Pointing &request) {
    return key_of(request);
}

}  // namespace cairn::gl
