// An agent of the user that says other machines have an entry, and never answers when it is asked.
// SPDX-License-Identifier: MIT
//
// Thread safety: externally synchronised. Failure: aborts where it cannot listen; what else fails is
// seen in that nobody asks.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace gl_test {

class SilentAgent {
  public:
    // Of the cache `identifier` below `root`; the entry's key. Listens below `runtime_folder`.
    SilentAgent(const std::string &root, const std::string &identifier,
                std::span<const uint8_t> key, const std::string &runtime_folder);
    ~SilentAgent();
    SilentAgent(const SilentAgent &) = delete;
    SilentAgent &operator=(const SilentAgent &) = delete;

    int questions() const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace gl_test
