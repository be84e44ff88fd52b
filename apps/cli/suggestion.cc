// SPDX-License-Identifier: MIT
#include "suggestion.h"

#include <fmt/format.h>

#include <algorithm>

namespace cairn::cli {
namespace {

// Edits that lead from one word to the other (optimal string alignment).
size_t distance(std::string_view one, std::string_view other) {
    std::vector<size_t> before_last, last(other.size() + 1), row(other.size() + 1);
    for (size_t j = 0; j <= other.size(); ++j) {
        row[j] = j;
    }
    for (size_t i = 1; i <= one.size(); ++i) {
        before_last = last;
        last = row;
        row[0] = i;
        for (size_t j = 1; j <= other.size(); ++j) {
            const bool is_same = one[i - 1] == other[j - 1];
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (is_same ? 0 : 1)});
            const bool is_exchanged =
                i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
            if (is_exchanged) {
                row[j] = std::min(row[j], before_last[j - 2] + 1);
            }
        }
    }
    return row.back();
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string> &known) {
    constexpr size_t kWordMax = 128;  // nothing that is known is longer
    constexpr size_t kBeginning = 3;  // letters that tell a word
    std::string best;
    size_t best_distance = std::max<size_t>(1, std::min(word.size(), kWordMax) / 3) + 1;
    for (const std::string &candidate : known) {
        const bool begins = word.size() >= kBeginning && candidate.starts_with(word);
        const size_t edits = begins ? 1 : distance(word.substr(0, kWordMax), candidate);
        // A word of other letters altogether is not meant.
        if (edits < best_distance && edits < candidate.size()) {
            best = candidate;
            best_distance = edits;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string> &known) {
    const std::string best = nearest(word, known);
    return best.empty() ? "" : fmt::format(" (did you mean `{}`?)", best);
}

}  // namespace cairn::cli
