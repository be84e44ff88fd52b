// SPDX-License-Identifier: MIT
#include "remotes/redis_nodes.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "remotes/failure.h"
#include "remotes/url.h"

namespace cairn::remotes {
namespace {

constexpr std::uint16_t kSlots = 16'384;
// A slot that moves redirects twice; servers that disagree could do it for ever.
constexpr int kRedirectionsMax = 8;
constexpr std::uint64_t kSmallAnswerMax = 64 << 10;

// CRC-16/XMODEM, whose polynomial is 0x1021.
std::uint16_t crc16(std::string_view text) {
    std::uint16_t sum = 0;
    for (const char c : text) {
        sum = static_cast<std::uint16_t>(sum ^ (static_cast<unsigned char>(c) << 8));
        for (int bit = 0; bit < 8; ++bit) {
            const bool is_high = (sum & 0x8000) != 0;
            sum = static_cast<std::uint16_t>(sum << 1);
            if (is_high) sum ^= 0x1021;
        }
    }
    return sum;
}

struct Redirection {
    bool is_ask;
    RedisNode node;
};

// `MOVED 3999 10.0.0.1:6381`, or ASK. The host may be missing: that of the one who says so.
std::optional<Redirection> redirection_of(const RedisReply &reply, const RedisNode &from) {
    const std::string code = reply.error_code();
    if (code != "MOVED" && code != "ASK") return std::nullopt;
    const std::size_t blank = reply.text.rfind(' ');
    const std::string_view place = std::string_view(reply.text).substr(blank + 1);
    const std::size_t colon = place.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    RedisNode node = {std::string(place.substr(0, colon)), 0};
    const std::string_view port = place.substr(colon + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), node.port);
    if (error != std::errc() || end != port.data() + port.size() || node.port == 0)
        return std::nullopt;
    if (node.host.empty() || node.host == "?") node.host = from.host;
    // An IPv6 address comes without brackets.
    if (node.host.find_first_not_of("0123456789abcdefABCDEF:.") != std::string::npos &&
        !parse_host_and_port(node.host)) {
        return std::nullopt;
    }
    return Redirection{code == "ASK", node};
}

}  // namespace

std::uint16_t redis_slot(std::string_view key) {
    const std::size_t open = key.find('{');
    if (open != std::string_view::npos) {
        const std::size_t close = key.find('}', open);
        if (close != std::string_view::npos && close > open + 1) {
            key = key.substr(open + 1, close - open - 1);
        }
    }
    return crc16(key) % kSlots;
}

void RedisNodes::fail_of_error(const RedisReply &reply, const std::string &origin) const {
    const std::string code = reply.error_code();
    const std::string used = " (credentials: " + origin + ")";
    if (code == "NOAUTH") {
        fail(Trouble::denied, settings_.remote, "it wants a password" + used);
    }
    if (code == "WRONGPASS") {
        fail(Trouble::denied, settings_.remote, "the user or the password is wrong" + used);
    }
    if (code == "NOPERM") {
        fail(Trouble::denied, settings_.remote, "this user may not do that" + used);
    }
    if (code == "OOM") {
        fail(Trouble::full, settings_.remote, "it has no memory left, by its `maxmemory`");
    }
    if (code == "MISCONF") {
        fail(Trouble::full, settings_.remote, "it takes nothing, as it cannot write to its disk");
    }
    if (code == "READONLY") {
        fail(Trouble::usage, settings_.remote,
             "it is a replica, which can only be read; use its master");
    }
    fail(Trouble::unreachable, settings_.remote,
         "it answers with an error" + (code.empty() ? "" : " " + code));
}

