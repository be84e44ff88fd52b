// SPDX-License-Identifier: MIT
// All that GL answered about a program: noted quickly while the calls are timed, written out later.
// Thread safety: belongs to one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

class Answers {
  public:
    // `what` is a literal.
    void note(const char *what, std::int64_t number) { notes_.push_back({what, number, false}); }
    void note(const char *what, std::string_view text) {
        notes_.push_back({what, static_cast<std::int64_t>(text.size()), true});
        texts_ += text;
    }

    // One line for each answer, with `name` before it.
    std::string lines(const std::string &name) const {
        std::string all;
        std::size_t place = 0;
        for (const Note &note : notes_) {
            all += name + " " + note.what + " ";
            if (note.is_text) {
                const auto size = static_cast<std::size_t>(note.number);
                append_escaped(all, std::string_view(texts_).substr(place, size));
                place += size;
            } else {
                all += std::to_string(note.number);
            }
            all += '\n';
        }
        return all;
    }

  private:
    struct Note {
        const char *what;
        std::int64_t number;  // or the size of the text
        bool is_text;
    };

    static void append_escaped(std::string &all, std::string_view text) {
        for (const char letter : text) {
            if (letter == '\n') {
                all += "\\n";
            } else {
                all += letter;
            }
        }
    }

    std::vector<Note> notes_;
    std::string texts_;
};

}  // namespace bench
