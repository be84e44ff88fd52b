// SPDX-License-Identifier: MIT
// What is only so on a web server: read-only ones, redirects, TLS, and what others write into an index.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "backends.h"
#include "trouble.h"

namespace cairn_test {
namespace {

namespace fs = std::filesystem;
using cairn::remotes::open_remote;
using cairn::remotes::Trouble;
using testing::ElementsAre;

class HttpRemoteTest : public testing::Test {
  protected:
    void SetUp() override {
        const std::string why = Backend::why_missing("http");
        if (!why.empty()) GTEST_SKIP() << why;
        prepare_environment();
        server_ = std::make_unique<NginxServer>();
    }
    std::unique_ptr<cairn::remotes::Remote> remote(const std::string &path) const {
        return open_remote(server_->url() + path, {});
    }
    void write(const std::string &name, const std::string &text) const {
        const std::string path = server_->www() + "/" + name;
        fs::create_directories(fs::path(path).parent_path());
        std::ofstream(path) << text;
    }
    std::string tls_url(const std::string &path) const {
        return "https://127.0.0.1:" + std::to_string(server_->tls_port()) + path;
    }

    std::unique_ptr<NginxServer> server_;
};

TEST_F(HttpRemoteTest, AFolderOfFilesIsReadFromAPlainWebServer) {
    put_text(*remote("/dav/x"), "a/one", "1");
    put_text(*remote("/dav/x"), "a/two", "2");
    fs::copy(server_->www() + "/dav/x", server_->www() + "/plain/x", fs::copy_options::recursive);
    const auto plain = remote("/plain/x");
    EXPECT_THAT(names_in(*plain, ""), ElementsAre("a/"));
    EXPECT_THAT(names_in(*plain, "a"), ElementsAre("one", "two"));
    EXPECT_EQ(plain->get("a/two", 10), "2");
}

TEST_F(HttpRemoteTest, UsersAndPasswordsAreInNetrc) {
    const std::string file = server_->www() + "/netrc";
    ::setenv("NETRC", file.c_str(), 1);
    const Outcome without = outcome_of([&] { put_text(*remote("/locked"), "a", "x"); });
    EXPECT_EQ(without.trouble, Trouble::denied);
    EXPECT_TRUE(without.has("401") && without.has("netrc")) << without.message;
    std::ofstream(file) << "machine 127.0.0.1 login ci password secret\n";
    fs::permissions(file, fs::perms(0644));
    const Outcome open = outcome_of([&] { put_text(*remote("/locked"), "a", "x"); });
    EXPECT_EQ(open.trouble, Trouble::denied);
    EXPECT_TRUE(open.has("chmod 600") && !open.has("secret")) << open.message;
    fs::permissions(file, fs::perms(0600));
    put_text(*remote("/locked"), "a", "x");
    EXPECT_EQ(remote("/locked")->get("a", 10), "x");
    // Nobody else is told without TLS.
    EXPECT_EQ(outcome_of([&] { (void)remote("/moved")->get("a", 10); }).trouble,
              Trouble::unreachable);
    ::setenv("http_proxy", "http://127.0.0.1:1", 1);
    EXPECT_EQ(remote("/locked")->get("a", 10), "x");
    ::unsetenv("http_proxy");
    std::ofstream(file) << "machine 127.0.0.1 login ci password wrong\n";
    const Outcome wrong = outcome_of([&] { (void)remote("/locked")->get("a", 10); });
    EXPECT_EQ(wrong.trouble, Trouble::denied);
    EXPECT_FALSE(wrong.has("wrong")) << wrong.message;
    ::unsetenv("NETRC");
}

TEST_F(HttpRemoteTest, AServerThatCannotBeWrittenSaysSo) {
    const Outcome plain = outcome_of([&] { put_text(*remote("/plain"), "a", "x"); });
    EXPECT_EQ(plain.trouble, Trouble::usage);
    EXPECT_TRUE(plain.has("405") && plain.has("PUT")) << plain.message;
    EXPECT_EQ(outcome_of([&] { put_text(*remote("/closed"), "a", "x"); }).trouble, Trouble::denied);
    EXPECT_EQ(outcome_of([&] { put_text(*remote("/full"), "a", "x"); }).trouble, Trouble::full);
    EXPECT_EQ(outcome_of([&] { put_text(*remote("/moved"), "a", "x"); }).trouble, Trouble::usage);
    EXPECT_EQ(outcome_of([&] { (void)remote("/closed")->get("a", 10); }).trouble, Trouble::denied);
    EXPECT_EQ(outcome_of([&] { (void)remote("/closed")->list("a"); }).trouble, Trouble::denied);
}

TEST_F(HttpRemoteTest, RedirectsAreFollowedToWebServersAndHaveAnEnd) {
    put_text(*remote("/dav"), "object", "here");
    EXPECT_EQ(remote("/moved")->get("object", 10), "here");
    EXPECT_EQ(outcome_of([&] { (void)remote("/circle")->get("object", 10); }).trouble,
              Trouble::unreachable);
    EXPECT_EQ(outcome_of([&] { (void)remote("/elsewhere")->get("object", 100); }).trouble,
              Trouble::unreachable);
}

TEST_F(HttpRemoteTest, TlsIsVerifiedAndNeverLeft) {
    if (server_->tls_port() == 0) GTEST_SKIP() << "there is no openssl to make a certificate";
    put_text(*remote("/dav"), "object", "here");
    const Outcome untrusted =
        outcome_of([&] { (void)open_remote(tls_url("/dav"), {})->get("object", 10); });
    EXPECT_EQ(untrusted.trouble, Trouble::unreachable);
    EXPECT_TRUE(untrusted.has("certificate")) << untrusted.message;
    setenv("SSL_CERT_FILE", server_->certificate().c_str(), 1);
    EXPECT_EQ(open_remote(tls_url("/dav"), {})->get("object", 10), "here");
    const Outcome downgraded =
        outcome_of([&] { (void)open_remote(tls_url("/downgrade"), {})->get("object", 10); });
    EXPECT_EQ(downgraded.trouble, Trouble::unreachable) << downgraded.message;
    unsetenv("SSL_CERT_FILE");
}

TEST_F(HttpRemoteTest, TheIndexNameIsTaken) {
    const auto dav = remote("/dav");
    EXPECT_EQ(outcome_of([&] { put_text(*dav, "index", "x"); }).trouble, Trouble::usage);
    EXPECT_EQ(outcome_of([&] { put_text(*dav, "a/index", "x"); }).trouble, Trouble::usage);
}

TEST_F(HttpRemoteTest, HostileNamesOfAnIndexAreLeftOut) {
    write("plain/x/index", "../secret 1\n/etc/passwd 1\n\x1b[2J 1\ngood 1\nhttp://other/ 1\n. 5\n");
    EXPECT_THAT(names_in(*remote("/plain/x"), ""), ElementsAre("good"));
}

TEST_F(HttpRemoteTest, AnIndexThatWasCutIsNeverWritten) {
    const auto dav = remote("/dav/x");
    put_text(*dav, "one", "1");
    write("dav/x/index", "one 1\n");
    EXPECT_EQ(outcome_of([&] { put_text(*dav, "two", "2"); }).trouble, Trouble::unreachable);
    EXPECT_EQ(outcome_of([&] { dav->remove("one"); }).trouble, Trouble::unreachable);
    std::ostringstream index;
    index << std::ifstream(server_->www() + "/dav/x/index").rdbuf();
    EXPECT_EQ(index.str(), "one 1\n");
    EXPECT_EQ(dav->get("one", 10), "1");
}

}  // namespace
}  // namespace cairn_test
