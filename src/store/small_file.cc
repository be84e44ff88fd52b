// SPDX-License-Identifier: MIT
#include "store/small_file.h"

#include <string>

#include "store/space.h"

namespace cairn {

Status make_small_file(const Directory &directory, const char *name, Bytes head,
                       std::uint64_t size) {
    const std::string temporary = temporary_name(name);
    const auto created = directory.create_file(temporary);
    if (!created.ok()) {
        (void)directory.remove_file(temporary);  // it may be there all the same
        return created.error();
    }
    const File &file = created.value();
    Status made = file.extend(size);
    if (made.ok()) made = file.write_whole(head);
    if (made.ok()) {
        made = directory.rename(temporary, name);
        if (!made.ok() && directory.make_way(name).ok()) made = directory.rename(temporary, name);
    }
    if (!made.ok()) (void)directory.remove_file(temporary);
    return made;
}

}  // namespace cairn
