// SPDX-License-Identifier: MIT
#include "shader_hooks.h"

#include <algorithm>
#include <cstring>

namespace cairn::egl {

bool answer_parameter(Shader &shader, void (*query)(GLuint, GLenum, GLint *), GLenum name,
                      GLint *value) {
    const MutexLock lock(shader.mutex);
    if (shader.state != Shader::State::deferred || value == nullptr) {
        return false;
    }
    switch (name) {
        case GL_COMPILE_STATUS:
            *value = GL_TRUE;
            return true;
        case GL_INFO_LOG_LENGTH:
            *value = shader.log_length;
            return true;
        case GL_COMPLETION_STATUS_KHR: {
            // There is nothing to wait for; but a driver without the extension reports an error,
            // and gives no value.
            GLint answer = -1;
            query(shader.name, name, &answer);
            *value = answer == -1 ? *value : GL_TRUE;
            return true;
        }
        default:
            return false;
    }
}

void copy_log(const std::string &log, GLsizei capacity, GLsizei *size, GLchar *buffer) {
    size_t copied = 0;
    if (capacity > 0 && buffer != nullptr) {
        copied = std::min(log.size(), static_cast<size_t>(capacity) - 1);
        memcpy(buffer, log.data(), copied);
        buffer[copied] = '\0';
    }
    if (size != nullptr) {
        *size = static_cast<GLsizei>(copied);
    }
}

bool answer_info_log(Shader &shader, GLsizei capacity, GLsizei *size, GLchar *log) {
    const MutexLock lock(shader.mutex);
    // A negative capacity is an error, which is the driver's to report.
    if (shader.state != Shader::State::deferred || capacity < 0) {
        return false;
    }
    copy_log(shader.log, capacity, size, log);
    return true;
}

}  // namespace cairn::egl
