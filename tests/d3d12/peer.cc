// SPDX-License-Identifier: MIT
#include "d3d12/peer.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>

#include "support/files.h"

namespace d3d12_test {
namespace {

void wait_a_moment() {
    const timespec moment = {0, 500'000};
    nanosleep(&moment, nullptr);
}

// Nothing is read-only for root.
bool become_nobody(const std::string &top) {
    constexpr uid_t kNobody = 65534;
    chmod(top.c_str(), 0755);
    for (const auto &entry : std::filesystem::recursive_directory_iterator(top)) {
        if (chown(entry.path().c_str(), kNobody, kNobody) != 0) return false;
    }
    return setresuid(kNobody, kNobody, kNobody) == 0;
}

}  // namespace

HRESULT in_other_process(const std::function<HRESULT()> &body) {
    const cairn_test::Shared<std::atomic<HRESULT>> result;
    *result = kFail;
    cairn_test::Child child([&] {
        *result = body();
        return 0;
    });
    return child.wait() == 0 ? result->load() : kFail;
}

HRESULT where_reading_only(const std::string &root, const std::string &cache,
                           const std::function<HRESULT()> &body) {
    return in_other_process([&] {
        if (geteuid() == 0 && !become_nobody(root + "/..")) return kInvalidCall;
        const std::string folders[] = {cache, cairn_test::store_files(cache)};
        for (const std::string &file : cairn_test::files_in(cache)) chmod(file.c_str(), 0400);
        for (const std::string &folder : folders) chmod(folder.c_str(), 0500);
        const HRESULT result = body();
        for (const std::string &folder : folders) chmod(folder.c_str(), 0700);
        return result;
    });
}

Peer::Peer(const std::function<HRESULT()> &begin, const std::function<HRESULT()> &end) {
    child_ = cairn_test::Child([&] {
        state_->begin_result = begin();
        state_->begun = true;
        while (!state_->may_end) {
            wait_a_moment();
        }
        state_->end_result = end();
        return 0;
    });
}

HRESULT Peer::begun() {
    while (!state_->begun && !child_.ended()) {
        wait_a_moment();
    }
    return state_->begun ? state_->begin_result.load() : kFail;
}

HRESULT Peer::finish() {
    state_->may_end = true;
    return child_.wait() == 0 ? state_->end_result.load() : kFail;
}

}  // namespace d3d12_test
