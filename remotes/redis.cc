// A remote in Redis, or in a cluster of it: redis://host[:port][/database][?prefix=...]
// SPDX-License-Identifier: MIT
//
// An object is a text under PREFIX and its name. A folder is a hash under PREFIX, its name and a slash,
// whose fields are what lies in it (folders with a slash at their end) and whose values are the server's
// clock when each was put. In a cluster each of these keys is on a server of its own, and nothing makes
// two of them change at once. So only the order of changes keeps a listing right: an object comes before
// its name, and goes after it.
//
// Thread safety, failure: as remote.h says.
#include <charconv>
#include <map>

#include "remotes/engines.h"
#include "remotes/failure.h"
#include "remotes/names.h"
#include "remotes/redis_nodes.h"

namespace cairn::remotes {
namespace {

constexpr std::uint64_t kSmallAnswerMax = 64 << 10;
// A step of HSCAN gives about as many names as it is asked for, but the whole of a small hash.
constexpr std::string_view kScanStep = "1000";
constexpr std::uint64_t kScanAnswerMax = 16 << 20;
constexpr std::size_t kWorthAskingSize = 4 << 10;
// What an answer has besides an object's bytes.
constexpr std::uint64_t kFrameSizeMax = 64;

std::optional<std::uint64_t> number_in(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

class RedisRemote final : public Remote {
  public:
    RedisRemote(std::string shown, std::string prefix, RedisNodes::Settings settings,
                const Limits &limits)
        : shown_(std::move(shown)),
          prefix_(std::move(prefix)),
          limits_(limits),
          nodes_(std::move(settings), limits) {}

    std::optional<std::string> get(const std::string &name, std::uint64_t size_max) override;
    void put(const std::string &name, Bytes content) override;
    std::vector<Listed> list(const std::string &folder) override;
    void remove(const std::string &name) override;
    Traffic traffic() const override { return nodes_.traffic(); }

  private:
    std::string folder_key(const std::string &folder) const { return prefix_ + folder + "/"; }
    std::uint64_t ask_for_number(const std::string &key, const RedisConnection::Command &command,
                                 CallClock &clock);
    // Of a server, by its clock; that of `key` where it is known which one that is.
    std::uint64_t now_s(const std::string &key, CallClock &clock);
    // Adds a step's names; gives the cursor of the next one.
    std::string scan(const std::string &folder, const std::string &cursor,
                     std::map<std::string, std::string> &times, CallClock &clock);
    [[noreturn]] void fail_senseless() const {
        fail(Trouble::unreachable, shown_,
             "it answers what makes no sense; is the prefix used by others?");
    }

    const std::string shown_;
    const std::string prefix_;
    const Limits limits_;
    RedisNodes nodes_;
};

std::uint64_t RedisRemote::ask_for_number(const std::string &key,
                                          const RedisConnection::Command &command,
                                          CallClock &clock) {
    const RedisReply reply = nodes_.ask(key, command, kSmallAnswerMax, clock);
    if (reply.kind != RedisReply::Kind::number || reply.number < 0) fail_senseless();
    return static_cast<std::uint64_t>(reply.number);
}

std::uint64_t RedisRemote::now_s(const std::string &key, CallClock &clock) {
    const RedisReply reply = nodes_.ask(key, {"TIME"}, kSmallAnswerMax, clock);
    if (reply.kind != RedisReply::Kind::list || reply.list.size() != 2) fail_senseless();
    const auto seconds = number_in(reply.list[0]->text);
    if (!seconds) fail_senseless();
    return *seconds;
}

std::optional<std::string> RedisRemote::get(const std::string &name, std::uint64_t size_max) {
    require_object_name(shown_, name);
    CallClock clock(limits_);
    const std::string key = prefix_ + name;
    const std::uint64_t size = ask_for_number(key, {"STRLEN", key}, clock);
    if (size > size_max) fail_too_large(shown_, name, size_max);
    if (size == 0) {
        const bool is_there = ask_for_number(key, {"EXISTS", key}, clock) > 0;
        return is_there ? std::optional<std::string>("") : std::nullopt;
    }
    const std::string last = std::to_string(size - 1);
    RedisReply reply = nodes_.ask(key, {"GETRANGE", key, "0", last}, size + kFrameSizeMax, clock);
    if (reply.kind != RedisReply::Kind::text) fail_senseless();
    // It was removed in between.
    if (reply.text.empty()) return std::nullopt;
    if (reply.text.size() != size) fail_senseless();
    return std::move(reply.text);
}

void RedisRemote::put(const std::string &name, Bytes content) {
    require_object_name(shown_, name);
    CallClock clock(limits_);
    const std::string key = prefix_ + name;
    const std::string_view text(reinterpret_cast<const char *>(content.data()), content.size());
    // Another server of a cluster would take all of it in, only to say whom it is for.
    if (text.size() > kWorthAskingSize && !nodes_.knows(key)) {
        (void)ask_for_number(key, {"EXISTS", key}, clock);
    }
    const RedisReply reply = nodes_.ask(key, {"SET", key, text}, kSmallAnswerMax, clock);
    if (reply.kind != RedisReply::Kind::status || reply.text != "OK") fail_senseless();
    const std::vector<Place> places = places_of(name);
    const std::string time = std::to_string(now_s(folder_key(places.front().folder), clock));
    for (const Place &place : places) {
        const std::string folder = folder_key(place.folder);
        // A folder keeps the time at which it came.
        const bool is_object = !place.entry.ends_with('/');
        const std::string_view command = is_object ? "HSET" : "HSETNX";
        (void)ask_for_number(folder, {command, folder, place.entry, time}, clock);
    }
}

std::string RedisRemote::scan(const std::string &folder, const std::string &cursor,
                              std::map<std::string, std::string> &times, CallClock &clock) {
    const std::string key = folder_key(folder);
    RedisReply reply =
        nodes_.ask(key, {"HSCAN", key, cursor, "COUNT", kScanStep}, kScanAnswerMax, clock);
    if (reply.kind != RedisReply::Kind::list || reply.list.size() != 2 ||
        !number_in(reply.list[0]->text) || reply.list[1]->list.size() % 2 != 0) {
        fail_senseless();
    }
    const auto &fields = reply.list[1]->list;
    for (std::size_t i = 0; i < fields.size(); i += 2) {
        if (!is_entry(fields[i]->text)) continue;
        times[fields[i]->text] = fields[i + 1]->text;
        if (times.size() > limits_.listed_max) fail_too_many(shown_, folder, limits_.listed_max);
    }
    return reply.list[0]->text;
}

std::vector<Listed> RedisRemote::list(const std::string &folder) {
    require_folder_name(shown_, folder);
    CallClock clock(limits_);
    // A hash that changes meanwhile may give a name twice.
    std::map<std::string, std::string> times;
    std::string cursor = "0";
    do {
        cursor = scan(folder, cursor, times, clock);
    } while (cursor != "0");
    std::vector<Listed> found;
    if (times.empty()) return found;
    const std::uint64_t now = now_s(folder_key(folder), clock);
    for (const auto &[name, time] : times) {
        Listed listed = {name, std::nullopt};
        if (const auto put_s = number_in(time)) listed.age_s = now - std::min(now, *put_s);
        found.push_back(std::move(listed));
    }
    return found;
}

void RedisRemote::remove(const std::string &name) {
    require_object_name(shown_, name);
    CallClock clock(limits_);
    const Place place = places_of(name).front();
    const std::string folder = folder_key(place.folder);
    const std::string key = prefix_ + name;
    (void)ask_for_number(folder, {"HDEL", folder, place.entry}, clock);
    (void)ask_for_number(key, {"DEL", key}, clock);
}

bool is_prefix(std::string_view text) {
    return text.size() <= 128 && std::all_of(text.begin(), text.end(), [](char c) {
               return static_cast<unsigned char>(c) > 0x20 && static_cast<unsigned char>(c) < 0x7f;
           });
}

// The URL's server, and those of nodes=, which are asked when it is not reached.
std::vector<RedisNode> seeds_of(const Url &url) {
    constexpr std::uint16_t kPort = 6379;
    std::vector<RedisNode> seeds = {{url.host, url.port.value_or(kPort)}};
    std::string_view rest =
        url.query.contains("nodes") ? std::string_view(url.query.at("nodes")) : "";
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(','), rest.size());
        const auto node = parse_host_and_port(rest.substr(0, end));
        if (!node) fail(Trouble::usage, url.shown, "nodes= must be host:port,host:port");
        seeds.push_back({node->host, node->port.value_or(kPort)});
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return seeds;
}

}  // namespace

std::unique_ptr<Remote> open_redis(const Url &url, const Limits &limits) {
    url.require_options({"credentials", "nodes", "prefix"});
    const std::string database = url.path.empty() ? "" : url.path.substr(1);
    if (database.size() > 5 || database.find_first_not_of("0123456789") != std::string::npos) {
        fail(
            Trouble::usage, url.shown,
            "after the host of such a URL is the number of a database; a folder goes into prefix=");
    }
    const std::string prefix = url.query.contains("prefix") ? url.option("prefix") : "cairn:";
    if (!is_prefix(prefix))
        fail(Trouble::usage, url.shown, "prefix= must be 128 printable letters at most");
    const std::string file = url.option("credentials");
    if (!file.empty() && file.front() != '/') {
        fail(Trouble::usage, url.shown, "credentials= must be the absolute path of a file");
    }
    return std::make_unique<RedisRemote>(
        url.shown, prefix, RedisNodes::Settings{url.shown, seeds_of(url), database, file}, limits);
}

}  // namespace cairn::remotes
