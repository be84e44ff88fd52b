// SPDX-License-Identifier: MIT
#include "intake.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <string_view>

namespace cairn::dashboard {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBadRequest = 400;
constexpr int kTooLarge = 413;
constexpr int kHeadTooLarge = 431;

// False: nothing came (could be written) in time.
bool wait_for(int connection, short event, Clock::time_point deadline) {
    for (;;) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
        if (left.count() <= 0) return false;
        pollfd poll_for = {connection, event, 0};
        const int ready = ::poll(&poll_for, 1, static_cast<int>(left.count()) + 1);
        if (ready > 0) return true;
        if (ready < 0 && errno != EINTR) return false;
    }
}

bool is_same_name(std::string_view a, std::string_view b) {
    return std::ranges::equal(
        a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

// What the head says of the body; nullopt where it is none that a browser sends.
std::optional<std::size_t> body_size(std::string_view head) {
    std::optional<std::size_t> size;
    for (std::size_t at = head.find("\r\n"); at != std::string_view::npos;) {
        const std::size_t end = std::min(head.find("\r\n", at + 2), head.size());
        const std::string_view line = head.substr(at + 2, end - at - 2);
        at = end == head.size() ? std::string_view::npos : end;
        const std::size_t colon = line.find(':');
        // A line that goes on the one before it is read differently by different programs, too.
        if (colon == std::string_view::npos || line.starts_with(' ') || line.starts_with('\t')) {
            return std::nullopt;
        }
        const std::string_view name = line.substr(0, colon);
        const std::string_view value = trimmed(line.substr(colon + 1));
        if (is_same_name(name, "Transfer-Encoding") || is_same_name(name, "Expect")) {
            return std::nullopt;
        }
        if (!is_same_name(name, "Content-Length")) continue;
        std::size_t number = 0;
        const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
        const bool is_number = read.ec == std::errc() && read.ptr == value.data() + value.size();
        if (!is_number || size) return std::nullopt;
        size = number;
    }
    return size.value_or(0);
}

}  // namespace

Extent extent_of(const std::string &request) {
    const std::size_t end = request.find("\r\n\r\n");
    const std::size_t head_bytes = end == std::string::npos ? request.size() : end;
    const std::string_view head(request.data(), head_bytes);
    const auto lines = static_cast<std::size_t>(std::ranges::count(head, '\n'));
    if (head_bytes > kHeadBytesMax || lines > kHeadLinesMax) return {false, kHeadTooLarge};
    if (end == std::string::npos) return {};
    if (head.find('\0') != std::string_view::npos) return {false, kBadRequest};
    const auto size = body_size(head);
    if (!size) return {false, kBadRequest};
    if (*size > kBodyBytesMax) return {false, kTooLarge};
    return {request.size() >= end + 4 + *size, 0};
}

std::optional<Intake::Taken> Intake::take(int connection) {
    const Clock::time_point deadline = Clock::now() + patience_;
    std::list<Sender>::iterator place;
    {
        const MutexLock lock(mutex_);
        if (senders_.size() >= places_) {
            senders_.front().is_dropped = true;
            (void)::shutdown(senders_.front().connection, SHUT_RDWR);
            dropped_.splice(dropped_.end(), senders_, senders_.begin());
        }
        place = senders_.insert(senders_.end(), {connection});
    }
    std::optional<Taken> taken = Taken();
    Extent extent;
    while (!extent.is_whole && extent.refused == 0) {
        std::array<char, 4096> bytes;
        const ssize_t got = wait_for(connection, POLLIN, deadline)
                                ? ::recv(connection, bytes.data(), bytes.size(), MSG_DONTWAIT)
                                : -1;
        if (got < 0 && (errno == EAGAIN || errno == EINTR) && Clock::now() < deadline) continue;
        if (got <= 0) {
            taken = std::nullopt;
            break;
        }
        taken->request.append(bytes.data(), static_cast<std::size_t>(got));
        extent = extent_of(taken->request);
        taken->refused = extent.refused;
    }
    const MutexLock lock(mutex_);
    (place->is_dropped ? dropped_ : senders_).erase(place);
    return taken;
}

std::size_t Intake::senders() {
    const MutexLock lock(mutex_);
    return senders_.size();
}

bool Intake::give(int connection, const char *data, std::size_t size) const {
    const Clock::time_point deadline = Clock::now() + patience_;
    while (size > 0) {
        const ssize_t put = ::send(connection, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (put > 0) {
            data += put;
            size -= static_cast<std::size_t>(put);
            continue;
        }
        const bool may_go_on = put < 0 && (errno == EAGAIN || errno == EINTR);
        if (!may_go_on || !wait_for(connection, POLLOUT, deadline)) return false;
    }
    return true;
}

}  // namespace cairn::dashboard
