// SPDX-License-Identifier: MIT
#include "remotes/curl.h"

#include <curl/curl.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "os/environment.h"
#include "remotes/failure.h"

namespace cairn::remotes {
namespace {

// Of an answer that tells of a mistake, more is of no use.
constexpr std::size_t kMistakeSizeMax = 64 << 10;
// What an answer's headers may have; libcurl's own limit is of each one.
constexpr std::size_t kHeadersSizeMax = 256 << 10;
constexpr long kRedirectsMax = 3;

void start_curl() {
    static const CURLcode result = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (result != CURLE_OK) throw std::bad_alloc();
}

// Keeps a SIGPIPE from the process: TLS libraries write to sockets without asking for none.
class NoSigpipe {
  public:
    NoSigpipe() {
        sigemptyset(&sigpipe_);
        sigaddset(&sigpipe_, SIGPIPE);
        sigset_t pending;
        was_pending_ = sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
        pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
    }
    ~NoSigpipe() {
        const timespec at_once = {};
        if (!was_pending_) (void)sigtimedwait(&sigpipe_, nullptr, &at_once);
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    NoSigpipe(const NoSigpipe &) = delete;
    NoSigpipe &operator=(const NoSigpipe &) = delete;

  private:
    sigset_t sigpipe_ = {};
    sigset_t before_ = {};
    bool was_pending_ = false;
};

struct FreeList {
    void operator()(curl_slist *list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, FreeList>;

void append(HeaderList &list, const std::string &header) {
    curl_slist *longer = curl_slist_append(list.get(), header.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    (void)list.release();
    list.reset(longer);
}

}  // namespace

struct Curl::Handles {
    Handles() {
        start_curl();
        multi = curl_multi_init();
        easy = curl_easy_init();
        if (multi == nullptr || easy == nullptr) throw std::bad_alloc();
        // See is_clean().
        curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 1L);
    }
    ~Handles() {
        curl_easy_cleanup(easy);
        curl_multi_cleanup(multi);
    }
    Handles(const Handles &) = delete;
    Handles &operator=(const Handles &) = delete;

    // Whether nothing came after the last answer, as when its length was wrong. The rest would be taken for the answer
    // to the next request. Only the last connection is kept, so that one that is left is closed.
    bool is_clean() const {
        pollfd event = {CURL_SOCKET_BAD, POLLIN, 0};
        curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &event.fd);
        return event.fd == CURL_SOCKET_BAD || poll(&event, 1, 0) == 0;
    }

    CURLM *multi = nullptr;
    CURL *easy = nullptr;
};

// One request on its way. The callbacks do not throw: libcurl is in between.
struct Curl::Transfer {
    Transfer(const HttpRequest &asked, CallClock &of_call, CURL *handle)
        : request(asked), clock(of_call), easy(handle) {}

    long status() const {
        long number = 0;
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &number);
        return number;
    }

    static std::size_t receive(char *bytes, std::size_t /*one*/, std::size_t count, void *of) {
        return static_cast<Transfer *>(of)->take({bytes, count});
    }
    static std::size_t receive_header(char *bytes, std::size_t /*one*/, std::size_t count,
                                      void *of) {
        return static_cast<Transfer *>(of)->take_header({bytes, count});
    }
    static std::size_t send(char *bytes, std::size_t one, std::size_t count, void *of) {
        return static_cast<Transfer *>(of)->give(bytes, one * count);
    }
    static int seek(void *of, curl_off_t offset, int origin) {
        auto *transfer = static_cast<Transfer *>(of);
        if (origin != SEEK_SET || offset < 0 ||
            static_cast<std::uint64_t>(offset) > transfer->request.content.size()) {
            return CURL_SEEKFUNC_FAIL;
        }
        transfer->sent = static_cast<std::size_t>(offset);
        return CURL_SEEKFUNC_OK;
    }

