// SPDX-License-Identifier: MIT
#include "os/event.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "os/environment.h"

namespace cairn {
namespace {

constexpr std::size_t kOthersMax = 7;
constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
// A process may not be allowed to wait for descriptors, as with a limit of none set after they were
// opened. It looks that often.
constexpr std::uint64_t kBlindUs = 10'000;

void take_from(int fd) {
    std::uint64_t taken = 0;
    (void)!::read(fd, &taken, sizeof taken);
}

}  // namespace

Result<Event> Event::make() {
    UniqueFd fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!fd.valid()) return error_from_errno(errno);
    return Event(std::move(fd));
}

void Event::signal() const {
    const std::uint64_t one = 1;
    (void)!::write(fd_.get(), &one, sizeof one);
}

void Event::wait_until(std::uint64_t deadline_ns, std::span<Other> others) const {
    std::array<pollfd, kOthersMax + 1> polled = {};
    const std::size_t count = std::min(others.size(), kOthersMax);
    polled[0] = {fd_.get(), POLLIN, 0};
    for (std::size_t i = 0; i < count; ++i) {
        const short events = others[i].kind == Other::Kind::readable ? POLLIN : POLLPRI;
        polled[i + 1] = {others[i].ended ? -1 : others[i].fd, events, 0};
    }
    const std::uint64_t now = monotonic_ns();
    const std::uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
    const timespec timeout = {static_cast<time_t>(left / kNsPerSecond),
                              static_cast<long>(left % kNsPerSecond)};
    const int seen_count =
        ::ppoll(polled.data(), count + 1, deadline_ns == UINT64_MAX ? nullptr : &timeout, nullptr);
    if (seen_count < 0) sleep_us(static_cast<unsigned>(std::min(left / 1000, kBlindUs)));
    if (polled[0].revents != 0) take_from(fd_.get());
    for (std::size_t i = 0; i < count; ++i) {
        const pollfd &seen = polled[i + 1];
        // With a change of a file of a cgroup the kernel says POLLERR, too.
        const short end =
            others[i].kind == Other::Kind::changed ? POLLNVAL : POLLERR | POLLNVAL | POLLHUP;
        if ((seen.revents & end) != 0) others[i].ended = true;
        others[i].happened = !others[i].ended && (seen.revents & seen.events) != 0;
        if (others[i].happened && others[i].kind == Other::Kind::readable) take_from(seen.fd);
    }
}

// write(2) and not pwrite(2), which the kernel refuses for some of these files.
Result<UniqueFd> open_trigger(const std::string &path, const std::string &text) {
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
    if (!fd.valid()) return error_from_errno(errno);
    if (text.empty()) return fd;
    const ssize_t written = ::write(fd.get(), text.c_str(), text.size() + 1);
    if (written < 0) return error_from_errno(errno);
    return fd;
}

}  // namespace cairn
