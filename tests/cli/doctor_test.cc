// SPDX-License-Identifier: MIT
// `cairn doctor` as people and scripts start it; and that each finding has a test and a place in docs/doctor.md.
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>

#include "doctor_support.h"

namespace cairn::cli_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class DoctorCommandTest : public DoctorTest {
  protected:
    static nlohmann::json found(const Finished &finished, const std::string &id) {
        const auto json = nlohmann::json::parse(finished.standard_output);
        for (const auto &each : json["findings"]) {
            if (each["id"] == id) return each;
        }
        return {};
    }
    // All that is in a folder: names, kinds, sizes, modes and times.
    static std::map<std::string, std::string> tree(const std::string &folder) {
        std::map<std::string, std::string> all;
        for (const auto &entry : fs::recursive_directory_iterator(folder)) {
            struct stat status = {};
            EXPECT_EQ(::lstat(entry.path().c_str(), &status), 0);
            std::string &text = all[entry.path().string()];
            text = std::to_string(status.st_mode) + " " + std::to_string(status.st_size) + " " +
                   std::to_string(status.st_mtim.tv_sec) + "." +
                   std::to_string(status.st_mtim.tv_nsec);
            if (S_ISREG(status.st_mode)) text += read_file(entry.path().string());
        }
        return all;
    }
};

TEST_F(DoctorCommandTest, ExitCodesAreForScripts) {
    EXPECT_EQ(run({"doctor", "--no-driver"}).exit_code, 0);
    // Of the machine itself: a device that this user may not open, and the like.
    const auto before =
        nlohmann::json::parse(run({"doctor", "--no-driver", "--json"}).standard_output);
    const int warnings = before["warnings"].get<int>() + 1;
    set("CAIRN_LOGG", "1");
    const Finished warned = run({"doctor", "--no-driver"});
    EXPECT_EQ(warned.exit_code, 0) << warned.standard_output;
    EXPECT_THAT(warned.standard_output, HasSubstr(std::to_string(warnings) + " warning"));
    EXPECT_EQ(run({"doctor", "--no-driver", "--strict"}).exit_code, 1);
    set("CAIRN_DISABLE", "1");
    const Finished wrong = run({"doctor", "--no-driver"});
    EXPECT_EQ(wrong.exit_code, 1);
    EXPECT_THAT(wrong.standard_output, HasSubstr("mend: unset CAIRN_DISABLE"));
    EXPECT_THAT(wrong.standard_output, HasSubstr("1 thing is wrong"));
    EXPECT_EQ(run({"doctor", "--nonsense"}).exit_code, 2);
    EXPECT_EQ(run({"doctor", "one", "two"}).exit_code, 2);
}

TEST_F(DoctorCommandTest, JsonHasTheSame) {
    set("CAIRN_DISABLE", "1");
    const Finished finished = run({"doctor", "--no-driver", "--json", "no_such_game"});
    EXPECT_EQ(finished.exit_code, 1);
    const auto json = nlohmann::json::parse(finished.standard_output);
    EXPECT_EQ(json["wrong"], 2);
    EXPECT_EQ(json["root"], root_);
    EXPECT_EQ(json["application"], "no_such_game");
    const auto disabled = found(finished, "environment.disabled");
    EXPECT_EQ(disabled["group"], "environment");
    EXPECT_EQ(disabled["level"], "wrong");
    EXPECT_EQ(disabled["what"], "CAIRN_DISABLE is set");
    EXPECT_EQ(disabled["mend"], "unset CAIRN_DISABLE");
    EXPECT_THAT(disabled["why"].get<std::string>(), HasSubstr("pass everything through"));
    EXPECT_FALSE(found(finished, "application.missing").is_null());
}

TEST_F(DoctorCommandTest, ItAsksTheRealDriver) {
    const Finished finished = run({"doctor"});
    EXPECT_EQ(finished.exit_code, 0) << finished.standard_output;
    EXPECT_THAT(finished.standard_output, HasSubstr("through EGL came from the cache"));
    EXPECT_EQ(finished.standard_error, "");
}

TEST_F(DoctorCommandTest, NothingIsChanged) {
    ASSERT_EQ(run({"enable"}).exit_code, 0);
    ASSERT_EQ(run({"run", "-q", "--", CLI_VIEW_CLIENT}).exit_code, 0);
    configure("limt = 1\n");
    set("TMPDIR", folder_ / "temporary");
    fs::create_directory(folder_ / "temporary");
    const auto before = tree(folder_.path());
    EXPECT_EQ(run({"doctor", CLI_VIEW_CLIENT}).exit_code, 0);
    auto after = tree(folder_.path());
    // A folder of its own came and went in there.
    after[folder_ / "temporary"] = before.at(folder_ / "temporary");
    EXPECT_EQ(after, before);
}

TEST_F(DoctorCommandTest, NamesCannotSteerTheTerminal) {
    set("CAIRN_EV\x1b[31mIL", "1");
    set("CAIRN_PACKS", "/a\x1b]0;title\x07");
    const Finished finished = run({"doctor", "--no-driver", "b\x1b[2J\n"});
    EXPECT_THAT(finished.standard_output, HasSubstr("CAIRN_EV?[31mIL"));
    EXPECT_THAT(finished.standard_output, Not(HasSubstr("\x1b")));
    EXPECT_THAT(finished.standard_output, Not(HasSubstr("\x07")));
    const Finished json = run({"doctor", "--no-driver", "--json"});
    EXPECT_THAT(json.standard_output, HasSubstr("CAIRN_EV\\u001b[31mIL"));
}

