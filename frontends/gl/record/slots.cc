// SPDX-License-Identifier: MIT
#include "record/slots.h"

#include <utility>

namespace cairn::gl::record {

NumberMap::Place &NumberMap::find(uint64_t number) {
    const size_t mask = places_.size() - 1;
    size_t at = static_cast<size_t>(mixed(0, number)) & mask;
    while (places_[at].number != 0 && places_[at].number != number) at = (at + 1) & mask;
    return places_[at];
}

uint64_t &NumberMap::at(uint64_t number) {
    if (2 * size_ >= places_.size()) {
        std::vector<Place> larger(places_.empty() ? 8 : 2 * places_.size());
        larger.swap(places_);
        for (const Place &place : larger) {
            if (place.number != 0) find(place.number) = place;
        }
    }
    Place &place = find(number);
    if (place.number == 0) {
        place.number = number;
        ++size_;
    }
    return place.second;
}

void NumberMap::clear() {
    std::vector<Place>().swap(places_);
    size_ = 0;
}

}  // namespace cairn::gl::record
