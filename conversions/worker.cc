// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <array>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <iostream>
#include <string>

#include "base/bytes.h"
#include "conversions/converter.h"
#include "conversions/sandbox.h"
#include "os/file.h"
#include "os/helper_process.h"
#include "os/loaded_objects.h"

namespace cairn::conversions {
namespace {

constexpr int kFirstOption = 5;  // --convert ID SECONDS MEMORY_BYTES NAME=VALUE...

// Of an answer.
enum class Outcome : std::uint32_t { converted = 0, refused = 1, no_converter = 2, option = 3 };
constexpr std::uint32_t kMagic = 0x31414E43;  // "CNA1"

// Standard output is the socket.
int answer(Outcome outcome, std::string_view version, const Converted &converted) {
    std::array<std::byte, 20> head;
    std::size_t at = 0;
    for (const std::size_t number :
         {std::size_t{kMagic}, static_cast<std::size_t>(outcome), version.size(),
          converted.messages.size(), converted.output.size()}) {
        put_le(MutableBytes(head), at, static_cast<std::uint32_t>(number));
        at += sizeof(std::uint32_t);
    }
    std::cout.write(reinterpret_cast<const char *>(head.data()), head.size());
    std::cout << version << converted.messages << converted.output << std::flush;
    return std::cout ? 0 : 1;
}

// One of the files that hold our code or a converter's. When it changes, so may the versions.
// Empty for the kernel's own code, which has no file.
std::string file_line(const std::string &path) {
    const auto info = file_info(path);
    if (!path.starts_with('/') || !info.ok()) return {};
    return "file\t" + path + "\t" + std::to_string(info->device) + "\t" +
           std::to_string(info->inode) + "\t" + std::to_string(info->size_bytes) + "\t" +
           std::to_string(info->modified_ns) + "\n";
}

// Rules for options are in this program, so it is a part of what an output depends on.
std::string version_of(const ShaderConverter &converter) {
    return converter.version() + " " + build_id_at(reinterpret_cast<const void *>(&run_worker));
}

int describe(const std::vector<const ShaderConverter *> &converters) {
    for (const ShaderConverter *converter : converters) {
        std::cout << "converter\t" << converter->id << "\t" << version_of(*converter) << "\t"
                  << converter->about << "\n";
        for (const OptionRule &rule : converter->rules) {
            const std::string values =
                rule.values.empty() ? rule.any_default + "|*" : joined(rule.values, "|");
            std::cout << "option\t" << rule.name << "\t" << values << "\t" << rule.about << "\n";
        }
    }
    std::vector<std::string> paths;
    with_loaded_objects([&paths](std::span<const LoadedObject> objects) {
        for (const LoadedObject &object : objects) paths.emplace_back(object.path);
    });
    for (const std::string &path : paths) {
        // The program itself has no path.
        std::cout << file_line(path.empty() ? canonical_path("/proc/self/exe") : path);
    }
    return std::cout.flush() ? 0 : 1;
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
    while (std::cin.read(part.data(), part.size()), std::cin.gcount() > 0) {
        const auto size = static_cast<std::size_t>(std::cin.gcount());
        if (input.size() + size > size_max) return std::nullopt;
        input.append(part.data(), size);
    }
    return input;
}

int convert(const std::vector<const ShaderConverter *> &converters, int argc,
            const char *const *argv) {
    Limits limits;
    if (argc < kFirstOption || !parse(argv[3], limits.seconds) ||
        !parse(argv[4], limits.memory_bytes)) {
        return 2;
    }
    const ShaderConverter *found = find_converter(argv[2], converters);
    if (found == nullptr) {
        return answer(Outcome::no_converter, "", {false, "", "there is no such converter\n"});
    }
    const ShaderConverter &converter = *found;
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

std::optional<int> run_worker(const std::vector<const ShaderConverter *> &converters, int argc,
                              const char *const *argv) {
    const std::string_view action = argc > 1 ? argv[1] : "";
    // The library may have closed its end: then writing fails, and so does the work.
    if (action.starts_with("--")) std::signal(SIGPIPE, SIG_IGN);
    if (action == "--describe") return describe(converters);
    if (action == "--convert") return convert(converters, argc, argv);
    return std::nullopt;
}

}  // namespace cairn::conversions
