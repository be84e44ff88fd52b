// The settings of cairn_d3d12_options: where caches are, for which adapter, and who gets messages.
// SPDX-License-Identifier: MIT
//
// Thread safety: constant after construction; the functions in it are the caller's.
// Failure: null where the options cannot be: they are of an unknown size, the root is no absolute
// path, or the application no name.
#pragma once

#include <cairn/cairn_d3d12.h>

#include <memory>
#include <optional>
#include <string>

#include "adapter.h"
#include "key_hash.h"
#include "message.h"

namespace cairn::d3d12 {

struct Setting {
    std::string root;  // never empty, but where the user has no home directory
    std::optional<std::string> application;  // "": all programs share their disk caches
    AdapterNames names;
    cairn_d3d12_message_fn message = nullptr;
    cairn_log_fn log = nullptr;
    void *user = nullptr;
    KeyHashFunction hash = hash_key;

    void say(Message id) const;
};
using SettingRef = std::shared_ptr<const Setting>;

// Both may be null. The device is asked for the names that the options do not give.
SettingRef read_setting(const cairn_d3d12_options *options, void *device);

// For tests: the hash that settings read from now on have; null: the right one.
void set_hash_for_tests(KeyHashFunction hash);

}  // namespace cairn::d3d12
