// SPDX-License-Identifier: MIT
#include "common/words.h"

#include <algorithm>
#include <set>

#include "base/mutex.h"

namespace cairn {

std::vector<std::string> split(std::string_view words, char separator) {
    std::vector<std::string> found;
    while (!words.empty()) {
        const size_t end = std::min(words.find(separator), words.size());
        if (end > 0) found.emplace_back(words.substr(0, end));
        words.remove_prefix(std::min(end + 1, words.size()));
    }
    return found;
}

std::string with_word(std::string_view words, std::string_view word) {
    std::string all(words);
    if (!has_word(words, word)) {
        all.append(all.empty() || all.back() == ' ' ? "" : " ").append(word);
    }
    return all;
}

std::string with_words(std::string_view words, std::string_view more) {
    std::string all;
    for (const std::string_view list : {words, more}) {
        for (const std::string &word : split(list, ' ')) {
            all = with_word(all, word);
        }
    }
    return all;
}

const char *kept(const std::string &text) {
    static auto *texts = new std::set<std::string>;
    static Mutex mutex;
    const MutexLock lock(mutex);
    return texts->insert(text).first->c_str();
}

bool starts_with_any(std::string_view text, std::span<const std::string_view> beginnings) {
    return std::ranges::any_of(
        beginnings, [text](std::string_view beginning) { return text.starts_with(beginning); });
}

}  // namespace cairn
