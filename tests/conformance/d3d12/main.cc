// SPDX-License-Identifier: MIT
// Judges the sessions of one calling convention by the rows of the matrix.
//
// Usage: d3d12_conformance_ABI without|vkd3d           one line a row; the last has the counts
//        d3d12_conformance_ABI without|vkd3d ROW...    these rows
//        d3d12_conformance_ABI --list                  the names of all rows
//        d3d12_conformance_ABI --session ROOT VERSION VALUE
//                                                      what is found in a DISK session there, after
//                                                      the value was stored, if there was none
//        d3d12_conformance_ABI --names                 what stands for vkd3d's adapter and its
//        driver
//
// Exit code 0: every row is right or a decided departure. 77: there is no vkd3d device.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <span>
#include <vector>

#include "adapter.h"
#include "d3d12/real_device.h"
#include "row.h"

namespace conformance {

Session open(Verdict &verdict, Stage &stage, const Desc &desc) {
    Session session;
    verdict.expect_result(stage.create(desc, session), kOk, "create");
    if (!session) {
        throw std::runtime_error("there is no session");
    }
    return session;
}

std::string own_file() {
    return std::filesystem::read_symlink("/proc/self/exe");
}

std::string said_by(const std::string &program, const std::string &environment,
                    const std::string &arguments) {
    const std::string command =
        "env " + environment + " '" + program + "' " + arguments + " 2>/dev/null";
    std::string said;
    if (FILE *output = popen(command.c_str(), "r")) {
        char text[1024];
        said.assign(text, fread(text, 1, sizeof text, output));
        pclose(output);
    }
    return said;
}

namespace {

std::vector<Row> all_rows() {
    return joined<Row>({create_rows(), identity_rows(), value_rows(), disk_rows(), lifetime_rows(),
                        control_rows(), com_rows(), device_rows()});
}

Judged judge(const Row &row) {
    if (row.needs == Needs::device && real_device() == nullptr) {
        return {Outcome::absent, "there is no device"};
    }
    Verdict verdict;
    try {
        Stage stage;
        row.judge(verdict, stage);
    } catch (const std::exception &error) {
        verdict.expect(false, error.what());
    }
    if (!verdict.failures().empty()) {
        return {Outcome::wrong, verdict.failures()};
    }
    return {row.native == Native::differs ? Outcome::departure : Outcome::right, ""};
}

int store_and_find(const char *root, const char *version, const char *value) {
    cairn_d3d12_options options = {};
    options.size = sizeof options;
    options.root = root;
    Desc desc = disk_desc();
    desc.Version = std::strtoull(version, nullptr, 10);
    Session session;
    if (CAIRN_TEST_FUNCTION(create_session)(nullptr, &options, &desc, &IID_ID3D12ShaderCacheSession,
                                            session.receive()) != kOk) {
        return 1;
    }
    (void)store(session, "key", std::string(value));
    std::fputs(find(session, "key").c_str(), stdout);
    return 0;
}

int print_names() {
    const Com<ID3D12Device> device = d3d12_test::create_real_device();
    if (!device) {
        return 77;
    }
    const auto names = cairn::d3d12::ask_device(device.get());
    std::printf("%s\n%s\n", names.adapter.c_str(), names.driver_version.c_str());
    return 0;
}

}  // namespace
}  // namespace conformance

int main(int argc, char **argv) {
    using namespace conformance;
    if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
        return list_rows(all_rows());
    }
    if (argc == 5 && std::strcmp(argv[1], "--session") == 0) {
        return store_and_find(argv[2], argv[3], argv[4]);
    }
    if (argc == 2 && std::strcmp(argv[1], "--names") == 0) {
        return print_names();
    }
    if (argc < 2 || (std::strcmp(argv[1], "without") != 0 && std::strcmp(argv[1], "vkd3d") != 0)) {
        std::fprintf(stderr,
                     "usage: d3d12_conformance_%s [--list | --names | without | vkd3d] [ROW...]\n",
                     kAbi);
        return 2;
    }
    unsetenv("CAIRN_DEVELOPER_MODE");
    Com<ID3D12Device> device;
    if (std::strcmp(argv[1], "vkd3d") == 0) {
        device = d3d12_test::create_real_device();
        if (!device) {
            std::printf("skipped: vkd3d gives no device\n");
            return 77;
        }
        set_real_device(device.get());
    }
    return judge_rows(all_rows(), std::span(argv + 2, argv + argc), kAbi,
                      std::string(", device: ") + argv[1], judge);
}