    std::size_t take(std::string_view piece) {
        clock.moved(piece.size());
        const long number = status();
        const bool is_object = number >= 200 && number < 300;
        if (!is_object) {
            const std::size_t room =
                kMistakeSizeMax - std::min(kMistakeSizeMax, answer.content.size());
            return keep(piece.substr(0, room)) ? piece.size() : 0;
        }
        curl_off_t announced = -1;
        curl_easy_getinfo(easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
        is_too_large = piece.size() > request.size_max - answer.content.size() ||
                       (announced > 0 && static_cast<std::uint64_t>(announced) > request.size_max);
        return !is_too_large && keep(piece) ? piece.size() : 0;
    }
    bool keep(std::string_view piece) {
        try {
            answer.content.append(piece);
            return true;
        } catch (const std::bad_alloc &) {
            return false;
        }
    }
    std::size_t take_header(std::string_view line) {
        clock.moved(line.size());
        headers_size += line.size();
        if (headers_size > kHeadersSizeMax) return 0;
        // Each answer of a chain of redirects begins so.
        if (line.starts_with("HTTP/")) answer.date_s.reset();
        take_date(line);
        return line.size();
    }
    void take_date(std::string_view line) {
        constexpr std::string_view kDate = "date:";
        char value[64] = {};
        if (line.size() <= kDate.size() || line.size() - kDate.size() >= sizeof(value)) return;
        for (std::size_t i = 0; i < kDate.size(); ++i) {
            const char small =
                line[i] >= 'A' && line[i] <= 'Z' ? static_cast<char>(line[i] + 32) : line[i];
            if (small != kDate[i]) return;
        }
        std::ranges::copy(line.substr(kDate.size()), value);
        const time_t date = curl_getdate(value, nullptr);
        if (date >= 0) answer.date_s = date;
    }
    std::size_t give(char *to, std::size_t room) {
        const std::size_t count = std::min(room, request.content.size() - sent);
        if (count > 0) std::memcpy(to, request.content.data() + sent, count);
        sent += count;
        clock.moved(count);
        return count;
    }

    const HttpRequest &request;
    CallClock &clock;
    CURL *const easy;
    HeaderList headers;
    HttpAnswer answer;
    std::size_t sent = 0;
    std::size_t headers_size = 0;
    bool is_too_large = false;
};

Curl::Curl(std::string remote, const Limits &limits)
    : remote_(std::move(remote)), limits_(limits), handles_(std::make_unique<Handles>()) {}

Curl::~Curl() = default;

namespace {

void set_callbacks(CURL *easy, void *transfer, curl_write_callback receive,
                   curl_write_callback receive_header) {
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, receive_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
}

void set_protocols(CURL *easy, const HttpRequest &request) {
    const bool is_secure = request.url.starts_with("https:");
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    // What began with TLS does not go on without.
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, is_secure ? "https" : "http,https");
    const bool follows = request.redirects == HttpRequest::Redirects::follow;
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, follows ? 1L : 0L);
    curl_easy_setopt(easy, CURLOPT_MAXREDIRS, kRedirectsMax);
}

// The variables of the command curl, for servers whose certificates a company has signed for itself.
void set_trust(CURL *easy) {
    for (const char *name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
        const auto file = environment_variable(name);
        if (!file || file->empty()) continue;
        curl_easy_setopt(easy, CURLOPT_CAINFO, file->c_str());
        return;
    }
}

void set_signing(CURL *easy, const Signing &signing) {
    curl_easy_setopt(easy, CURLOPT_AWS_SIGV4, ("aws:amz:" + signing.region + ":s3").c_str());
    curl_easy_setopt(easy, CURLOPT_USERNAME, signing.key_id.c_str());
    curl_easy_setopt(easy, CURLOPT_PASSWORD, signing.secret.c_str());
}

}  // namespace

void Curl::set_options(Transfer &transfer, const CallClock &clock) {
    CURL *easy = transfer.easy;
    const HttpRequest &request = transfer.request;
    const bool is_clean = handles_->is_clean();
    curl_easy_reset(easy);
    curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, is_clean ? 0L : 1L);
    curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    // A look-up of the host's name that hangs is left behind, and is not waited for.
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "cairn");
    const std::uint64_t connect_ms = std::min(limits_.connect_ms, clock.left_ms());
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                     static_cast<long>(std::clamp<std::uint64_t>(connect_ms, 1, 3'600'000)));
    set_trust(easy);
    set_protocols(easy, request);
    set_callbacks(easy, &transfer, Transfer::receive, Transfer::receive_header);
    if (request.method == HttpRequest::Method::get) {
        curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    } else if (request.method == HttpRequest::Method::remove) {
        curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, "DELETE");
    } else {
        curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(easy, CURLOPT_READFUNCTION, Transfer::send);
        curl_easy_setopt(easy, CURLOPT_READDATA, &transfer);
        curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, Transfer::seek);
        curl_easy_setopt(easy, CURLOPT_SEEKDATA, &transfer);
        curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE,
                         static_cast<curl_off_t>(request.content.size()));
        // Not every server asks for the content, and libcurl would wait a second for that. libcurl 7.88 signs the names
        // of removed headers as well, and Ceph refuses such a signature.
        if (!request.signing) append(transfer.headers, "Expect:");
        curl_easy_setopt(easy, CURLOPT_EXPECT_100_TIMEOUT_MS, 1L);
    }
    for (const std::string &header : request.headers) append(transfer.headers, header);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer.headers.get());
    if (request.signing) set_signing(easy, *request.signing);
    if (!request.netrc.empty()) {
        // Without TLS only this machine is told: no proxy, and nobody to whom it redirects.
        if (!request.url.starts_with("https:")) {
            curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
            curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
        }
        curl_easy_setopt(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_OPTIONAL));
        curl_easy_setopt(easy, CURLOPT_NETRC_FILE, request.netrc.c_str());
    }
}

