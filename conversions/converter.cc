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
    constexpr std::size_t kSizeMax = 64;
    const auto is_allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    };
    return !text.empty() && text.size() <= kSizeMax &&
           std::all_of(text.begin(), text.end(), is_allowed);
}

bool is_allowed(const OptionRule &rule, const std::string &value) {
    if (rule.values.empty()) return is_identifier(value);
    return std::find(rule.values.begin(), rule.values.end(), value) != rule.values.end();
}

std::string joined(const std::vector<std::string> &words) {
    std::string line;
    for (const std::string &word : words) line.append(line.empty() ? "" : ", ").append(word);
    return line;
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

const ShaderConverter *find_converter(std::string_view id) {
    for (const ShaderConverter *converter : converters()) {
        if (converter->id == id) return converter;
    }
    return nullptr;
}

bool complete_options(const ShaderConverter &converter, Options &options, std::string &problem) {
    Options complete;
    for (const OptionRule &rule : converter.rules) {
        const auto given = options.find(rule.name);
        if (given == options.end()) {
            complete[rule.name] = rule.values.empty() ? rule.any_default : rule.values.front();
            continue;
        }
        if (!is_allowed(rule, given->second)) {
            problem = "the option " + rule.name + " is " +
                      (rule.values.empty() ? "an identifier of at most 64 characters"
                                           : "one of " + joined(rule.values));
            return false;
        }
        complete[rule.name] = given->second;
    }
    for (const auto &[name, value] : options) {
        if (complete.contains(name)) continue;
        std::vector<std::string> names;
        for (const OptionRule &rule : converter.rules) names.push_back(rule.name);
        problem = std::string(converter.id) + " has no such option; it has " + joined(names);
        return false;
    }
    options = std::move(complete);
    return true;
}

std::string build_id_at(const void *address) {
    for (const LoadedObject &object : loaded_objects()) {
        if (object.has(reinterpret_cast<std::uintptr_t>(address))) return object.build_id;
    }
    return {};
}

}  // namespace cairn::conversions
