// What makes each engine, for open_remote() alone.
// SPDX-License-Identifier: MIT
//
// Thread safety: any thread may open a remote. Failure: a RemoteFailure for a URL that the engine cannot
// serve.
#pragma once

#include <memory>

#include "remotes/remote.h"
#include "remotes/url.h"

namespace cairn::remotes {

std::unique_ptr<Remote> open_file(const Url &url, const Limits &limits);
std::unique_ptr<Remote> open_http(const Url &url, const Limits &limits);
std::unique_ptr<Remote> open_s3(const Url &url, const Limits &limits);
std::unique_ptr<Remote> open_redis(const Url &url, const Limits &limits);

}  // namespace cairn::remotes
