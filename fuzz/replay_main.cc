// Runs a fuzz target once for each file of the folders named on the command line, in the order of
// their names. Exit code 0: every input was taken; 1: no input was found, one could not be read, or
// one holds a path of the machine that made it. A defect aborts.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace {

std::vector<std::filesystem::path> files_in(const char *folder) {
    std::vector<std::filesystem::path> files;
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator it(folder, error), end; !error && it != end;
         it.increment(error)) {
        if (it->is_regular_file(error)) files.push_back(it->path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

bool is_in_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

// libFuzzer copies into its inputs what the program compares, names of files among it. A path is two
// names of two characters or more, each after a slash.
bool holds_path(std::string_view input) {
    size_t names = 0;
    for (size_t at = input.find('/'); at != std::string_view::npos;) {
        size_t end = at + 1;
        while (end < input.size() && is_in_name(input[end])) ++end;
        names = end - at > 2 ? names + 1 : 0;
        if (names == 2) return true;
        at = input.find('/', end);
        if (at != end) names = 0;
    }
    return false;
}

}  // namespace

int main(int argc, char **argv) {
    size_t count = 0;
    for (int i = 1; i < argc; i++) {
        for (const auto &path : files_in(argv[i])) {
            std::ifstream stream(path, std::ios::binary);
            const std::vector<char> bytes(std::istreambuf_iterator<char>(stream), {});
            if (!stream) {
                std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
                return 1;
            }
            if (holds_path({bytes.data(), bytes.size()})) {
                std::fprintf(stderr, "%s: holds a path of the machine that made it\n",
                             path.c_str());
                return 1;
            }
            // Named before it runs, so that an abort tells which input it was.
            std::printf("%s\n", path.c_str());
            std::fflush(stdout);
            LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
            count++;
        }
    }
    if (count == 0) std::fprintf(stderr, "no input: the corpus is missing\n");
    return count == 0 ? 1 : 0;
}
