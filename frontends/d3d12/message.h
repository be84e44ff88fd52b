// The messages of D3D12's debug layer that are about shader caches (d3d12sdklayers.h).
// SPDX-License-Identifier: MIT
#pragma once

namespace cairn::d3d12 {

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

}  // namespace cairn::d3d12
