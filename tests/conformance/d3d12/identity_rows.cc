// SPDX-License-Identifier: MIT
// Which sessions share a cache, and where it is.
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <filesystem>

#include "common/application.h"
#include "d3d12/peer.h"
#include "row.h"
#include "support/files.h"

namespace conformance {
namespace {

namespace fs = std::filesystem;

// As long as it lives, the working directory is a new one.
class WorkingDirectory {
  public:
    WorkingDirectory() : before_(fs::current_path()) { fs::current_path(directory_.path()); }
    ~WorkingDirectory() { fs::current_path(before_); }
    std::string path() const { return directory_.path(); }

  private:
    cairn_test::TempDirectory directory_;
    fs::path before_;
};

Desc with_flags(Desc desc, unsigned flags) {
    desc.Flags = static_cast<D3D12_SHADER_CACHE_FLAGS>(flags);
    return desc;
}

constexpr const char *kGuid = "00000001-1234-5678-0102-030405060708";  // of disk_desc()
constexpr unsigned kDriverVersioned = D3D12_SHADER_CACHE_FLAG_DRIVER_VERSIONED;
constexpr unsigned kUseWorkingDir = D3D12_SHADER_CACHE_FLAG_USE_WORKING_DIR;

void by_identifier(Verdict &verdict, Stage &stage) {
    for (const auto make : {memory_desc, disk_desc}) {
        const Session one = open(verdict, stage, make(1));
        const Session other = open(verdict, stage, make(2));
        store(one, "key", std::string("one"));
        verdict.expect_result(look(other, "key"), kNotFound, "under another identifier");
        verdict.expect_result(store(other, "key", std::string("other")), kOk, "a store there");
        verdict.expect(find(one, "key") == "one", "the first has another value");
    }
}

void by_mode(Verdict &verdict, Stage &stage) {
    const Session memory = open(verdict, stage, memory_desc());
    const Session disk = open(verdict, stage, disk_desc());
    store(memory, "key", std::string("memory"));
    verdict.expect_result(look(disk, "key"), kNotFound, "on disk");
}

void driver_versioned(Verdict &verdict, Stage &stage) {
    for (const Desc &plain : {memory_desc(), disk_desc()}) {
        const Session one = open(verdict, stage, plain);
        const Session other = open(verdict, stage, with_flags(plain, kDriverVersioned));
        store(one, "key", std::string("plain"));
        verdict.expect_result(look(other, "key"), kNotFound, "driver versioned");
        verdict.expect_result(store(other, "key", std::string("versioned")), kOk, "a store there");
        verdict.expect(find(one, "key") == "plain", "the first has another value");
    }
}

void adapters(Verdict &verdict, Stage &stage) {
    const Desc desc = with_flags(disk_desc(), kDriverVersioned);
    const char *const names[][2] = {{"one", "1"}, {"other", "1"}, {"one", "2"}};
    for (const auto &[adapter, driver] : names) {
        stage.set_adapter(adapter, driver);
        const Session session = open(verdict, stage, desc);
        verdict.expect_result(look(session, "key"), kNotFound, "a new adapter or driver");
        store(session, "key", std::string(adapter) + driver);
    }
    verdict.expect(stage.caches().size() == 3, "not side by side");
    for (const auto &[adapter, driver] : names) {
        stage.set_adapter(adapter, driver);
        const Session session = open(verdict, stage, desc);
        verdict.expect(find(session, "key") == std::string(adapter) + driver, "not its own");
    }
}

void driver_versioned_version(Verdict &verdict, Stage &stage) {
    Desc desc = with_flags(disk_desc(), kDriverVersioned);
    const Session session = open(verdict, stage, desc);
    desc.Version = 2;
    Session other;
    verdict.expect_result(stage.create(desc, other), kAlreadyExists, "another version");
}

void root(Verdict &verdict, Stage &stage) {
    { const Session session = open(verdict, stage, disk_desc()); }
    const auto caches = stage.caches();
    verdict.expect(caches.size() == 1 && caches[0] == stage.root() + "/d3d12-" +
                                                          cairn::application_name() + "-" + kGuid,
                   "the cache has another name");
    verdict.expect(fs::exists(stage.root() + "/CACHEDIR.TAG"), "there is no CACHEDIR.TAG");
}

void working_directory(Verdict &verdict, Stage &stage) {
    const WorkingDirectory here;
    const Desc desc = with_flags(disk_desc(), kUseWorkingDir);
    {
        const Session session = open(verdict, stage, desc);
        store(session, "key", std::string("value"));
        const Session elsewhere = open(verdict, stage, disk_desc());
        verdict.expect_result(look(elsewhere, "key"), kNotFound, "without the flag");
    }
    verdict.expect(fs::is_directory(here.path() + "/d3d12-shader-cache"), "it is not here");
    const Session session = open(verdict, stage, desc);
    verdict.expect(find(session, "key") == "value", "it is not found again");
}

void working_directory_changes(Verdict &verdict, Stage &stage) {
    const Desc desc = with_flags(disk_desc(), kUseWorkingDir);
    const WorkingDirectory first;
    const Session one = open(verdict, stage, desc);
    store(one, "key", std::string("first"));
    const WorkingDirectory second;
    const Session other = open(verdict, stage, desc);
    verdict.expect_result(look(other, "key"), kNotFound, "in another directory");
    verdict.expect_result(store(one, "more", std::string("value")), kOk, "the first goes on");
}

// Nothing of a MEMORY session is in any directory.
void working_directory_of_memory(Verdict &verdict, Stage &stage) {
    const Session one = open(verdict, stage, with_flags(memory_desc(), kUseWorkingDir));
    store(one, "key", std::string("value"));
    const WorkingDirectory elsewhere;
    for (const unsigned flags : {kUseWorkingDir, 0u}) {
        const Session other = open(verdict, stage, with_flags(memory_desc(), flags));
        verdict.expect(find(other, "key") == "value", "another cache");
    }
    Desc desc = with_flags(memory_desc(), kUseWorkingDir);
    desc.Version = 2;
    Session refused;
    verdict.expect_result(stage.create(desc, refused), kAlreadyExists, "another version");
}

void files_deleted(Verdict &verdict, Stage &stage) {
    const WorkingDirectory here;
    const Desc desc = with_flags(disk_desc(), kUseWorkingDir);
    { store(open(verdict, stage, desc), "key", std::string("value")); }
    for (const auto &entry : fs::recursive_directory_iterator(here.path())) {
        const std::string kind = entry.path().extension();
        if (kind == ".idx" || kind == ".val" || kind == ".lock") {
            fs::remove(entry.path());
        }
    }
    const Session session = open(verdict, stage, desc);
    verdict.expect_result(look(session, "key"), kNotFound, "after the files are gone");
    verdict.expect_result(store(session, "key", std::string("again")), kOk, "a store");
}

// Copies of this program, under a name and beside one another.
class Programs {
  public:
    explicit Programs(const Stage &stage) : root_(stage.root()) {
        fs::create_directory(directory_ / "cairn");
    }

