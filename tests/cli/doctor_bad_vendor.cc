// SPDX-License-Identifier: MIT
// A library that GLVND loads as a driver for EGL, and that does harm to its process at once, as DOCTOR_VENDOR says:
// "abort", "hang", or "abort-behind", which is to abort only where Cairn's front end serves.
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace {

__attribute__((constructor)) void do_harm() {
    const char *value = std::getenv("DOCTOR_VENDOR");
    const std::string_view harm = value == nullptr ? "" : value;
    if (harm == "hang") ::sleep(60);
    if (harm == "abort") std::abort();
    if (harm == "abort-behind" && std::getenv("CAIRN_DISABLE") == nullptr) std::abort();
}

}  // namespace
