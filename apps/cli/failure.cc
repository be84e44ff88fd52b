// SPDX-License-Identifier: MIT
#include "failure.h"

#include <system_error>

namespace cairn::cli {

std::string error_text(int error_number) {
    return std::generic_category().message(error_number);
}

}  // namespace cairn::cli
