// SPDX-License-Identifier: MIT
#include "whole.h"

#include <gtest/gtest.h>

#include <optional>

#include "manifest_format.h"

namespace cairn::fleet_test {
namespace {

// More than any object of a test has.
constexpr std::uint64_t kManyBytes = 64u << 20;

std::vector<std::string> folders_in(remotes::Remote &remote, const std::string &folder) {
    std::vector<std::string> folders;
    for (const remotes::Listed &each : remote.list(folder)) {
        if (each.name.ends_with('/')) {
            folders.push_back(folder + "/" + each.name.substr(0, each.name.size() - 1));
        }
    }
    return folders;
}

void expect_pack(remotes::Remote &remote, const std::string &driver,
                 const fleet::ListedPack &listed) {
    const std::string name = driver + "/packs/" + fleet::hash_name(listed.hash) + ".pack.zst";
    const auto content = remote.get(name, kManyBytes);
    ASSERT_TRUE(content) << name << " is listed and not there";
    EXPECT_EQ(content->size(), listed.size_bytes) << name;
    EXPECT_EQ(fleet::hash_of_object(as_bytes(*content)), listed.hash) << name;
}

void expect_manifest(remotes::Remote &remote, const std::string &driver, const std::string &object,
                     Whole &whole) {
    const auto name = fleet::parse_manifest_name(object);
    if (!name) return;  // nobody reads it
    const std::string path = driver + "/manifests/" + object;
    const auto content = remote.get(path, kManyBytes);
    if (!content) return;
    EXPECT_EQ(fleet::hash_of_object(as_bytes(*content)), name->hash) << path;
    ASSERT_GT(content->size(), fleet::kManifestTrailerSize) << path;
    const auto manifest =
        fleet::decode(as_bytes(*content).first(content->size() - fleet::kManifestTrailerSize));
    ASSERT_TRUE(manifest) << path;
    ++whole.manifests;
    for (const fleet::ListedPack &pack : manifest->packs) {
        expect_pack(remote, driver, pack);
        ++whole.packs;
    }
}

}  // namespace

Whole expect_whole(remotes::Remote &remote) {
    Whole whole;
    for (const std::string &name : folders_in(remote, "cairn")) {
        for (const std::string &driver : folders_in(remote, name)) {
            for (const remotes::Listed &each : remote.list(driver + "/manifests")) {
                expect_manifest(remote, driver, each.name, whole);
            }
        }
    }
    return whole;
}

Whole expect_whole(const std::string &url) {
    return expect_whole(*remotes::open_remote(url, remotes::Limits()));
}

}  // namespace cairn::fleet_test
