// SPDX-License-Identifier: MIT
#include "remotes/s3_answers.h"

#include <expat.h>

#include <algorithm>
#include <ctime>
#include <memory>

#include "remotes/url.h"

namespace cairn::remotes {
namespace {

constexpr std::size_t kDepthMax = 16;
// The longest key of S3 has 1,024 bytes, percent signs and all three times that.
constexpr std::size_t kTextSizeMax = 8 << 10;

// Reads the text of elements, with the path that leads to them, such as `ListBucketResult/Contents/Key`.
class XmlReader {
  public:
    virtual ~XmlReader() = default;

    bool read(std::string_view xml) {
        const std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser(
            XML_ParserCreate(nullptr), XML_ParserFree);
        if (!parser || xml.size() > INT32_MAX) return false;
        parser_ = parser.get();
        XML_SetUserData(parser_, this);
        XML_SetElementHandler(parser_, begin_element, end_element);
        XML_SetCharacterDataHandler(parser_, add_text);
        // Only a document type declares entities, which could make much of little, and S3 has none.
        XML_SetStartDoctypeDeclHandler(parser_, refuse_document_type);
        const bool is_read =
            XML_Parse(parser_, xml.data(), static_cast<int>(xml.size()), 1) == XML_STATUS_OK;
        parser_ = nullptr;
        return is_read && !is_refused_;
    }

  protected:
    virtual void begin(const std::string & /*path*/) {}
    virtual void end(const std::string &path, const std::string &text) = 0;

  private:
    // Nothing may be thrown through the parser.
    template <typename Work>
    void guarded(Work work) {
        if (is_refused_) return;
        try {
            work();
        } catch (const std::bad_alloc &) {
            refuse();
        }
    }
    void refuse() {
        is_refused_ = true;
        XML_StopParser(parser_, XML_FALSE);
    }
    static void begin_element(void *of, const XML_Char *name, const XML_Char ** /*attributes*/) {
        auto *reader = static_cast<XmlReader *>(of);
        reader->guarded([&] {
            if (++reader->depth_ > kDepthMax) return reader->refuse();
            reader->path_.append(reader->path_.empty() ? "" : "/").append(name);
            reader->text_.clear();
            reader->begin(reader->path_);
        });
    }
    static void end_element(void *of, const XML_Char * /*name*/) {
        auto *reader = static_cast<XmlReader *>(of);
        reader->guarded([&] {
            reader->end(reader->path_, reader->text_);
            --reader->depth_;
            const std::size_t slash = reader->path_.rfind('/');
            reader->path_.resize(slash == std::string::npos ? 0 : slash);
            reader->text_.clear();
        });
    }
    static void add_text(void *of, const XML_Char *text, int size) {
        auto *reader = static_cast<XmlReader *>(of);
        reader->guarded([&] {
            reader->text_.append(text, static_cast<std::size_t>(size));
            if (reader->text_.size() > kTextSizeMax) reader->refuse();
        });
    }
    static void refuse_document_type(void *of, const XML_Char * /*name*/,
                                     const XML_Char * /*system*/, const XML_Char * /*public_name*/,
                                     int /*has_subset*/) {
        static_cast<XmlReader *>(of)->refuse();
    }

    XML_Parser parser_ = nullptr;
    std::string path_;
    std::string text_;
    std::size_t depth_ = 0;
    bool is_refused_ = false;
};

// Such as 2023-05-04T03:02:01.000Z; S3 has no other time zone.
std::optional<std::int64_t> time_of(const std::string &text) {
    std::tm parts = {};
    const char *end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
    if (end == nullptr || !text.ends_with('Z')) return std::nullopt;
    return timegm(&parts);
}

class PageReader final : public XmlReader {
  public:
    S3Page page;
    bool is_page = false;
    bool is_truncated = false;
    bool is_encoded = false;

