// SPDX-License-Identifier: MIT
// `cairn doctor`: what keeps programs from being served, and the command that mends it.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "caches.h"
#include "command.h"
#include "doctor/checks.h"
#include "doctor/driver_client.h"
#include "output.h"

namespace cairn::cli {
namespace {

using doctor::Finding;
using doctor::Findings;
using doctor::Level;

constexpr const char *kFooter =
    R"(It looks at the environment that it was started with, so start it from the session in question. It
changes nothing. Every finding has a name, which docs/doctor.md explains.

APPLICATION is a program, by its path or its name in PATH, or an application that `cairn ls` shows.

Examples:
  cairn doctor
  cairn doctor glmark2-es2
  cairn doctor --json | jq '.findings[] | select(.level == "wrong")'

Exit codes: 0 nothing is wrong, with --strict also no warning; 1 something is wrong; 2 wrong usage.)";

struct Options {
    std::optional<std::string> application;
    bool json = false;
    bool strict = false;
    bool no_driver = false;
    std::string ask_driver;
};

void print_finding(const Finding &finding) {
    const doctor::Kind &kind = doctor::kind_of(finding.id);
    const bool is_plain = kind.level == Level::ok;
    print_line("  {:<8} {}{}{}{}", level_name(kind.level), finding.what,
               *kind.why == '\0' ? "" : ": ", kind.why,
               is_plain ? "" : fmt::format("  [{}]", kind.name));
    if (!finding.mend.empty()) print_line("           mend: {}", finding.mend);
}

bool is_of(const Finding &finding, std::string_view group) {
    return doctor::kind_of(finding.id).group() == group;
}

std::string verdict(const Findings &findings) {
    const size_t wrong = findings.count(Level::wrong);
    const size_t warnings = findings.count(Level::warning);
    std::string text =
        wrong == 0 ? "Nothing is wrong" : format_count(wrong, "thing is wrong", "things are wrong");
    if (warnings != 0) text.append("; ").append(format_count(warnings, "warning", "warnings"));
    return text.append(".");
}

void print_findings(const Findings &findings, bool has_application) {
    for (const doctor::Group &group : doctor::groups()) {
        const bool is_application = std::string_view(group.name) == "application";
        if (is_application && !has_application) continue;
        const auto &all = findings.all();
        const bool is_well = std::ranges::none_of(all, [&](const Finding &finding) {
            return is_of(finding, group.name) &&
                   doctor::kind_of(finding.id).level >= Level::warning;
        });
        print_line("{}{}", group.title, is_well ? ": ok" : ":");
        for (const Level level : {Level::wrong, Level::warning, Level::note, Level::ok}) {
            for (const Finding &finding : all) {
                if (!is_of(finding, group.name)) continue;
                if (doctor::kind_of(finding.id).level == level) print_finding(finding);
            }
        }
    }
    print_line(verdict(findings));
}

void print_findings_json(const doctor::Examined &examined, const Findings &findings) {
    nlohmann::ordered_json json;
    json["wrong"] = findings.count(Level::wrong);
    json["warnings"] = findings.count(Level::warning);
    json["root"] =
        examined.root.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(examined.root);
    json["application"] = examined.application.empty()
                              ? nlohmann::ordered_json()
                              : nlohmann::ordered_json(examined.application);
    json["findings"] = nlohmann::ordered_json::array();
    for (const Finding &finding : findings.all()) {
        const doctor::Kind &kind = doctor::kind_of(finding.id);
        nlohmann::ordered_json entry = {{"id", kind.name},
                                        {"group", kind.group()},
                                        {"level", level_name(kind.level)},
                                        {"what", finding.what},
                                        {"why", kind.why}};
        entry["mend"] =
            finding.mend.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(finding.mend);
        json["findings"].push_back(std::move(entry));
    }
    print_json(json);
}

int diagnose(const Options &options) {
    // As of a script whose variable is not set.
    if (options.application == "") throw Failure(kExitUsage, "the application has no name");
    const doctor::Examined examined(doctor::this_machine(), options.application.value_or(""),
                                    !options.no_driver);
    const Findings findings = doctor::examine(examined);
    options.json ? print_findings_json(examined, findings)
                 : print_findings(findings, options.application.has_value());
    const bool is_well = findings.count(Level::wrong) == 0 &&
                         (!options.strict || findings.count(Level::warning) == 0);
    return is_well ? kExitOk : kExitFailure;
}

Run define(Arguments &take) {
    auto options = std::make_shared<Options>();
    take.value("application", options->application, "Also whether this program would be served");
    take.flag("--json", options->json, "Print JSON");
    take.flag("--strict", options->strict, "Warnings count as wrong");
    take.flag("--no-driver", options->no_driver, "Do not ask the driver what it offers");
    take.dir();
    take.hidden("--ask-driver", options->ask_driver);
    return [options] {
        if (!options->ask_driver.empty()) doctor::ask_driver(options->ask_driver);
        return diagnose(*options);
    };
}

}  // namespace

const Command doctor_command = {"doctor", "Find what keeps programs from being served", kFooter,
                                define};

}  // namespace cairn::cli
