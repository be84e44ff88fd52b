// SPDX-License-Identifier: MIT
#include "silent_agent.h"

#include <array>
#include <filesystem>

#include "cache/generations.h"
#include "cache/testing/fake_agent.h"
#include "cache/wanted.h"
#include "pack/entry_hash.h"
#include "store/formats.h"
#include "store/index_file.h"
#include "support/files.h"

namespace gl_test {
namespace {

namespace fs = std::filesystem;

void announce(const std::string &root, const std::string &identifier,
              std::span<const uint8_t> key) {
    auto folder = cairn::Directory::open(root + "/" + identifier);
    if (!folder.ok()) return;
    auto files = cairn::find_format(*folder);
    if (!files.ok()) return;
    auto index = files->directory.open_file(cairn::kIndexFileName, cairn::Access::read_only);
    if (!index.ok()) return;
    auto cache = cairn::read_index_identity(*index, identifier);
    if (!cache.ok()) return;
    const auto subject = cairn::subject_of(*folder, identifier, cache->version);
    const auto identity = cairn::identity_of(subject.of_kind(cairn::PackKind::entries));
    const std::array hashes = {cairn::entry_hash(identity, std::as_bytes(key))};
    const auto bytes = cairn::encode_wanted(hashes);
    const fs::path path = cairn::wanted_path(root, identity);
    // Others' files are not looked at.
    for (fs::path each = path.parent_path(); each != root; each = each.parent_path()) {
        fs::create_directories(each);
        fs::permissions(each, fs::perms::owner_all);
    }
    cairn_test::write_file(path, {reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()});
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
}

}  // namespace

struct SilentAgent::Parts {
    cairn::testing::FakeAgent agent;
};

SilentAgent::SilentAgent(const std::string &root, const std::string &identifier,
                         std::span<const uint8_t> key, const std::string &runtime_folder) {
    announce(root, identifier, key);
    const std::string folder = runtime_folder + "/cairn";
    fs::create_directories(folder);
    parts_.reset(new Parts{{folder + "/agent-ask.sock", [](const auto &, auto &) {}}});
}

SilentAgent::~SilentAgent() = default;

int SilentAgent::questions() const {
    return parts_->agent.questions;
}

}  // namespace gl_test
