// SPDX-License-Identifier: MIT
// `cairn run`: what the application gets, what comes back, and what is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "program.h"

namespace cairn::cli_test {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class RunTest : public testing::Test {
  protected:
    RunTest() {
        // A front end that nothing ever loads: the applications here use no EGL.
        manifest_ = folder_.write("front_end/egl.json",
                                  R"({"ICD": {"library_path": "libEGL_cairn.so.0"}})");
        environment_ = {{"CAIRN_DIR", folder_ / "root"}, {"CAIRN_EGL_MANIFEST", manifest_}};
    }

    Finished run(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), "run");
        return cairn(arguments, environment_);
    }

    nlohmann::json run_for_json(std::vector<std::string> application) const {
        const bool is_private = application.front() == "--private";
        application.insert(application.begin() + (is_private ? 1 : 0),
                           {"--json", folder_ / "out.json", "--"});
        run(application);
        return nlohmann::json::parse(read_file(folder_ / "out.json"));
    }

    Folder folder_;
    std::string manifest_;
    Environment environment_;
};

TEST_F(RunTest, ExitCodeIsThatOfTheApplication) {
    for (const int exit_code : {0, 1, 3, 125, 255}) {
        EXPECT_EQ(run({"--", "sh", "-c", "exit " + std::to_string(exit_code)}).exit_code,
                  exit_code);
    }
}

TEST_F(RunTest, EachRecordingHasANameOfItsOwn) {
    const std::vector<std::string> told = {"--quiet", "--record", "sh", "-c", "echo $CAIRN_RECORD"};
    const std::string first = run(told).standard_output, second = run(told).standard_output;
    EXPECT_GT(first.size(), 8u);
    EXPECT_NE(first, second);
    EXPECT_EQ(run({"--quiet", "sh", "-c", "echo $CAIRN_RECORD"}).standard_output, "\n");
}

TEST_F(RunTest, DeathBySignalIs128AndItsNumber) {
    EXPECT_EQ(run({"sh", "-c", "kill -KILL $$"}).exit_code, 128 + 9);
    EXPECT_EQ(run({"sh", "-c", "kill -TERM $$"}).exit_code, 128 + 15);
    EXPECT_EQ(run({"sh", "-c", "kill -SEGV $$"}).exit_code, 128 + 11);
}

TEST_F(RunTest, WhatCannotBeStartedIs126Or127AsInShells) {
    const std::string plain_file = folder_.write("plain", "text");
    const std::string no_interpreter = folder_.write("script", "#!/no/such/interpreter\n");
    fs::permissions(no_interpreter, fs::perms::owner_all);
    EXPECT_EQ(run({"no-such-program-anywhere"}).exit_code, 127);
    EXPECT_EQ(run({folder_ / "none"}).exit_code, 127);
    EXPECT_EQ(run({plain_file}).exit_code, 126);
    EXPECT_EQ(run({plain_file + "/below"}).exit_code, 126);
    EXPECT_EQ(run({folder_.path().string()}).exit_code, 126);
    EXPECT_EQ(run({no_interpreter}).exit_code, 126);
}

TEST_F(RunTest, AFileInThePathThatCannotBeExecutedIs126) {
    folder_.write("bin/plain", "text");
    environment_["PATH"] = "/no/such/folder:" + (folder_ / "bin");
    EXPECT_EQ(run({"plain"}).exit_code, 126);
    EXPECT_EQ(run({"other"}).exit_code, 127);
}

TEST_F(RunTest, WhatCannotBeStartedIsSaidOnceEvenWhenQuiet) {
    const Finished finished = run({"--quiet", "no-such-program-anywhere"});
    EXPECT_EQ(finished.standard_error, "cairn: no-such-program-anywhere: no such program\n");
}

TEST_F(RunTest, ATraceIsAnEmptyFileThatTheApplicationIsTold) {
    folder_.write("trace", "what an earlier run left");
    const Finished finished =
        run({"--trace", folder_ / "trace", "--", "sh", "-c", "echo $CAIRN_TRACE"});
    EXPECT_EQ(finished.standard_output, (folder_ / "trace") + "\n");
    EXPECT_EQ(read_file(folder_ / "trace"), "");
    EXPECT_EQ(run({"--trace", "/no/such/folder/x", "true"}).exit_code, 125);
}

