// SPDX-License-Identifier: MIT
#include "per_process.h"

#include <sys/mman.h>
#include <unistd.h>

namespace cairn::d3d12 {
namespace {

using Word = std::atomic<uint64_t>;

constexpr size_t kSize = 4096;

// A page that the kernel wipes in a child. Null: it cannot be had.
Word *wiped_on_fork() {
    void *page = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        return nullptr;
    }
    if (madvise(page, kSize, MADV_WIPEONFORK) != 0) {
        munmap(page, kSize);
        return nullptr;
    }
    return static_cast<Word *>(page);
}

// Constant initialisation, and no lock that a child might find held.
constinit std::atomic<Word *> the_word = nullptr;
constinit Word generation = 0;  // copied by fork(): a child goes on counting from its parent's

Word *word() {
    Word *now = the_word.load(std::memory_order_acquire);
    if (now != nullptr) {
        return now;
    }
    Word *made = wiped_on_fork();
    if (made == nullptr || the_word.compare_exchange_strong(now, made)) {
        return made;
    }
    munmap(static_cast<void *>(made), kSize);
    return now;
}

}  // namespace

uint64_t process_number() {
    Word *number = word();
    if (number == nullptr) {
        return static_cast<uint64_t>(getpid());
    }
    uint64_t now = number->load(std::memory_order_acquire);
    if (now == 0) {
        const uint64_t next = ++generation;
        now = number->compare_exchange_strong(now, next) ? next : now;
    }
    return now;
}

}  // namespace cairn::d3d12
