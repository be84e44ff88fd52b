// SPDX-License-Identifier: MIT
#include "glx/testing/fake_server.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace cairn::glx::testing {
namespace {

constexpr uint8_t kGlxOpcode = 150;
constexpr uint8_t kQueryServerString = 19;
// Requests of the core protocol that have replies.
constexpr uint8_t kGetInputFocus = 43;
constexpr uint8_t kGetProperty = 20;
constexpr uint8_t kQueryExtension = 98;

template <typename T>
void put(std::string &bytes, T number) {
    bytes.append(reinterpret_cast<const char *>(&number), sizeof number);
}

template <typename T>
T get(const std::string &bytes, size_t at) {
    T number = 0;
    if (at + sizeof number <= bytes.size()) memcpy(&number, bytes.data() + at, sizeof number);
    return number;
}

void padded(std::string &bytes, size_t to) {
    bytes.resize((bytes.size() + to - 1) / to * to);
}

void send_all(int client, const std::string &bytes) {
    (void)::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

// False at the end.
bool receive(int client, std::string &bytes) {
    size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t got = ::read(client, bytes.data() + done, bytes.size() - done);
        if (got <= 0) return false;
        done += static_cast<size_t>(got);
    }
    return true;
}

std::string setup(uint8_t screens) {
    std::string rest;
    for (const uint32_t number : {1u, 0x200000u, 0x1fffffu, 0u}) put(rest, number);
    put<uint16_t>(rest, 4);       // size of the vendor's name
    put<uint16_t>(rest, 0xffff);  // longest request
    for (const uint8_t number : {screens, uint8_t{1}, uint8_t{0}, uint8_t{0}, uint8_t{32},
                                 uint8_t{32}, uint8_t{8}, uint8_t{255}}) {
        put(rest, number);
    }
    rest.append(4, '\0').append("Fake");
    rest.append({24, 32, 32, 0, 0, 0, 0, 0});  // a format
    for (uint8_t screen = 0; screen < screens; ++screen) {
        for (const uint32_t number : {100u + screen, 200u, 0xffffffu, 0u, 0u}) put(rest, number);
        for (const int number : {640, 480, 170, 130, 1, 1}) {
            put(rest, static_cast<uint16_t>(number));
        }
        put<uint32_t>(rest, 300);
        rest.append({0, 0, 24, 1});  // a depth, with a visual
        rest.append({24, 0, 1, 0, 0, 0, 0, 0});
        put<uint32_t>(rest, 300);
        rest.append({4, 8, 0, 1});
        for (const uint32_t mask : {0xff0000u, 0xff00u, 0xffu, 0u}) put(rest, mask);
    }
    std::string head({1, 0, 11, 0, 0, 0});
    put(head, static_cast<uint16_t>(rest.size() / 4));
    return head + rest;
}

// The 32 bytes of a reply, with 24 of them to be filled by the caller.
std::string reply(uint16_t sequence, uint32_t words, std::string body) {
    std::string bytes({1, 0});
    put(bytes, sequence);
    put(bytes, words);
    body.resize(24);
    return bytes + body;
}

std::string error(uint16_t sequence, uint8_t opcode) {
    std::string bytes({0, 2});  // BadValue
    put(bytes, sequence);
    bytes.resize(8);
    put<uint16_t>(bytes, kQueryServerString);
    put(bytes, opcode);
    bytes.resize(32);
    return bytes;
}

}  // namespace

// An address without a file, where clients of a local display look first.
FakeServer::FakeServer(Answers answers) : answers_(std::move(answers)) {
    listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_bound = false;
    for (number_ = 1000; !is_bound && number_ < 2000; ++number_) {
        sockaddr_un address = {};
        address.sun_family = AF_UNIX;
        const std::string path = "/tmp/.X11-unix/X" + std::to_string(number_);
        path.copy(address.sun_path + 1, sizeof address.sun_path - 1);
        const size_t size = offsetof(sockaddr_un, sun_path) + 1 + path.size();
        is_bound = bind(listener_, reinterpret_cast<const sockaddr *>(&address),
                        static_cast<socklen_t>(size)) == 0;
    }
    --number_;
    if (!is_bound || listen(listener_, 1) != 0) abort();
    thread_ = std::thread([this] { serve(); });
}

FakeServer::~FakeServer() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
}

void FakeServer::serve() {
    const int client = accept(listener_, nullptr, nullptr);
    if (client < 0) return;
    std::string hello(12, '\0');
    if (receive(client, hello)) {
        std::string secrets;
        padded(secrets.append(get<uint16_t>(hello, 6), ' '), 4);
        padded(secrets.append(get<uint16_t>(hello, 8), ' '), 4);
        if (receive(client, secrets)) send_all(client, setup(answers_.screens));
    }
    std::string head(4, '\0');
    for (uint16_t sequence = 1; receive(client, head); ++sequence) {
        std::string rest(4 * std::max<size_t>(get<uint16_t>(head, 2), 1) - 4, '\0');
        if (!receive(client, rest)) break;
        answer(client, head + rest, sequence);
    }
    close(client);
}

void FakeServer::answer(int client, const std::string &request, uint16_t sequence) const {
    const auto opcode = static_cast<uint8_t>(request[0]);
    if (opcode == kQueryExtension) {
        const bool is_glx = request.substr(8, get<uint16_t>(request, 4)) == "GLX";
        const auto present = static_cast<char>(is_glx && answers_.has_glx);
        send_all(client, reply(sequence, 0, {present, static_cast<char>(kGlxOpcode), 0, 0}));
    } else if (opcode == kGetProperty || opcode == kGetInputFocus) {
        send_all(client, reply(sequence, 0, {}));
    } else if (opcode == kGlxOpcode && request[1] == kQueryServerString) {
        const auto found = answers_.strings.find(get<uint32_t>(request, 8));
        if (found == answers_.strings.end()) {
            send_all(client, error(sequence, kGlxOpcode));
        } else {
            std::string text = found->second + '\0';
            padded(text, 4);
            if (answers_.words >= 0) text.resize(4 * static_cast<size_t>(answers_.words));
            send_all(client, reply(sequence, static_cast<uint32_t>(text.size() / 4), {}) + text);
        }
    }
}

}  // namespace cairn::glx::testing