TEST_F(RunTest, ADashIsStandardOutput) {
    for (const char *output : {"-", "/dev/stdout"}) {
        const Finished finished = run({"--json", output, "--", "sh", "-c", "exit 3"});
        EXPECT_EQ(finished.exit_code, 3);
        EXPECT_EQ(nlohmann::json::parse(finished.standard_output)["exit_code"], 3) << output;
    }
    const Finished traced = run({"--trace", "-", "--", "sh", "-c", "echo line >> $CAIRN_TRACE"});
    EXPECT_EQ(traced.standard_output, "line\n");
    EXPECT_FALSE(fs::exists("-"));
}

// Until the application has ended, the numbers of an earlier run stay.
TEST_F(RunTest, AnOlderReportIsReplacedAsAWhole) {
    const std::string json = folder_.write("out.json", "older");
    const Finished finished = run({"--json", json, "--", "cat", json});
    EXPECT_EQ(finished.standard_output, "older");
    EXPECT_EQ(nlohmann::json::parse(read_file(json))["exit_code"], 0);
}

TEST_F(RunTest, WrongUsageIs125AndStartsNothing) {
    const std::string trace = folder_ / "started";
    for (const std::vector<std::string> &arguments :
         std::vector<std::vector<std::string>>{{},
                                               {"--"},
                                               {"--jsn", "touch", trace},
                                               {"--json", "--", "touch", trace},
                                               {"--json", "/no/such/folder/x", "touch", trace}}) {
        const Finished finished = run(arguments);
        EXPECT_EQ(finished.exit_code, 125) << testing::PrintToString(arguments);
        EXPECT_THAT(finished.standard_error, StartsWith("cairn: "));
        EXPECT_FALSE(fs::exists(trace));
    }
}

TEST_F(RunTest, ArgumentsReachTheApplicationAsTheyAre) {
    const std::vector<std::vector<std::string>> lines = {
        {"printf", "[%s]", "a b", "", "--", "--json", "x", "-q", "--help", "$HOME", "*"},
        {"--", "printf", "[%s]", "a b", "", "--", "--json", "x", "-q", "--help", "$HOME", "*"}};
    for (const auto &line : lines) {
        EXPECT_EQ(run(line).standard_output, "[a b][][--][--json][x][-q][--help][$HOME][*]");
    }
}

TEST_F(RunTest, StandardInputAndOutputAreTheApplications) {
    Program shell({"sh", "-c", "printf hello | \"$0\" run -q -- cat", CAIRN_PROGRAM}, environment_);
    EXPECT_EQ(shell.wait(), 0);
    EXPECT_EQ(shell.standard_output(), "hello");
    EXPECT_EQ(shell.standard_error(), "");
}

TEST_F(RunTest, NoDescriptorOfOursReachesTheApplication) {
    const std::vector<std::string> application = {"sh", "-c", "cd /proc/$$/fd && echo *"};
    Program plain(application, environment_);
    ASSERT_EQ(plain.wait(), 0);
    EXPECT_EQ(run(application).standard_output, plain.standard_output());
}

TEST_F(RunTest, TheFrontEndAndTheReportAreInTheEnvironment) {
    environment_["__EGL_VENDOR_LIBRARY_FILENAMES"] = "/a.json:/b.json";
    const std::string output = run({"env"}).standard_output;
    EXPECT_THAT(output, HasSubstr("__EGL_VENDOR_LIBRARY_FILENAMES=" + manifest_ +
                                  ":/a.json:/b.json:" + (folder_ / "front_end/last/")));
    EXPECT_THAT(output, HasSubstr("\nCAIRN_REPORT=" + folder_ / "root/.report-"));
}

