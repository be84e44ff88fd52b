// SPDX-License-Identifier: MIT
#include "history/tally.h"

namespace cairn {

std::uint64_t Numbers::hits() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kOutcomes; ++i) {
        const auto outcome = static_cast<Outcome>(i);
        if (is_hit(outcome)) sum += count(outcome);
    }
    return sum;
}

std::uint64_t Numbers::lookups() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kOutcomes; ++i) sum += count(static_cast<Outcome>(i));
    return sum;
}

Numbers &Numbers::operator+=(const Numbers &other) {
    for (std::size_t i = 0; i < kNumbers; ++i) values[i] += other.values[i];
    return *this;
}

Numbers Tally::read() const {
    Numbers numbers;
    for (std::size_t i = 0; i < kNumbers; ++i) numbers.values[i] = read_checked(words[i], i);
    return numbers;
}

}  // namespace cairn
