// A remote on a web server: http://host[:port]/path or https://...
// SPDX-License-Identifier: MIT
//
// A web server lists nothing in a form of its own, so that each folder has an object `index`: see http_index.h. One
// machine at a time may write: two that change the same index lose one of the changes. Any web server and any cache in
// front of one can be read; to write it takes PUT and DELETE, as of nginx's and Apache's WebDAV.
//
// Thread safety, failure: as remote.h says.
#include "remotes/credentials.h"
#include "remotes/curl.h"
#include "remotes/engines.h"
#include "remotes/failure.h"
#include "remotes/http_index.h"
#include "remotes/names.h"

namespace cairn::remotes {
namespace {

struct Index {
    IndexTimes times;
    std::optional<std::int64_t> now_s;  // the server's
};

class HttpRemote final : public Remote {
  public:
    HttpRemote(const Url &url, const Limits &limits)
        : shown_(url.shown),
          base_(url.scheme + "://" + url.host_and_port() + url.path + "/"),
          is_private_(url.scheme == "https" || is_loopback(url.host)),
          limits_(limits),
          curl_(shown_, limits) {}

    std::optional<std::string> get(const std::string &name, std::uint64_t size_max) override;
    void put(const std::string &name, Bytes content) override;
    std::vector<Listed> list(const std::string &folder) override;
    void remove(const std::string &name) override;
    Traffic traffic() const override { return curl_.traffic(); }

  private:
    void require_name(const std::string &name) const;
    HttpRequest request(HttpRequest::Method method, const std::string &name) const;
    std::optional<HttpAnswer> fetch(const std::string &name, std::uint64_t size_max,
                                    CallClock &clock, std::vector<std::string> headers = {});
    HttpAnswer store(const std::string &name, Bytes content, CallClock &clock);
    Index read_index(const std::string &folder, CallClock &clock);
    void write_index(const std::string &folder, const IndexTimes &times, CallClock &clock);
    std::string where_passwords_are() const;
    [[noreturn]] void fail_reading(long status, const std::string &name) const;
    [[noreturn]] void fail_writing(long status, const std::string &name) const;