TEST_F(RunTest, ADirectoryIsPassedOnAsAnAbsolutePath) {
    const std::string where = fs::relative(folder_ / "some/where").string();
    const std::string output = run({"--dir", where, "env"}).standard_output;
    EXPECT_THAT(output, HasSubstr("CAIRN_DIR=" + folder_ / "some/where\n"));
}

TEST_F(RunTest, ALimitIsPassedOnInBytes) {
    EXPECT_THAT(run({"--limit", "1.5 GiB", "env"}).standard_output,
                HasSubstr("CAIRN_LIMIT=1610612736\n"));
    EXPECT_THAT(run({"env"}).standard_output, Not(HasSubstr("CAIRN_LIMIT")));
}

TEST_F(RunTest, ALimitThatIsNoneStartsNothing) {
    for (const char *limit : {"", "much", "4X", "-1", "0", "3M", "99999999999T"}) {
        const Finished finished = run({"--limit", limit, "touch", folder_ / "started"});
        EXPECT_EQ(finished.exit_code, 125) << limit;
        EXPECT_THAT(finished.standard_error, StartsWith(std::string("cairn: --limit `") + limit));
        EXPECT_FALSE(fs::exists(folder_ / "started"));
    }
}

TEST_F(RunTest, CountersAreThereHoweverTheApplicationEnds) {
    const std::vector<std::pair<std::string, int>> ends = {
        {"return", 0}, {"_exit", 5}, {"kill", 128 + 9}, {"abort", 128 + 6}};
    uint64_t hits = 10;
    for (const auto &[end, exit_code] : ends) {
        ++hits;
        const auto json = run_for_json({CAIRN_REPORT_CLIENT, "count", std::to_string(hits), end});
        EXPECT_EQ(json["exit_code"], exit_code) << end;
        EXPECT_EQ(json["signal"], exit_code > 128 ? nlohmann::json(exit_code - 128) : nullptr)
            << end;
        EXPECT_EQ(json["report"]["hits"], hits) << end;
        EXPECT_EQ(json["report"]["processes"], 1) << end;
        EXPECT_EQ(json["report"]["saved_ns"], hits * 1'000'000) << end;
    }
}

TEST_F(RunTest, AllProcessesOfTheApplicationCountTogether) {
    const auto json = run_for_json({CAIRN_REPORT_CLIENT, "fork", "1000", "8"});
    EXPECT_EQ(json["report"]["processes"], 8);
    EXPECT_EQ(json["report"]["hits"], 8000);
}

// As the kernel keeps those with fewer rights, and those in a container, from looking into the
// launcher.
TEST_F(RunTest, AProcessThatIsKeptApartFromTheLauncherCounts) {
    const auto json = run_for_json({CAIRN_REPORT_CLIENT, "apart", "17"});
    if (json["exit_code"] == 77) GTEST_SKIP() << "processes cannot be kept apart here";
    EXPECT_EQ(json["report"]["hits"], 17);
}

TEST_F(RunTest, NoReportIsLeftBehind) {
    const auto reports = [this] {
        std::vector<std::string> found;
        for (const auto &entry : fs::directory_iterator(folder_ / "root")) {
            if (entry.path().filename().string().starts_with(".report")) {
                found.push_back(entry.path());
            }
        }
        return found;
    };
    run({"true"});
    EXPECT_THAT(reports(), testing::IsEmpty());
    run({"sh", "-c", "kill -KILL $PPID"});
    EXPECT_THAT(reports(), testing::SizeIs(1));
    const Finished outer =
        run({"sh", "-c", std::string(CAIRN_PROGRAM) + " run -q true; ls -a $CAIRN_DIR"});
    EXPECT_THAT(outer.standard_output, testing::ContainsRegex("\\.report-[0-9a-f]+\n"))
        << "it is in use";
    EXPECT_THAT(reports(), testing::IsEmpty());
}

TEST_F(RunTest, WhereTheCachesCannotBeWrittenTheReportIsInMemory) {
    environment_["CAIRN_DIR"] = folder_.write("file", "");
    const auto json = run_for_json({CAIRN_REPORT_CLIENT, "count", "5", "kill"});
    EXPECT_EQ(json["report"]["hits"], 5);
    EXPECT_EQ(run({CAIRN_REPORT_CLIENT, "resize"}).exit_code, 0) << "nobody can cut it short";
}

