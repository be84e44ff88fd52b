// SPDX-License-Identifier: MIT
// The control of the caches below a root (cairn_control.h), for commands.
// Thread safety: externally synchronised.
// Failure: a Failure with the library's own explanation.
#pragma once

#include <cairn/cairn_control.h>

#include <memory>
#include <string>

#include "caches.h"

namespace cairn::cli {

class Control {
  public:
    enum class Use { look, change };  // looking creates nothing

    Control(const std::string &root, Use use);

    uint32_t disabled() const { return cairn_control_disabled(control_.get()); }
    bool is_developer_mode() const { return cairn_control_developer_mode(control_.get()) != 0; }
    // Returns the kinds that were so already.
    uint32_t apply(uint32_t kinds, uint32_t flags);
    // What the library warned of while it did it; empty: nothing.
    const std::string &warning() const { return log_->first_line; }

  private:
    std::unique_ptr<CacheLog> log_;
    std::unique_ptr<cairn_control, decltype(&cairn_control_close)> control_;
};

}  // namespace cairn::cli
