// SPDX-License-Identifier: MIT
#include "program.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace cairn::warm {
namespace {

// Takes the arguments of a call apart: numbers of 64 bits, and texts with a zero behind them.
class Arguments {
  public:
    explicit Arguments(std::string_view bytes) : rest_(bytes) {}

    uint64_t number() {
        uint64_t value = 0;
        if (rest_.size() < sizeof value) {
            is_good_ = false;
            return 0;
        }
        std::memcpy(&value, rest_.data(), sizeof value);
        rest_.remove_prefix(sizeof value);
        return value;
    }
    // Valid as long as the bytes.
    const char *text() {
        const size_t end = rest_.find('\0');
        if (end == std::string_view::npos) {
            is_good_ = false;
            return "";
        }
        const char *text = rest_.data();
        rest_.remove_prefix(end + 1);
        return text;
    }
    bool is_good() const { return is_good_; }

  private:
    std::string_view rest_;
    bool is_good_ = true;
};

void set_varyings(GLuint program, Arguments &arguments) {
    const auto mode = static_cast<GLenum>(arguments.number());
    const uint64_t count = arguments.number();
    std::vector<const char *> names;
    while (names.size() < count && arguments.is_good()) names.push_back(arguments.text());
    if (!arguments.is_good()) return;
    gl.TransformFeedbackVaryings(program, static_cast<GLsizei>(names.size()), names.data(), mode);
}

void set(GLuint program, const recipe::Setting &setting) {
    Arguments arguments(setting.arguments);
    const auto kind = static_cast<recipe::SettingKind>(setting.kind);
    if (kind == recipe::SettingKind::transform_feedback) return set_varyings(program, arguments);
    const uint64_t number = arguments.number();
    const auto low = static_cast<GLuint>(number);
    if (kind == recipe::SettingKind::parameter) {
        const uint64_t value = arguments.number();
        if (arguments.is_good()) gl.ProgramParameteri(program, low, static_cast<GLint>(value));
        return;
    }
    const char *name = arguments.text();
    if (!arguments.is_good()) return;
    if (kind == recipe::SettingKind::attribute_location) {
        gl.BindAttribLocation(program, low, name);
    } else if (kind == recipe::SettingKind::fragment_location && number >> 32 != 0) {
        gl.BindFragDataLocationIndexed(program, low, static_cast<GLuint>(number >> 32), name);
    } else if (kind == recipe::SettingKind::fragment_location) {
        gl.BindFragDataLocation(program, low, name);
    }
}

std::string first_line(const std::array<char, 512> &log, const char *otherwise) {
    const std::string_view text = log.data();
    const std::string_view line = text.substr(0, text.find_first_of("\r\n"));
    return line.empty() ? otherwise : std::string(line);
}

// Attaches a shader of this source. False: it does not compile.
bool attach(GLuint program, GLenum type, const recipe::Source &source, std::string &problem) {
    const GLuint shader = gl.CreateShader(type);
    if (shader == 0) {
        problem = "there are no shaders of this type";
        return false;
    }
    std::vector<const char *> strings;
    std::vector<GLint> sizes;
    for (const std::string &text : source) {
        strings.push_back(text.data());
        sizes.push_back(static_cast<GLint>(text.size()));
    }
    gl.ShaderSource(shader, static_cast<GLsizei>(strings.size()), strings.data(), sizes.data());
    gl.CompileShader(shader);
    GLint compiled = GL_FALSE;
    gl.GetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
    if (compiled == GL_FALSE) {
        std::array<char, 512> log = {};
        gl.GetShaderInfoLog(shader, log.size(), nullptr, log.data());
        problem = first_line(log, "a shader does not compile");
    }
    gl.AttachShader(program, shader);
    gl.DeleteShader(shader);
    return compiled != GL_FALSE;
}

Made checked(GLuint program) {
    GLint linked = GL_FALSE;
    if (program != 0) gl.GetProgramiv(program, GL_LINK_STATUS, &linked);
    if (linked != GL_FALSE) return {program, ""};
    std::array<char, 512> log = {};
    if (program != 0) gl.GetProgramInfoLog(program, log.size(), nullptr, log.data());
    gl.DeleteProgram(program);
    return {0, first_line(log, "the program does not link")};
}

}  // namespace

Made make_program(const recipe::Program &recipe, const std::vector<recipe::Source> &sources) {
    if (recipe.stages.size() != sources.size() || sources.empty()) {
        return {0, "the recipe is not whole"};
    }
    if (recipe.is_separable != 0) {
        std::vector<const char *> strings;
        for (const std::string &text : sources.front()) strings.push_back(text.c_str());
        return checked(gl.CreateShaderProgramv(
            recipe.stages.front().type, static_cast<GLsizei>(strings.size()), strings.data()));
    }
    const GLuint program = gl.CreateProgram();
    for (size_t i = 0; i < sources.size(); ++i) {
        std::string problem;
        if (attach(program, recipe.stages[i].type, sources[i], problem)) continue;
        gl.DeleteProgram(program);
        return {0, problem};
    }
    for (const recipe::Setting &setting : recipe.settings) set(program, setting);
    gl.LinkProgram(program);
    return checked(program);
}

}  // namespace cairn::warm
