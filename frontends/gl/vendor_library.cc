// SPDX-License-Identifier: MIT
#include "vendor_library.h"

#include <dlfcn.h>

namespace cairn::gl {

void *function_in(const std::string &file, const char *name, Severity severity) {
    void *library = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) {
        log().write(severity, "vendor %s", dlerror());  // begins with the file
        return nullptr;
    }
    return dlsym(library, name);
}

}  // namespace cairn::gl
