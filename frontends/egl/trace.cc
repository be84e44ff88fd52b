// SPDX-License-Identifier: MIT
#include "trace.h"

#include <cerrno>

#include "base/bytes.h"
#include "os/text_file.h"
#include "settings.h"

namespace cairn::egl {

void trace_entry(std::string_view key, size_t size_bytes, uint64_t cost_ns) {
    const std::string &path = settings().trace;
    if (path.empty()) {
        return;
    }
    const int saved_errno = errno;
    constexpr size_t kKeySizeMax = 32;
    append_to_file(path, hexadecimal(as_bytes(key.substr(0, kKeySizeMax))) + " " +
                             std::to_string(size_bytes) + " " + std::to_string(cost_ns / 1000) +
                             "\n");
    errno = saved_errno;
}

}  // namespace cairn::egl
