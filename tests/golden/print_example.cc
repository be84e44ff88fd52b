// Prints the worked example of docs/formats/store.md, to help change the format.
// SPDX-License-Identifier: MIT
#include <cstdio>

#include "golden/example.h"

namespace {

void print(const char *title, cairn::Bytes bytes) {
    std::printf("%s\n", title);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i % 16 == 0) std::printf("%04zx ", i);
        std::printf(" %02x", static_cast<unsigned>(bytes[i]));
        if (i % 16 == 15) std::printf("\n");
    }
}

}  // namespace

int main() {
    print("index header", cairn_test::example_index_header());
    print("segment", cairn_test::example_segment());
    std::printf("slot %016llx\nin the file %016llx\nempty %016llx\n",
                static_cast<unsigned long long>(cairn_test::example_slot().word()),
                static_cast<unsigned long long>(cairn_test::example_word_in_file()),
                static_cast<unsigned long long>(cairn::kEmptySlot));
}
