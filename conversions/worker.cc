// SPDX-License-Identifier: MIT
#include "conversions/worker.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include "conversions/sandbox.h"
#include "os/loaded_objects.h"

namespace cairn::conversions {
namespace {

constexpr std::string_view kDescribe = "--describe", kConvert = "--convert";
constexpr int kFirstOption = 5;  // --convert ID SECONDS MEMORY_BYTES NAME=VALUE...

// Of an answer.
enum class Outcome : std::uint32_t { converted = 0, refused = 1, no_converter = 2, option = 3 };
constexpr std::uint32_t kMagic = 0x31414E43;  // "CNA1"

void put_le32(std::string &text, std::size_t number) {
    for (unsigned i = 0; i < 4; ++i) text.push_back(static_cast<char>(number >> (8 * i) & 0xFF));
}

bool send_all(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::send(STDOUT_FILENO, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

int answer(Outcome outcome, std::string_view version, const Converted &converted) {
    std::string head;
    put_le32(head, kMagic);
    put_le32(head, static_cast<std::uint32_t>(outcome));
    put_le32(head, version.size());
    put_le32(head, converted.messages.size());
    put_le32(head, converted.output.size());
    const bool sent = send_all(head) && send_all(version) && send_all(converted.messages) &&
                      send_all(converted.output);
    return sent ? 0 : 1;
}

// One of the files that hold our code or a converter's. When it changes, so may the versions.
// Empty for the kernel's own code, which has no file.
std::string file_line(std::string path) {
    if (path.empty()) {
        std::array<char, 4096> program;
        const ssize_t size = ::readlink("/proc/self/exe", program.data(), program.size());
        if (size > 0) path.assign(program.data(), static_cast<std::size_t>(size));
    }
    struct stat status;
    if (!path.starts_with('/') || ::stat(path.c_str(), &status) != 0) return {};
    return "file\t" + path + "\t" + std::to_string(status.st_dev) + "\t" +
           std::to_string(status.st_ino) + "\t" + std::to_string(status.st_size) + "\t" +
           std::to_string(status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec) + "\n";
}

// Rules for options are in this program, so it is a part of what an output depends on.
std::string version_of(const ShaderConverter &converter) {
    return converter.version() + " " + build_id_at(reinterpret_cast<const void *>(&run_worker));
}

int describe(const std::vector<const ShaderConverter *> &converters) {
    std::string text;
    for (const ShaderConverter *converter : converters) {
        text.append("converter\t").append(converter->id).append("\t");
        text.append(version_of(*converter)).append("\t").append(converter->about).append("\n");
        for (const OptionRule &rule : converter->rules) {
            std::string values = rule.values.empty() ? rule.any_default + "|*" : "";
            for (const std::string &value : rule.values) {
                values += (values.empty() ? "" : "|") + value;
            }
            text += "option\t" + rule.name + "\t" + values + "\t" + rule.about + "\n";
        }
    }
    for (const LoadedObject &object : loaded_objects()) text += file_line(object.path);
    return send_all(text) ? 0 : 1;
}

template <typename Number>
bool parse(std::string_view text, Number &number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && number > 0;
}

// Nothing where it is too large.
std::optional<std::string> read_input(std::size_t size_max) {
    std::string input;
    std::array<char, 65536> part;
    for (;;) {
        const ssize_t count = ::read(STDIN_FILENO, part.data(), part.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return input;
        if (input.size() + static_cast<std::size_t>(count) > size_max) return std::nullopt;
        input.append(part.data(), static_cast<std::size_t>(count));
    }
}

int convert(const std::vector<const ShaderConverter *> &converters, int argc,
            const char *const *argv) {
    Limits limits;
    if (argc < kFirstOption || !parse(argv[3], limits.seconds) ||
        !parse(argv[4], limits.memory_bytes)) {
        return 2;
    }
    const auto is_it = [&](const ShaderConverter *one) { return one->id == argv[2]; };
    const auto found = std::find_if(converters.begin(), converters.end(), is_it);
    if (found == converters.end()) {
        return answer(Outcome::no_converter, "", {false, "", "there is no such converter\n"});
    }
    const ShaderConverter &converter = **found;
    Options options;
    for (int i = kFirstOption; i < argc; ++i) {
        const std::string_view option = argv[i];
        const std::size_t equals = option.find('=');
        if (equals == std::string_view::npos) return 2;
        options[std::string(option.substr(0, equals))] = option.substr(equals + 1);
    }
    std::string problem;
    if (!complete_options(converter, options, problem)) {
        return answer(Outcome::option, version_of(converter), {false, "", problem + "\n"});
    }
    const auto input = read_input(limits.input_bytes);
    if (!input) return 2;
    const Converted converted = convert_in_child(converter, options, *input, limits, STDIN_FILENO);
    return answer(converted.ok ? Outcome::converted : Outcome::refused, version_of(converter),
                  converted);
}

}  // namespace

bool is_for_worker(int argc, const char *const *argv) {
    return argc > 1 && (argv[1] == kDescribe || argv[1] == kConvert);
}

int run_worker(const std::vector<const ShaderConverter *> &converters, int argc,
               const char *const *argv) {
    return argv[1] == kDescribe ? describe(converters) : convert(converters, argc, argv);
}

}  // namespace cairn::conversions