TEST_F(RunTest, PrivateKeepsNothing) {
    environment_["CAIRN_BROKER_FD"] = "7";
    environment_["CAIRN_EGL_BROKER"] = "1";
    for (const char *name : {"CAIRN_TRACE", "CAIRN_RECORD", "CAIRN_KEEP_SOURCES"}) {
        environment_[name] = "1";
    }
    const Finished finished = run({"--private", "env"});
    for (const char *line :
         {"CAIRN_EGL_PERSIST=0\n", "CAIRN_EGL_BROKER=0\n", "CAIRN_DIR=/dev/null/cairn\n",
          "MESA_SHADER_CACHE_DIR=/dev/null/cairn\n", "__GL_SHADER_DISK_CACHE=0\n",
          "CAIRN_REPORT=/proc/"}) {
        EXPECT_THAT(finished.standard_output, HasSubstr(line));
    }
    for (const char *name :
         {"CAIRN_BROKER_FD", "CAIRN_TRACE", "CAIRN_RECORD", "CAIRN_KEEP_SOURCES"}) {
        EXPECT_THAT(finished.standard_output, Not(HasSubstr(name)));
    }
    EXPECT_THAT(finished.standard_output, Not(HasSubstr("CAIRN_DISABLE")));
    const auto json = run_for_json({"--private", CAIRN_REPORT_CLIENT, "count", "5", "kill"});
    EXPECT_EQ(json["report"]["hits"], 5);
    EXPECT_EQ(json["problem"], nullptr);
    EXPECT_FALSE(fs::exists(folder_ / "root"));
}

TEST_F(RunTest, PrivateGoesWithNothingThatKeeps) {
    for (const std::vector<std::string> &other : std::vector<std::vector<std::string>>{
             {"--limit", "1G"}, {"--record"}, {"--keep-sources"}}) {
        std::vector<std::string> arguments = {"--private"};
        arguments.insert(arguments.end(), other.begin(), other.end());
        arguments.insert(arguments.end(), {"touch", folder_ / "started"});
        const Finished finished = run(arguments);
        EXPECT_EQ(finished.exit_code, 125);
        EXPECT_THAT(finished.standard_error, HasSubstr("leave out " + other.front()));
        EXPECT_FALSE(fs::exists(folder_ / "started"));
    }
}

TEST_F(RunTest, PrivateIsUncachedWhereCachingIsSwitchedOff) {
    environment_["CAIRN_DEVELOPER_MODE"] = "1";
    ASSERT_EQ(cairn({"control", "--kind", "cache-for-driver", "--disable"}, environment_).exit_code,
              0);
    EXPECT_THAT(run({"--private", "env"}).standard_output, HasSubstr("CAIRN_DISABLE=1\n"));
}

TEST_F(RunTest, RunsWithinRunsCountForTheInnermost) {
    const std::string inner = folder_ / "inner.json";
    const auto outer = run_for_json({CAIRN_PROGRAM, "run", "-q", "--json", inner, "--",
                                     CAIRN_REPORT_CLIENT, "count", "7", "kill"});
    EXPECT_EQ(nlohmann::json::parse(read_file(inner))["report"]["hits"], 7);
    EXPECT_EQ(outer["report"]["hits"], 0);
    EXPECT_EQ(outer["exit_code"], 128 + 9);
}

TEST_F(RunTest, SaysWhatWasSaved) {
    const Finished finished = run({CAIRN_REPORT_CLIENT, "count", "12", "kill"});
    EXPECT_THAT(finished.standard_error, HasSubstr("cairn: 12 of 12 programs from the cache\n"));
    EXPECT_THAT(finished.standard_error, HasSubstr("about 12.0 ms saved"));
}

TEST_F(RunTest, QuietSaysNothing) {
    EXPECT_EQ(run({"--quiet", CAIRN_REPORT_CLIENT, "count", "12", "_exit"}).standard_error, "");
    EXPECT_EQ(run({"-q", "true"}).standard_error, "");
}

