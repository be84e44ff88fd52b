// SPDX-License-Identifier: MIT
#include "bench/link/measure.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <sstream>
#include <stdexcept>

namespace bench {
namespace {

// Counts the lines that differ, and keeps the first.
void compare_lines(const std::string &expected, const std::string &found, const std::string &where,
                   FamilyResult &result) {
    if (expected == found) return;
    std::istringstream one(expected), other(found);
    for (;;) {
        std::string left, right;
        const bool more_left = static_cast<bool>(std::getline(one, left));
        const bool more_right = static_cast<bool>(std::getline(other, right));
        if (!more_left && !more_right) return;
        if (more_left && more_right && left == right) continue;
        if (result.differences++ == 0) {
            result.first_difference =
                where + "\n  without Cairn: " + left + "\n  here:          " + right;
        }
    }
}

void compare(const PlayedFamily &expected, const PlayedFamily &found, Condition condition,
             FamilyResult &result) {
    const std::string where =
        result.name + ", " + kConditionNames[static_cast<std::size_t>(condition)];
    for (std::size_t i = 0; i < found.programs.size(); ++i) {
        const PlayedProgram &one = expected.programs[i];
        const PlayedProgram &other = found.programs[i];
        if (condition != Condition::driver) compare_lines(one.built, other.built, where, result);
        compare_lines(one.reflected, other.reflected, where, result);
        if (!other.drawn.empty()) compare_lines(one.drawn, other.drawn, where, result);
    }
}

class Measurement {
  public:
    Measurement(const Theatre &theatre, const Family &family, const Options &options)
        : theatre_(theatre),
          family_(family),
          cache_(options.folder + "/cache-"),
          rounds_(options.rounds) {
        wish_.family = family.name;
        wish_.programs.resize(std::min(family.programs.size(), options.programs_max));
        std::iota(wish_.programs.begin(), wish_.programs.end(), std::size_t{0});
        result_.name = family.name;
        result_.is_measured = family.use != Use::compared;
    }

    FamilyResult run() {
        prepare();
        for (std::size_t round = 0; round < rounds_ && !wish_.programs.empty(); ++round) {
            auto &played = result_.rounds.emplace_back();
            wish_.draw = round == 0;
            for (std::size_t turn = 0; turn < kConditions; ++turn) {
                const std::size_t which = (round + turn) % kConditions;
                const auto condition = static_cast<Condition>(which);
                if (condition == Condition::driver && !result_.is_measured) continue;
                played[which] = play(condition);
                compare(expected_, played[which], condition, result_);
            }
        }
        return std::move(result_);
    }

  private:
    PlayedFamily play(Condition condition) {
        wish_.condition = condition;
        wish_.cache = cache_ + (condition == Condition::warm ? "warm" : "cold");
        if (condition == Condition::cold) std::filesystem::remove_all(wish_.cache);
        return theatre_.play(wish_);
    }

    // Chooses the programs, keeps their binaries, and fills the cache of Condition::warm.
    void prepare() {
        wish_.draw = true;
        wish_.save_binaries = true;
        const PlayedFamily all = play(Condition::plain);
        wish_.save_binaries = false;
        const PlayedFamily again = play(Condition::plain);
        wish_.programs.clear();
        for (std::size_t i = 0; i < all.programs.size(); ++i) {
            if (is_fit(all.programs[i], again.programs[i])) {
                wish_.programs.push_back(i);
                expected_.programs.push_back(all.programs[i]);
            }
        }
        result_.programs = wish_.programs.size();
        result_.left_out = all.programs.size() - result_.programs;
        for (const std::size_t i : wish_.programs) {
            const Program &program = family_.programs[i];
            result_.source_bytes +=
                static_cast<double>(program.vertex.size() + program.fragment.size()) /
                static_cast<double>(result_.programs);
        }
        std::filesystem::remove_all(cache_ + "warm");
        wish_.draw = false;
        if (!wish_.programs.empty()) play(Condition::warm);
    }

    bool is_fit(const PlayedProgram &one, const PlayedProgram &again) const {
        if (family_.use == Use::compared) return true;
        const bool same = one.built == again.built && one.reflected == again.reflected &&
                          one.drawn == again.drawn;
        if (family_.use == Use::measured && !(one.linked && same)) {
            throw std::runtime_error(family_.name + ": without Cairn, this fails or varies:\n" +
                                     one.built + one.reflected + one.drawn);
        }
        return one.linked && same;
    }

    const Theatre &theatre_;
    const Family &family_;
    std::string cache_;
    std::size_t rounds_;
    Wish wish_;
    PlayedFamily expected_;
    FamilyResult result_;
};

}  // namespace

std::optional<FamilyResult> measure_family(const Theatre &theatre, const std::string &name,
                                           const Options &options) {
    const Family family = make_family(name);
    if (family.programs.empty()) return std::nullopt;
    return Measurement(theatre, family, options).run();
}

std::int64_t build_ns(const std::array<std::int64_t, kPhases> &spent) {
    return std::accumulate(spent.begin(), spent.begin() + kBuildPhases, std::int64_t{0});
}

double build_ms(const PlayedFamily &played) {
    std::int64_t sum = 0;
    for (const PlayedProgram &one : played.programs) sum += build_ns(one.spent.cpu_ns);
    return static_cast<double>(sum) * 1e-6;
}

}  // namespace bench
