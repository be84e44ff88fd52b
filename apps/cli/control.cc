// SPDX-License-Identifier: MIT
#include "control.h"

#include <fmt/format.h>

#include "failure.h"

namespace cairn::cli {

Control::Control(const std::string &root, Use use)
    : log_(std::make_unique<CacheLog>()), control_(nullptr, cairn_control_close) {
    cairn_control_options options = {};
    options.size = sizeof options;
    options.root = root.c_str();
    options.flags = use == Use::look ? uint32_t{CAIRN_CONTROL_OPEN_READ_ONLY} : 0;
    options.log = keep_first_line;
    options.log_user = log_.get();
    cairn_control *control = nullptr;
    const int result = cairn_control_open(&options, &control);
    control_.reset(control);
    if (result != CAIRN_OK) {
        throw Failure(kExitFailure,
                      fmt::format("cannot control the caches: {}", cairn_result_string(result)));
    }
}

uint32_t Control::apply(uint32_t kinds, uint32_t flags) {
    // What was said when it was opened is not the reason.
    log_->first_line.clear();
    uint32_t unchanged = 0;
    const int result = cairn_control_apply(control_.get(), kinds, flags, &unchanged);
    if (result != CAIRN_OK) {
        throw Failure(kExitFailure, log_->first_line.empty()
                                        ? fmt::format("cannot control the caches: {}",
                                                      cairn_result_string(result))
                                        : log_->first_line);
    }
    return unchanged;
}

}  // namespace cairn::cli