TEST_F(DoctorCommandTest, ItWorksWithoutAHomeAndWithAStrangePath) {
    unset("HOME");
    unset("CAIRN_DIR");
    const Finished finished = run({"doctor", "--no-driver", "game"},
                                  {{"PATH", "::relative:/dev/null:" + std::string(3000, 'x')}});
    EXPECT_EQ(finished.exit_code, 1);
    EXPECT_THAT(finished.standard_output, HasSubstr("application.missing"));
}

TEST_F(DoctorCommandTest, AnApplicationWithoutANameIsAMistake) {
    EXPECT_EQ(run({"doctor", "--no-driver", ""}).exit_code, 2);
}

TEST_F(DoctorCommandTest, WhatItAdvisesCanBeCopied) {
    const std::string name = "it's; touch made; '.sh";
    write(programs_ + "/" + name, "#!/bin/sh\n");
    const Finished finished = run({"doctor", "--no-driver", "--json", programs_ + "/" + name});
    const auto mend = found(finished, "application.not-executable")["mend"].get<std::string>();
    Program shell({"sh", "-c", "cd '" + programs_ + "' && " + mend}, {});
    EXPECT_EQ(shell.wait(), 0) << mend << shell.standard_error();
    EXPECT_EQ(::access((programs_ + "/" + name).c_str(), X_OK), 0) << mend;
    EXPECT_FALSE(fs::exists(programs_ + "/made")) << mend;
}

TEST_F(DoctorCommandTest, WithoutProcItStillFindsItself) {
    Program probe({"bwrap", "--bind", "/", "/", "--tmpfs", "/proc", "true"}, {});
    if (probe.wait() != 0) GTEST_SKIP() << "no container can be had";
    Program program({"bwrap", "--bind", "/", "/", "--dev", "/dev", "--tmpfs", "/proc",
                     CAIRN_PROGRAM, "doctor", "--no-driver"},
                    {{"CAIRN_DIR", root_}, {"HOME", home_}});
    EXPECT_EQ(program.wait(), 0) << program.standard_output();
    EXPECT_THAT(program.standard_output(), HasSubstr("sandbox.no-proc"));
}

// A variable that some part of Cairn learns to read must not be called unknown.
TEST_F(DoctorCommandTest, EveryVariableOfTheSourcesIsKnown) {
    constexpr std::string_view kBeginning = "\"CAIRN_";
    std::size_t names = 0;
    const auto set_all = [&](const std::string &text) {
        for (std::size_t at = text.find(kBeginning); at != std::string::npos;
             at = text.find(kBeginning, at + 1)) {
            const std::size_t end =
                text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", at + 1);
            const bool is_whole = end != std::string::npos && text[end] == '"';
            if (!is_whole || end == at + kBeginning.size()) continue;
            set(text.substr(at + 1, end - at - 1), "1");
            ++names;
        }
    };
    for (const char *folder : {"src", "frontends", "apps", "include", "conversions"}) {
        const fs::path place = fs::path(DOCTOR_SOURCES) / folder;
        for (const auto &entry : fs::recursive_directory_iterator(place)) {
            const std::string path = entry.path().string();
            const bool is_source = path.ends_with(".cc") || path.ends_with(".h");
            const bool is_test =
                path.ends_with("_test.cc") || path.find("/testing/") != std::string::npos;
            if (is_source && !is_test) set_all(read_file(path));
        }
    }
    ASSERT_GT(names, 20u);
    set("CAIRN_DIR", root_);
    set("CAIRN_EGL_MANIFEST", installed_ + "/cairn_egl.json");
    doctor::Findings findings;
    doctor::check_environment(doctor::Examined(machine_, "", false), findings);
    EXPECT_FALSE(findings.has(doctor::Id::unknown_variable)) << all_of(findings);
}

TEST_F(DoctorCommandTest, EveryFindingHasARowInItsPage) {
    const std::string page = read_file(DOCTOR_PAGE);
    ASSERT_FALSE(page.empty());
    std::size_t rows = 0;
    for (const doctor::Kind &kind : doctor::all_kinds()) {
        std::string row = "| `";
        row.append(kind.name).append("` | ").append(doctor::level_name(kind.level)).append(" |");
        EXPECT_THAT(page, HasSubstr(row));
        ++rows;
    }
    std::size_t rows_in_page = 0;
    for (std::size_t at = page.find("\n| `"); at != std::string::npos;
         at = page.find("\n| `", at + 1)) {
        rows_in_page += page.compare(at + 4, 2, "--") != 0;
    }
    EXPECT_EQ(rows_in_page, rows) << "a row is of no finding";
    for (const doctor::Group &group : doctor::groups()) {
        EXPECT_THAT(page, HasSubstr(std::string("## ") + group.title));
    }
}

// After all tests, where all were run.
class EveryFindingHasATest : public testing::Environment {
  public:
    void TearDown() override {
        const auto *unit = testing::UnitTest::GetInstance();
        const bool ran_all = unit->test_to_run_count() == unit->total_test_count();
        if (!ran_all || unit->failed_test_count() != 0) return;
        for (const doctor::Kind &kind : doctor::all_kinds()) {
            EXPECT_TRUE(claimed_findings().contains(kind.name))
                << "no test brings about " << kind.name;
        }
    }
};
const auto *const every_finding =
    testing::AddGlobalTestEnvironment(new EveryFindingHasATest);  // NOLINT: it is GoogleTest's

}  // namespace
}  // namespace cairn::cli_test