TEST_F(RunTest, SaysWhenNoProgramPassedThrough) {
    EXPECT_THAT(run({"true"}).standard_error, StartsWith("cairn: no GL program passed through: "));
}

TEST_F(RunTest, WithoutTheFrontEndTheApplicationRunsUncached) {
    environment_["CAIRN_EGL_MANIFEST"] = folder_ / "none.json";
    const Finished finished = run({"sh", "-c", "env; exit 3"});
    EXPECT_EQ(finished.exit_code, 3);
    EXPECT_THAT(finished.standard_output, Not(HasSubstr("__EGL_VENDOR_LIBRARY_")));
    EXPECT_THAT(finished.standard_error, StartsWith("cairn: ran uncached: "));
    EXPECT_THAT(finished.standard_error, HasSubstr("none.json"));
    EXPECT_EQ(std::count(finished.standard_error.begin(), finished.standard_error.end(), '\n'), 1);
}

TEST_F(RunTest, WithAnUnsafeRootTheApplicationRunsUncached) {
    fs::create_directory(folder_ / "real");
    fs::create_symlink(folder_ / "real", folder_ / "link");
    environment_["CAIRN_DIR"] = folder_ / "link";
    const Finished finished = run({"sh", "-c", "exit 3"});
    EXPECT_EQ(finished.exit_code, 3);
    EXPECT_THAT(finished.standard_error, StartsWith("cairn: ran uncached: "));
    EXPECT_THAT(finished.standard_error, HasSubstr(folder_ / "link"));
}

TEST_F(RunTest, WithARelativeDirectoryTheApplicationRunsUncached) {
    environment_["CAIRN_DIR"] = "some/where";
    const Finished finished = run({"sh", "-c", "env; exit 3"});
    EXPECT_EQ(finished.exit_code, 3);
    EXPECT_THAT(finished.standard_output, Not(HasSubstr("__EGL_VENDOR_LIBRARY_")));
    EXPECT_THAT(finished.standard_error,
                StartsWith("cairn: ran uncached: CAIRN_DIR is `some/where`, "));
}

TEST_F(RunTest, SwitchedOffTheApplicationRunsUncachedAndIsToldSo) {
    environment_["CAIRN_DISABLE"] = "1";
    const Finished finished = run({"sh", "-c", "env; exit 3"});
    EXPECT_EQ(finished.exit_code, 3);
    EXPECT_THAT(finished.standard_output, Not(HasSubstr("__EGL_VENDOR_LIBRARY_")));
    EXPECT_EQ(finished.standard_error, "cairn: ran uncached: CAIRN_DISABLE is set\n");
}

TEST_F(RunTest, AnIgnoredSigchldDoesNotLoseTheExitCode) {
    Program shell({"sh", "-c", "trap '' CHLD; exec \"$0\" run -q -- sh -c 'exit 7'", CAIRN_PROGRAM},
                  environment_);
    EXPECT_EQ(shell.wait(), 7);
}

TEST_F(RunTest, AClosedStandardErrorDoesNotChangeTheExitCode) {
    Program shell({"sh", "-c", "exec \"$0\" run -- sh -c 'exit 7' 2>&-", CAIRN_PROGRAM},
                  environment_);
    EXPECT_EQ(shell.wait(), 7);
}

TEST_F(RunTest, WhatIsSaidToAClosedStandardErrorIsInNoFile) {
    const std::string out = folder_ / "out.json";
    for (const char *closed : {"2>&-", ">&- 2>&-", "<&- >&- 2>&-"}) {
        Program shell(
            {"sh", "-c", std::string("exec \"$0\" run --json \"$1\" -- sh -c 'exit 7' ") + closed,
             CAIRN_PROGRAM, out},
            environment_);
        EXPECT_EQ(shell.wait(), 7) << closed;
        EXPECT_EQ(nlohmann::json::parse(read_file(out))["exit_code"], 7) << closed;
    }
}

}  // namespace
}  // namespace cairn::cli_test