// The code that libcurl ends with.
int Curl::run(Transfer &transfer) {
    CURLM *multi = handles_->multi;
    for (int running = 1; running > 0;) {
        if (curl_multi_perform(multi, &running) != CURLM_OK) return CURLE_FAILED_INIT;
        if (running == 0) break;
        const CallClock::State state = transfer.clock.look();
        if (state != CallClock::State::going) {
            fail(Trouble::unreachable, remote_,
                 state == CallClock::State::over
                     ? "the call took too long"
                     : "it hangs or is too slow; fewer than " +
                           std::to_string(limits_.stall_bytes) + " bytes came or went in " +
                           std::to_string(limits_.stall_ms) + " ms");
        }
        if (curl_multi_poll(multi, nullptr, 0, transfer.clock.wait_ms(), nullptr) != CURLM_OK) {
            return CURLE_FAILED_INIT;
        }
    }
    int left = 0;
    const CURLMsg *message = curl_multi_info_read(multi, &left);
    return message != nullptr ? message->data.result : CURLE_FAILED_INIT;
}

void Curl::count(const Transfer &transfer) {
    curl_off_t received = 0, sent = 0;
    long headers = 0, request = 0, redirects = 0;
    curl_easy_getinfo(transfer.easy, CURLINFO_SIZE_DOWNLOAD_T, &received);
    curl_easy_getinfo(transfer.easy, CURLINFO_SIZE_UPLOAD_T, &sent);
    curl_easy_getinfo(transfer.easy, CURLINFO_HEADER_SIZE, &headers);
    curl_easy_getinfo(transfer.easy, CURLINFO_REQUEST_SIZE, &request);
    curl_easy_getinfo(transfer.easy, CURLINFO_REDIRECT_COUNT, &redirects);
    traffic_.requests += 1 + static_cast<std::uint64_t>(redirects);
    traffic_.bytes_in += static_cast<std::uint64_t>(received + headers);
    traffic_.bytes_out += static_cast<std::uint64_t>(sent + request);
}

void Curl::fail_of(int code, const Transfer &transfer) const {
    if (transfer.is_too_large) {
        fail_too_large(remote_, transfer.request.name, transfer.request.size_max);
    }
    // libcurl's own words: nothing in them came from the other side.
    const std::string text = curl_easy_strerror(static_cast<CURLcode>(code));
    switch (code) {
        case CURLE_OUT_OF_MEMORY:
            throw std::bad_alloc();
        case CURLE_URL_MALFORMAT:
            fail(Trouble::usage, remote_, text);
        case CURLE_PEER_FAILED_VERIFICATION:
            fail(Trouble::unreachable, remote_,
                 "its TLS certificate is not trusted on this machine; SSL_CERT_FILE may name "
                 "others");
        default:
            fail(Trouble::unreachable, remote_, text);
    }
}

HttpAnswer Curl::perform(const HttpRequest &request, CallClock &clock) {
    const NoSigpipe no_sigpipe;
    Transfer transfer(request, clock, handles_->easy);
    set_options(transfer, clock);
    clock.begin_window();
    // The handle must not point to the transfer when that is gone.
    struct Added {
        Added(Handles &handles, Curl &curl, Transfer &transfer)
            : handles_(handles), curl_(curl), transfer_(transfer) {
            curl_multi_add_handle(handles.multi, handles.easy);
        }
        ~Added() {
            curl_.count(transfer_);
            curl_multi_remove_handle(handles_.multi, handles_.easy);
            curl_easy_reset(handles_.easy);
        }
        Handles &handles_;
        Curl &curl_;
        Transfer &transfer_;
    };
    const Added added(*handles_, *this, transfer);
    const int code = run(transfer);
    if (code != CURLE_OK) fail_of(code, transfer);
    transfer.answer.status = transfer.status();
    return std::move(transfer.answer);
}

}  // namespace cairn::remotes
