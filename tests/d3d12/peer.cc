// SPDX-License-Identifier: MIT
#include "d3d12/peer.h"

#include <time.h>
#include <unistd.h>

namespace d3d12_test {
namespace {

constexpr HRESULT kFail = static_cast<HRESULT>(0x80004005);

void wait_a_moment() {
    const timespec moment = {0, 500'000};
    nanosleep(&moment, nullptr);
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