  protected:
    void begin(const std::string &path) override {
        if (path == "ListBucketResult") is_page = true;
        if (path == "ListBucketResult/Contents") page.objects.emplace_back();
    }
    void end(const std::string &path, const std::string &text) override {
        constexpr std::string_view kRoot = "ListBucketResult/";
        if (!path.starts_with(kRoot)) return;
        const std::string_view rest = std::string_view(path).substr(kRoot.size());
        if (rest == "Contents/Key") page.objects.back().key = text;
        if (rest == "Contents/LastModified") page.objects.back().modified_s = time_of(text);
        if (rest == "CommonPrefixes/Prefix") page.prefixes.push_back(text);
        if (rest == "IsTruncated") is_truncated = text == "true";
        if (rest == "NextContinuationToken") page.continuation = text;
        if (rest == "EncodingType") is_encoded = text == "url";
    }
};

class CodeReader final : public XmlReader {
  public:
    std::string code;

  protected:
    void end(const std::string &path, const std::string &text) override {
        if (path == "Error/Code") code = text;
    }
};

std::string decoded(const std::string &key) {
    // A key that is not encoded as it should be is none of ours, and no name fits it.
    return percent_decoded(key).value_or("%");
}

Trouble trouble_of(long status, const std::string &code) {
    if (status == 507 || code.starts_with("Quota") || code == "XMinioStorageFull" ||
        code == "EntityTooLarge" || status == 413) {
        return Trouble::full;
    }
    if (code == "NoSuchBucket" || code == "InvalidBucketName" || code == "PermanentRedirect" ||
        code == "AuthorizationHeaderMalformed" || code == "MethodNotAllowed" || status == 405 ||
        status == 501 || (status >= 300 && status < 400)) {
        return Trouble::usage;
    }
    const bool is_expired = code == "ExpiredToken" || code == "TokenRefreshRequired" ||
                            code == "InvalidToken" || code == "RequestTimeTooSkewed";
    if (status == 401 || status == 403 || is_expired) return Trouble::denied;
    return Trouble::unreachable;
}

}  // namespace

std::optional<S3Page> parse_s3_page(std::string_view xml) {
    PageReader reader;
    if (!reader.read(xml) || !reader.is_page) return std::nullopt;
    if (!reader.is_truncated) reader.page.continuation.clear();
    if (reader.is_truncated && reader.page.continuation.empty()) return std::nullopt;
    if (reader.is_encoded) {
        for (S3Page::Object &object : reader.page.objects) object.key = decoded(object.key);
        for (std::string &prefix : reader.page.prefixes) prefix = decoded(prefix);
    }
    return std::move(reader.page);
}

std::string s3_error_code(std::string_view xml) {
    CodeReader reader;
    const bool is_read = reader.read(xml);
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const bool is_code =
        is_read && reader.code.size() <= 64 && std::ranges::all_of(reader.code, is_letter);
    return is_code ? reader.code : "";
}

S3Mistake s3_mistake(long status, const std::string &code, const std::string &origin) {
    S3Mistake mistake = {trouble_of(status, code), ""};
    const std::string used = " (credentials: " + origin + ")";
    if (code == "ExpiredToken" || code == "TokenRefreshRequired" || code == "InvalidToken") {
        mistake.advice =
            "the session has ended; get new credentials, such as by `aws sso login`" + used;
    } else if (code == "InvalidAccessKeyId") {
        mistake.advice =
            "no such access key is known there; check which one is used, and whether it was "
            "deleted" +
            used;
    } else if (code == "SignatureDoesNotMatch") {
        mistake.advice =
            "the secret key is not the one of this access key; copy it anew, and check the "
            "region" +
            used;
    } else if (code == "RequestTimeTooSkewed") {
        mistake.advice = "this machine's clock is wrong; set it";
    } else if (code == "NoSuchBucket") {
        mistake.advice = "there is no such bucket; make it, or check its name and the endpoint";
    } else if (code == "PermanentRedirect" || code == "AuthorizationHeaderMalformed" ||
               (status >= 300 && status < 400)) {
        mistake.advice =
            "the bucket is in another region or place; name it by region= or endpoint=";
    } else if (mistake.trouble == Trouble::denied) {
        mistake.advice = "these credentials do not allow it" + used;
    } else if (mistake.trouble == Trouble::full) {
        mistake.advice = "there is no space left, or the quota does not allow it";
    }
    return mistake;
}

}  // namespace cairn::remotes
