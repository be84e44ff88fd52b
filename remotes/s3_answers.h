// What S3 answers: the XML of a page of a listing and of a mistake, and what a mistake means here.
// SPDX-License-Identifier: MIT
//
// Thread safety: pure functions.
// Failure: XML that makes no sense, or declares entities, gives nullopt. Whatever else is in it is ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "remotes/remote.h"

namespace cairn::remotes {

struct S3Page {
    struct Object {
        std::string key;
        std::optional<std::int64_t> modified_s;  // since 1970
    };
    std::vector<Object> objects;
    std::vector<std::string> prefixes;  // of folders, each with a slash at its end
    // Of the next page; empty: this is the last one.
    std::string continuation;
};
std::optional<S3Page> parse_s3_page(std::string_view xml);

// The code in an answer that tells of a mistake, such as `NoSuchKey`; "" where there is none that may be
// shown to people.
std::string s3_error_code(std::string_view xml);

struct S3Mistake {
    Trouble trouble;
    std::string advice;  // may be empty
};
// `origin` tells where the credentials are from.
S3Mistake s3_mistake(long status, const std::string &code, const std::string &origin);

}  // namespace cairn::remotes
