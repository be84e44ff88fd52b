// Shaders that several scenarios use.
// SPDX-License-Identifier: MIT
#pragma once

namespace client {

inline constexpr const char *kVertex = R"(#version 300 es
in vec2 corner;
out vec2 place;
void main() { place = corner; gl_Position = vec4(corner, 0.0, 1.0); }
)";

inline constexpr const char *kFragment = R"(#version 300 es
precision highp float;
in vec2 place;
uniform vec4 tint;
out vec4 color;
void main() { color = tint + vec4(place * 0.25 + 0.5, 0.5, 1.0); }
)";

// The same interface, another picture.
inline constexpr const char *kOtherFragment = R"(#version 300 es
precision highp float;
in vec2 place;
uniform vec4 tint;
out vec4 color;
void main() { color = tint.wzyx + vec4(0.25, place * 0.5 + 0.5, 1.0); }
)";

inline constexpr const char *kPlainFragment = R"(#version 300 es
precision highp float;
out vec4 color;
void main() { color = vec4(0.0, 1.0, 0.5, 1.0); }
)";

inline constexpr const char *kCoreVertex = R"(#version 430 core
layout(location = 0) in vec2 corner;
out vec2 place;
void main() { place = corner; gl_Position = vec4(corner, 0.0, 1.0); }
)";

// Of the first version of the language, which contexts without attributes have, too.
inline constexpr const char *kOldestVertex =
    "attribute vec2 corner; varying vec2 place;\n"
    "void main() { place = corner; gl_Position = vec4(corner, 0.0, 1.0); }\n";
inline constexpr const char *kOldestFragment =
    "varying vec2 place; uniform float level;\n"
    "void main() { gl_FragColor = vec4(place * 0.5 + 0.5, level, 1.0); }\n";

// Assembly of GL_ARB_fragment_program.
inline constexpr const char *kAssembly =
    "!!ARBfp1.0\n"
    "MOV result.color, { 0.5, 0.25, 1.0, 1.0 };\n"
    "END\n";

}  // namespace client
