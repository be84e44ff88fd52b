// SPDX-License-Identifier: MIT
#include "words.h"

#include <algorithm>
#include <set>

#include "mutex.h"

namespace cairn::egl {

std::string with_word(std::string_view words, std::string_view word) {
    std::string all(words);
    if (!has_word(words, word)) {
        all.append(all.empty() || all.back() == ' ' ? "" : " ").append(word);
    }
    return all;
}

std::string with_words(std::string_view words, std::string_view more) {
    std::string all;
    for (std::string_view rest : {words, more}) {
        while (!rest.empty()) {
            const std::string_view word = rest.substr(0, rest.find(' '));
            all = word.empty() ? all : with_word(all, word);
            rest.remove_prefix(std::min(word.size() + 1, rest.size()));
        }
    }
    return all;
}

const char *kept(const std::string &text) {
    static auto *texts = new std::set<std::string>;
    static auto *mutex = new Mutex;
    const MutexLock lock(*mutex);
    return texts->insert(text).first->c_str();
}

}  // namespace cairn::egl
