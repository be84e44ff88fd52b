// A remote in a bucket of S3, or of a server that speaks as S3 does: s3://bucket/prefix?endpoint=...
// SPDX-License-Identifier: MIT
//
// Credentials are looked for anew in each call, so that a process that runs for long notices those that
// another tool has refreshed. Nothing is redirected: a signature is for one host.
//
// Thread safety, failure: as remote.h says.
#include <sodium.h>

#include <set>

#include "remotes/credentials.h"
#include "remotes/curl.h"
#include "remotes/engines.h"
#include "remotes/failure.h"
#include "remotes/names.h"
#include "remotes/s3_answers.h"

namespace cairn::remotes {
namespace {

// A page of a listing has 1,000 keys of 1,024 bytes at most.
constexpr std::uint64_t kPageSizeMax = 16 << 20;

std::string sha256(Bytes content) {
    std::byte hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256(reinterpret_cast<unsigned char *>(hash),
                       reinterpret_cast<const unsigned char *>(content.data()), content.size());
    return hexadecimal(hash);
}

bool is_bucket_name(std::string_view name) {
    return name.size() >= 3 && name.size() <= 63 &&
           name.find_first_not_of(
               "abcdefghijklmnopqrstuvwxyz0123456789.-_ABCDEFGHIJKLMNOPQRSTUVWXYZ") ==
               std::string_view::npos;
}

// With a scheme. Without TLS only where the user says so, or on this machine.
std::string endpoint_of(const Url &url, const std::string &endpoint) {
    const std::size_t scheme_end = endpoint.find("://");
    const std::string scheme =
        scheme_end == std::string::npos ? "" : endpoint.substr(0, scheme_end);
    std::string rest = endpoint.substr(scheme.empty() ? 0 : scheme_end + 3);
    if (rest.ends_with('/')) rest.pop_back();
    const auto host = parse_host_and_port(rest);
    if (!host || (!scheme.empty() && scheme != "http" && scheme != "https")) {
        fail(Trouble::usage, url.shown,
             "endpoint= must be a host such as https://minio.example.org:9000, without a path");
    }
    const bool is_plain = scheme == "http" || (scheme.empty() && is_loopback(host->host));
    return (is_plain ? "http://" : "https://") + rest;
}

class S3Remote final : public Remote {
  public:
    S3Remote(const Url &url, const Limits &limits);

    std::optional<std::string> get(const std::string &name, std::uint64_t size_max) override;
    void put(const std::string &name, Bytes content) override;
    std::vector<Listed> list(const std::string &folder) override;
    void remove(const std::string &name) override;
    Traffic traffic() const override { return curl_.traffic(); }

  private:
    std::string region() const;
    // Without a slash at its end; what stands before a key, or before a query.
    std::string bucket_url() const;
    HttpRequest request(HttpRequest::Method method, const std::string &name) const;
    HttpAnswer perform(HttpRequest request, CallClock &clock);
    S3Page page(const std::string &prefix, const std::string &continuation, CallClock &clock,
                std::optional<std::int64_t> &now_s);
    [[noreturn]] void fail_of(const HttpAnswer &answer, const std::string &origin) const;