    const std::string shown_;
    const std::string base_;
    const bool is_private_;  // nobody else reads what goes over the network
    const Limits limits_;
    Curl curl_;
};

std::string index_of(const std::string &folder) {
    return (folder.empty() ? "" : folder + "/") + std::string(kIndexName);
}

void HttpRemote::require_name(const std::string &name) const {
    require_object_name(shown_, name);
    if (places_of(name).front().entry == kIndexName) {
        fail(Trouble::usage, shown_,
             "no object may have the name `index`, which each folder's list has");
    }
}

std::string HttpRemote::where_passwords_are() const {
    return is_private_ ? "; a user and a password are looked for in ~/.netrc"
                       : "; without TLS no password is sent";
}

void HttpRemote::fail_reading(long status, const std::string &name) const {
    const std::string text = "it answers with status " + std::to_string(status);
    if (status == 401 || status == 403) {
        fail(Trouble::denied, shown_,
             text + ", so " + name + " may not be read from here" + where_passwords_are());
    }
    fail(Trouble::unreachable, shown_, text + " when asked for " + name);
}

void HttpRemote::fail_writing(long status, const std::string &name) const {
    const std::string text = "it answers with status " + std::to_string(status);
    switch (status) {
        case 401:
        case 403:
            fail(Trouble::denied, shown_,
                 text + ", so nothing may be written there from here" + where_passwords_are());
        case 405:
        case 501:
            fail(Trouble::usage, shown_,
                 text + ", so it can only be read; to write, it needs PUT and DELETE (WebDAV)");
        case 413:
            fail(Trouble::full, shown_, text + ", as " + name + " is larger than it takes");
        case 507:
            fail(Trouble::full, shown_, text + ", as it has no space left");
        default:
            break;
    }
    if (status >= 300 && status < 400) {
        fail(Trouble::usage, shown_,
             text + ": what is written is not redirected; use the other URL");
    }
    const bool is_ours = status >= 400 && status < 500 && status != 408 && status != 429;
    fail(is_ours ? Trouble::usage : Trouble::unreachable, shown_,
         text + " when " + name + " is written");
}

HttpRequest HttpRemote::request(HttpRequest::Method method, const std::string &name) const {
    HttpRequest made;
    made.method = method;
    made.url = base_ + name;
    made.name = name;
    if (is_private_) made.netrc = find_netrc(shown_);
    return made;
}

std::optional<HttpAnswer> HttpRemote::fetch(const std::string &name, std::uint64_t size_max,
                                            CallClock &clock, std::vector<std::string> headers) {
    HttpRequest asked = request(HttpRequest::Method::get, name);
    asked.headers = std::move(headers);
    asked.size_max = size_max;
    asked.redirects = HttpRequest::Redirects::follow;
    HttpAnswer answer = curl_.perform(asked, clock);
    if (answer.status == 404 || answer.status == 410) return std::nullopt;
    // Others of its kind have a part of the object, or none.
    if (answer.status != 200) fail_reading(answer.status, name);
    return answer;
}

HttpAnswer HttpRemote::store(const std::string &name, Bytes content, CallClock &clock) {
    HttpRequest asked = request(HttpRequest::Method::put, name);
    asked.content = content;
    HttpAnswer answer = curl_.perform(asked, clock);
    if (!answer.is_ok()) fail_writing(answer.status, name);
    return answer;
}

Index HttpRemote::read_index(const std::string &folder, CallClock &clock) {
    const std::uint64_t size_max = (limits_.listed_max + 1) * kIndexLineSizeMax;
    const auto answer = fetch(index_of(folder), size_max, clock, {"Cache-Control: no-cache"});
    if (!answer) return {};
    auto times = parse_index(answer->content);
    if (!times) {
        fail(Trouble::unreachable, shown_, index_of(folder) + " was cut, or is none of ours");
    }
    Index index = {std::move(*times), answer->date_s};
    if (index.times.size() > limits_.listed_max) fail_too_many(shown_, folder, limits_.listed_max);
    return index;
}

void HttpRemote::write_index(const std::string &folder, const IndexTimes &times, CallClock &clock) {
    (void)store(index_of(folder), as_bytes(index_text(times)), clock);
}

std::optional<std::string> HttpRemote::get(const std::string &name, std::uint64_t size_max) {
    require_name(name);
    CallClock clock(limits_);
    auto answer = fetch(name, size_max, clock);
    if (!answer) return std::nullopt;
    return std::move(answer->content);
}

void HttpRemote::put(const std::string &name, Bytes content) {
    require_name(name);
    CallClock clock(limits_);
    const HttpAnswer stored = store(name, content, clock);
    for (const Place &place : places_of(name)) {
        IndexTimes times = read_index(place.folder, clock).times;
        const bool is_object = !place.entry.ends_with('/');
        // A folder keeps the time at which it came.
        if (!is_object && times.contains(place.entry)) continue;
        times[place.entry] = stored.date_s;
        write_index(place.folder, times, clock);
    }
}

std::vector<Listed> HttpRemote::list(const std::string &folder) {
    require_folder_name(shown_, folder);
    CallClock clock(limits_);
    const Index index = read_index(folder, clock);
    std::vector<Listed> found;
    for (const auto &[name, time] : index.times) {
        Listed listed = {name, std::nullopt};
        if (time && index.now_s) {
            listed.age_s =
                static_cast<std::uint64_t>(std::max<std::int64_t>(*index.now_s - *time, 0));
        }
        found.push_back(std::move(listed));
    }
    return found;
}

void HttpRemote::remove(const std::string &name) {
    require_name(name);
    CallClock clock(limits_);
    const Place place = places_of(name).front();
    IndexTimes times = read_index(place.folder, clock).times;
    if (times.erase(place.entry) > 0) write_index(place.folder, times, clock);
    const HttpAnswer answer = curl_.perform(request(HttpRequest::Method::remove, name), clock);
    if (!answer.is_ok() && answer.status != 404 && answer.status != 410) {
        fail_writing(answer.status, name);
    }
}

}  // namespace

std::unique_ptr<Remote> open_http(const Url &url, const Limits &limits) {
    // A query would be one of a link that was signed for somebody, which is a secret.
    url.require_options({});
    return std::make_unique<HttpRemote>(url, limits);
}

}  // namespace cairn::remotes
