// The settings of cairn_d3d12_options: where caches are, for which adapter, and who gets which
// messages.
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
#include "entry.h"

namespace cairn::d3d12 {

// The messages of D3D12's debug layer that are about shader caches (d3d12sdklayers.h).
enum class Message {
    session_created = 1280,            // CREATE_SHADERCACHESESSION
    session_destroyed = 1282,          // DESTROY_SHADERCACHESESSION
    create_invalid_arguments = 1283,   // CREATESHADERCACHESESSION_INVALIDARGS
    create_disabled = 1284,            // CREATESHADERCACHESESSION_DISABLED
    create_already_open = 1285,        // CREATESHADERCACHESESSION_ALREADYOPEN
    control_developer_mode = 1286,     // SHADERCACHECONTROL_DEVELOPERMODE
    control_invalid_flags = 1287,      // SHADERCACHECONTROL_INVALIDFLAGS
    control_state_already_set = 1288,  // SHADERCACHECONTROL_STATEALREADYSET
    store_already_present = 1290,      // SHADERCACHESESSION_STOREVALUE_ALREADYPRESENT
    hash_collision = 1291,             // SHADERCACHESESSION_STOREVALUE_HASHCOLLISION
    store_cache_full = 1292,           // SHADERCACHESESSION_STOREVALUE_CACHEFULL
    find_not_found = 1293,             // SHADERCACHESESSION_FINDVALUE_NOTFOUND
    corrupt = 1294,                    // SHADERCACHESESSION_CORRUPT
    disabled = 1295,                   // SHADERCACHESESSION_DISABLED
    delete_not_supported = 1326,       // SHADERCACHESESSION_SHADERCACHEDELETE_NOTSUPPORTED
};

struct MessageRow {
    Message id;
    int severity;      // a CAIRN_LOG_...
    const char *text;  // says what happened and, if the reader can do something, what to do
};
// Without text for an unknown message.
MessageRow row_of(Message id);

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
