// SPDX-License-Identifier: MIT
#include "conversions/converter.h"

#include <algorithm>
#include <cstdint>

#include "os/loaded_objects.h"

namespace cairn::conversions {

// built_in.inc has CAIRN_CONVERTER(name) for each converter that this build has the library of.
#define CAIRN_CONVERTER(name) extern const ShaderConverter name##_converter;
#include "built_in.inc"
#undef CAIRN_CONVERTER

namespace {

bool is_identifier(const std::string &text) {
    constexpr std::string_view kAllowed =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return !text.empty() && text.size() <= 64 &&
           text.find_first_not_of(kAllowed) == std::string::npos;
}

bool is_allowed(const OptionRule &rule, const std::string &value) {
    if (rule.values.empty()) return is_identifier(value);
    return std::find(rule.values.begin(), rule.values.end(), value) != rule.values.end();
}

}  // namespace

const std::vector<const ShaderConverter *> &converters() {
    static const std::vector<const ShaderConverter *> all = {
#define CAIRN_CONVERTER(name) &name##_converter,
#include "built_in.inc"
#undef CAIRN_CONVERTER
    };
    return all;
}

const ShaderConverter *find_converter(std::string_view id,
                                      const std::vector<const ShaderConverter *> &among) {
    const auto found = std::ranges::find(among, id, &ShaderConverter::id);
    return found == among.end() ? nullptr : *found;
}

std::string joined(const std::vector<std::string> &words, const char *separator) {
    std::string line;
    for (const std::string &word : words) line.append(line.empty() ? "" : separator).append(word);
    return line;
}

bool complete_options(const ShaderConverter &converter, Options &options, std::string &problem) {
    std::vector<std::string> names;
    for (const OptionRule &rule : converter.rules) {
        names.push_back(rule.name);
        const std::string &usual = rule.values.empty() ? rule.any_default : rule.values.front();
        if (!is_allowed(rule, options.try_emplace(rule.name, usual).first->second)) {
            problem = "the option " + rule.name + " is " +
                      (rule.values.empty() ? "an identifier of at most 64 characters"
                                           : "one of " + joined(rule.values, ", "));
            return false;
        }
    }
    if (options.size() == names.size()) return true;
    problem = std::string(converter.id) + " has no such option; it has " + joined(names, ", ");
    return false;
}

std::string build_id_at(const void *address) {
    std::string found;
    with_loaded_objects([&](std::span<const LoadedObject> objects) {
        for (const LoadedObject &object : objects) {
            if (object.has(reinterpret_cast<std::uintptr_t>(address))) found = object.build_id();
        }
    });
    return found;
}

}  // namespace cairn::conversions