    const std::string shown_;
    const std::string bucket_;
    std::string prefix_;        // empty, or with a slash at its end
    std::string endpoint_;      // empty: Amazon's own
    const std::string region_;  // empty: see region()
    const std::string profile_;
    bool has_bucket_in_path_;
    const Limits limits_;
    Curl curl_;
};

S3Remote::S3Remote(const Url &url, const Limits &limits)
    : shown_(url.shown),
      bucket_(url.host),
      region_(url.option("region")),
      profile_(url.option("profile")),
      limits_(limits),
      curl_(shown_, limits) {
    url.require_options({"endpoint", "region", "profile", "style"});
    if (url.port || !is_bucket_name(bucket_)) {
        fail(Trouble::usage, shown_,
             "such a URL is s3://BUCKET/PREFIX; the host goes into endpoint=");
    }
    if (!url.path.empty()) {
        prefix_ = url.path.substr(1);
        if (!is_object_name(prefix_)) {
            fail(Trouble::usage, shown_, "its prefix has a part that no folder here may have");
        }
        prefix_ += '/';
    }
    const std::string endpoint = url.option("endpoint");
    if (!endpoint.empty()) endpoint_ = endpoint_of(url, endpoint);
    const std::string style = url.option("style");
    if (!style.empty() && style != "path" && style != "virtual") {
        fail(Trouble::usage, shown_, "style= is `path` or `virtual`");
    }
    // Amazon's certificates are not for names with more dots.
    const bool needs_path = !endpoint_.empty() || bucket_.find('.') != std::string::npos;
    has_bucket_in_path_ = style.empty() ? needs_path : style == "path";
    if (region().find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos) {
        fail(Trouble::usage, shown_, "its region has letters that no region has");
    }
}

std::string S3Remote::region() const {
    return region_.empty() ? find_aws_region(profile_) : region_;
}

std::string S3Remote::bucket_url() const {
    const std::string server =
        endpoint_.empty() ? "https://s3." + region() + ".amazonaws.com" : endpoint_;
    if (has_bucket_in_path_) return server + "/" + bucket_;
    const std::size_t host = server.find("://") + 3;
    return server.substr(0, host) + bucket_ + "." + server.substr(host);
}

HttpRequest S3Remote::request(HttpRequest::Method method, const std::string &name) const {
    HttpRequest made;
    made.method = method;
    // Nothing in such names needs percent signs.
    made.url = bucket_url() + "/" + prefix_ + name;
    made.name = name;
    return made;
}

HttpAnswer S3Remote::perform(HttpRequest request, CallClock &clock) {
    const AwsCredentials credentials = find_aws_credentials(shown_, profile_);
    if (!credentials.key_id.empty()) {
        request.headers.push_back("x-amz-content-sha256: " + sha256(request.content));
        if (!credentials.session_token.empty()) {
            request.headers.push_back("x-amz-security-token: " + credentials.session_token);
        }
        request.signing = Signing{region(), credentials.key_id, credentials.secret};
    }
    HttpAnswer answer = curl_.perform(request, clock);
    const bool is_absent = answer.status == 404 && s3_error_code(answer.content) != "NoSuchBucket";
    if (!answer.is_ok() && !is_absent) fail_of(answer, credentials.origin);
    return answer;
}

void S3Remote::fail_of(const HttpAnswer &answer, const std::string &origin) const {
    const std::string code = s3_error_code(answer.content);
    const S3Mistake mistake = s3_mistake(answer.status, code, origin);
    fail(mistake.trouble, shown_,
         "it answers with status " + std::to_string(answer.status) +
             (code.empty() ? "" : " " + code) +
             (mistake.advice.empty() ? "" : ": " + mistake.advice));
}

std::optional<std::string> S3Remote::get(const std::string &name, std::uint64_t size_max) {
    require_object_name(shown_, name);
    CallClock clock(limits_);
    HttpRequest asked = request(HttpRequest::Method::get, name);
    asked.size_max = size_max;
    HttpAnswer answer = perform(std::move(asked), clock);
    if (answer.status == 404) return std::nullopt;
    if (answer.status != 200)
        fail(Trouble::unreachable, shown_, "it answers with a part of " + name);
    return std::move(answer.content);
}

void S3Remote::put(const std::string &name, Bytes content) {
    require_object_name(shown_, name);
    CallClock clock(limits_);
    HttpRequest asked = request(HttpRequest::Method::put, name);
    asked.content = content;
    if (perform(std::move(asked), clock).status == 404) {
        fail(Trouble::usage, shown_, "nothing can be put there: status 404; check the endpoint");
    }
}

S3Page S3Remote::page(const std::string &prefix, const std::string &continuation, CallClock &clock,
                      std::optional<std::int64_t> &now_s) {
    HttpRequest asked;
    // In the order that a signature wants, as this libcurl does not sort.
    asked.url =
        bucket_url() + "?" +
        (continuation.empty() ? "" : "continuation-token=" + percent_encoded(continuation) + "&") +
        "delimiter=%2F&encoding-type=url&list-type=2&prefix=" + percent_encoded(prefix);
    if (!has_bucket_in_path_) asked.url.insert(asked.url.find('?'), "/");
    asked.name = "a list";
    asked.size_max = kPageSizeMax;
    const HttpAnswer answer = perform(std::move(asked), clock);
    auto page = answer.is_ok() ? parse_s3_page(answer.content) : std::nullopt;
    if (!page)
        fail(Trouble::unreachable, shown_, "its list makes no sense; is that a server of S3?");
    now_s = answer.date_s;
    return std::move(*page);
}

std::vector<Listed> S3Remote::list(const std::string &folder) {
    require_folder_name(shown_, folder);
    CallClock clock(limits_);
    const std::string prefix = prefix_ + (folder.empty() ? "" : folder + "/");
    std::vector<Listed> found;
    std::set<std::string> continuations;
    const auto add = [&](const std::string &key, std::optional<std::uint64_t> age_s) {
        if (!key.starts_with(prefix)) return;
        const std::string entry = key.substr(prefix.size());
        if (!is_entry(entry)) return;
        if (found.size() == limits_.listed_max) fail_too_many(shown_, folder, limits_.listed_max);
        found.push_back({entry, age_s});
    };
    for (std::string continuation;;) {
        std::optional<std::int64_t> now_s;
        const S3Page each = page(prefix, continuation, clock, now_s);
        for (const std::string &key : each.prefixes) add(key, std::nullopt);
        for (const S3Page::Object &object : each.objects) {
            // An object whose key ends in a slash is what some tools make of a folder.
            if (object.key.ends_with('/')) continue;
            std::optional<std::uint64_t> age_s;
            if (now_s && object.modified_s) {
                const std::int64_t age = *now_s - *object.modified_s;
                age_s = static_cast<std::uint64_t>(std::max<std::int64_t>(age, 0));
            }
            add(object.key, age_s);
        }
        continuation = each.continuation;
        if (continuation.empty()) return found;
        if (!continuations.insert(continuation).second) {
            fail(Trouble::unreachable, shown_, "its list comes back to where it was");
        }
    }
}

void S3Remote::remove(const std::string &name) {
    require_object_name(shown_, name);
    CallClock clock(limits_);
    (void)perform(request(HttpRequest::Method::remove, name), clock);
}

}  // namespace

std::unique_ptr<Remote> open_s3(const Url &url, const Limits &limits) {
    return std::make_unique<S3Remote>(url, limits);
}

}  // namespace cairn::remotes