void RedisNodes::log_in(RedisConnection &connection, CallClock &clock) {
    const RedisCredentials credentials =
        find_redis_credentials(settings_.remote, settings_.credentials_file);
    origin_ = credentials.origin;
    if (!credentials.password.empty()) {
        RedisConnection::Command command = {"AUTH"};
        if (!credentials.user.empty()) command.push_back(credentials.user);
        command.push_back(credentials.password);
        const RedisReply reply = connection.ask(command, kSmallAnswerMax, clock, traffic_);
        // Old servers, and those without a password, call it ERR.
        if (reply.error_code() == "ERR") {
            fail(Trouble::denied, settings_.remote,
                 "it does not take the password, or has none (credentials: " + origin_ + ")");
        }
        if (reply.kind == RedisReply::Kind::error) fail_of_error(reply, origin_);
    }
    if (!settings_.database.empty() && settings_.database != "0") {
        const RedisReply reply =
            connection.ask({"SELECT", settings_.database}, kSmallAnswerMax, clock, traffic_);
        if (reply.error_code() == "ERR") {
            fail(Trouble::usage, settings_.remote, "it has no database of this number");
        }
        if (reply.kind == RedisReply::Kind::error) fail_of_error(reply, origin_);
    }
}

RedisConnection &RedisNodes::connection_to(const RedisNode &node, CallClock &clock) {
    const auto found = connections_.find(node);
    if (found != connections_.end() && !found->second.is_stale()) return found->second;
    if (found != connections_.end()) connections_.erase(found);
    RedisConnection connection(settings_.remote, node, limits_, clock);
    log_in(connection, clock);
    known_.insert(node);
    return connections_.emplace(node, std::move(connection)).first->second;
}

RedisReply RedisNodes::ask_node(const RedisNode &node, const RedisConnection::Command &command,
                                std::uint64_t answer_max, CallClock &clock, Asking asking) {
    try {
        RedisConnection &connection = connection_to(node, clock);
        if (asking == Asking::yes) {
            const RedisReply reply = connection.ask({"ASKING"}, kSmallAnswerMax, clock, traffic_);
            if (reply.kind == RedisReply::Kind::error) fail_of_error(reply, origin_);
        }
        return connection.ask(command, answer_max, clock, traffic_);
    } catch (...) {
        // Where an answer is still to come, the next question would get it.
        connections_.erase(node);
        throw;
    }
}

const RedisNode *RedisNodes::other_than(const std::set<RedisNode> &failed) const {
    const auto is_left = [&](const RedisNode &node) { return !failed.contains(node); };
    const auto seed = std::ranges::find_if(settings_.seeds, is_left);
    if (seed != settings_.seeds.end()) return &*seed;
    const auto other = std::ranges::find_if(known_, is_left);
    return other != known_.end() ? &*other : nullptr;
}

RedisReply RedisNodes::ask(std::string_view key, const RedisConnection::Command &command,
                           std::uint64_t answer_max, CallClock &clock) {
    const std::uint16_t slot = redis_slot(key);
    const auto cached = slots_.find(slot);
    RedisNode node = cached != slots_.end() ? cached->second : settings_.seeds.front();
    Asking asking = Asking::no;
    std::set<RedisNode> failed;
    for (int redirections = 0; redirections <= kRedirectionsMax;) {
        RedisReply reply;
        try {
            reply = ask_node(node, command, answer_max, clock, asking);
        } catch (const RemoteFailure &failure) {
            // Another server may know who has the slot now, or be one that another URL names.
            failed.insert(node);
            slots_.erase(slot);
            const RedisNode *other = other_than(failed);
            if (failure.trouble() != Trouble::unreachable || other == nullptr ||
                clock.look() == CallClock::State::over) {
                throw;
            }
            node = *other;
            asking = Asking::no;
            continue;
        }
        const auto redirection = redirection_of(reply, node);
        if (!redirection) {
            if (reply.kind == RedisReply::Kind::error) fail_of_error(reply, origin_);
            // The one that only imports a slot does not have it yet.
            if (asking == Asking::no) slots_[slot] = node;
            return reply;
        }
        ++redirections;
        node = redirection->node;
        asking = redirection->is_ask ? Asking::yes : Asking::no;
        if (!redirection->is_ask) slots_[slot] = node;
        if (failed.contains(node)) {
            slots_.erase(slot);
            fail(Trouble::unreachable, settings_.remote,
                 "the server " + node.text() +
                     ", which has this part of the cluster, is not reached");
        }
    }
    fail(Trouble::unreachable, settings_.remote, "its servers send a command round in a circle");
}

}  // namespace cairn::remotes