    std::string add(const std::string &name) const {
        std::string file = directory_ / name;
        fs::create_directories(fs::path(file).parent_path());
        fs::copy_file(own_file(), file);
        return file;
    }
    void configure(const std::string &text) const {
        cairn_test::write_file(directory_ / "cairn/config", cairn_test::as_bytes(text));
    }
    // The value that the program finds. It stores this one first where there was none.
    std::string run(const std::string &file, unsigned version, const std::string &value) const {
        return said_by(file, "XDG_CONFIG_HOME='" + directory_.path() + "'",
                       "--session '" + root_ + "' " + std::to_string(version) + " " + value);
    }

  private:
    const cairn_test::TempDirectory directory_;
    const std::string root_;
};

void programs(Verdict &verdict, Stage &stage) {
    const Programs programs(stage);
    const std::string one = programs.add("one");
    const std::string other = programs.add("other");
    const std::string again = programs.add("elsewhere/one");
    verdict.expect(programs.run(one, 1, "of-one") == "of-one", "no session of the first");
    verdict.expect(programs.run(other, 2, "of-other") == "of-other", "no session of the other");
    verdict.expect(programs.run(one, 1, "again") == "of-one", "the other has emptied it");
    verdict.expect(programs.run(other, 2, "again") == "of-other", "the first has emptied it");
    verdict.expect(programs.run(again, 1, "again") == "of-one", "of that name, not shared");
    const std::string guid = std::string("-") + kGuid;
    verdict.expect(
        stage.caches() == std::vector<std::string>({stage.root() + "/d3d12-one" + guid,
                                                    stage.root() + "/d3d12-other" + guid}),
        "other names");
}

void programs_that_share(Verdict &verdict, Stage &stage) {
    const Programs programs(stage);
    programs.configure(std::string("[d3d12 ") + kGuid + "]\nshared = 1\n");
    const std::string one = programs.add("one");
    const std::string other = programs.add("other");
    verdict.expect(programs.run(one, 1, "of-one") == "of-one", "no session of the first");
    verdict.expect(programs.run(other, 1, "of-other") == "of-one", "not shared");
    verdict.expect(stage.caches() == std::vector<std::string>({stage.root() + "/d3d12-" + kGuid}),
                   "another name");
}

// As create of the stage, for the application of this name.
HRESULT create_for(Stage &stage, const char *application, const Desc &desc, Session &session) {
    auto options = stage.options();
    options.application = application;
    return CAIRN_TEST_FUNCTION(create_session)(nullptr, &options, &desc,
                                               &IID_ID3D12ShaderCacheSession, session.receive());
}

void application(Verdict &verdict, Stage &stage) {
    const std::string longest(56, 'x');
    const std::array<std::string, 4> names = {"", "a_Library-1.0", "other", longest};
    std::array<Session, names.size()> sessions;
    Desc desc = with_flags(disk_desc(), kDriverVersioned);
    for (size_t i = 0; i < names.size(); ++i) {
        desc.Version = i;
        verdict.expect_result(create_for(stage, names[i].c_str(), desc, sessions[i]), kOk,
                              "'" + names[i] + "'");
        verdict.expect_result(store(sessions[i], "key", names[i] + "'s"), kOk, "a store");
    }
    for (size_t i = 0; i < names.size(); ++i) {
        verdict.expect(find(sessions[i], "key") == names[i] + "'s", "'" + names[i] + "' shares");
    }
    desc.Version = 0;
    for (const std::string &name :
         {std::string(".x"), std::string("a b"), std::string("a/b"), longest + "x"}) {
        Session refused;
        verdict.expect_result(create_for(stage, name.c_str(), desc, refused), kInvalidArgument,
                              "'" + name + "'");
    }
}

// Sessions of MEMORY are of one process, and so of one program, whatever it is called.
void application_of_memory(Verdict &verdict, Stage &stage) {
    Session one;
    Session other;
    verdict.expect_result(create_for(stage, "one", memory_desc(), one), kOk, "create");
    verdict.expect_result(create_for(stage, "other", memory_desc(), other), kOk, "create");
    store(one, "key", std::string("value"));
    verdict.expect(find(other, "key") == "value", "another cache");
}

// Programs that were compiled when the options ended in front of the application.
void options_of_before(Verdict &verdict, Stage &stage) {
    auto options = stage.options();
    options.size = offsetof(cairn_d3d12_options, application);
    options.application = "/";  // behind the end
    const Desc desc = disk_desc();
    Session session;
    verdict.expect_result(
        CAIRN_TEST_FUNCTION(create_session)(nullptr, &options, &desc, &IID_ID3D12ShaderCacheSession,
                                            session.receive()),
        kOk, "create");
}

void root_spellings(Verdict &verdict, Stage &stage) {
    const DeveloperMode on;
    const Session session = open(verdict, stage, memory_desc());
    auto options = stage.options();
    const std::string spelled = stage.root() + "//./";
    options.root = spelled.c_str();
    const Desc desc = memory_desc();
    Session same;
    verdict.expect_result(
        CAIRN_TEST_FUNCTION(create_session)(nullptr, &options, &desc, &IID_ID3D12ShaderCacheSession,
                                            same.receive()),
        kOk, "create");
    store(session, "key", std::string("value"));
    verdict.expect(find(same, "key") == "value", "another cache");
    verdict.expect_result(CAIRN_TEST_FUNCTION(shader_cache_control)(&options, 8, 4), kOk, "clear");
    verdict.expect_result(look(session, "key"), kNotFound, "after clear");
}

constexpr Native kSame = Native::same;
constexpr std::array kRows = {
    Row{"identity.identifier", Needs::nothing, kSame, by_identifier},
    Row{"identity.mode", Needs::nothing, kSame, by_mode},
    Row{"identity.driver-versioned", Needs::nothing, kSame, driver_versioned},
    Row{"identity.adapters", Needs::nothing, kSame, adapters},
    Row{"identity.driver-versioned-version", Needs::nothing, kSame, driver_versioned_version},
    Row{"identity.programs", Needs::nothing, Native::differs, programs},
    Row{"identity.programs-that-share", Needs::nothing, kSame, programs_that_share},
    Row{"identity.application", Needs::nothing, kSame, application},
    Row{"identity.application-of-memory", Needs::nothing, kSame, application_of_memory},
    Row{"identity.options-of-before", Needs::nothing, kSame, options_of_before},
    Row{"identity.root", Needs::nothing, kSame, root},
    Row{"identity.root-spellings", Needs::nothing, kSame, root_spellings},
    Row{"identity.working-directory", Needs::nothing, kSame, working_directory},
    Row{"identity.working-directory-changes", Needs::nothing, kSame, working_directory_changes},
    Row{"identity.working-directory-of-memory", Needs::nothing, kSame, working_directory_of_memory},
    Row{"identity.files-deleted", Needs::nothing, kSame, files_deleted},
};

}  // namespace

std::span<const Row> identity_rows() {
    return kRows;
}

}  // namespace conformance
