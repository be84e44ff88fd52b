// SPDX-License-Identifier: MIT
// What an application sees of its sources, while the driver may have none of them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "caches.h"
#include "recipe/recipe.h"
#include "testing/driver.h"
#include "testing/front_end.h"

namespace cairn::gl {
namespace {

using testing::hook;
using testing::t_driver;

class SourceTest : public ::testing::Test {
  protected:
    SourceTest() {
        testing::start_front_end();
        setenv("CAIRN_DIR", folder_.c_str(), 1);
        testing::fill(driver_.gl);
        testing::make_context(driver_, handle_, &programs_);
        shader_ = hook<PFNGLCREATESHADERPROC>("glCreateShader")(GL_VERTEX_SHADER);
    }
    // The cache stays open, as it does in applications.
    ~SourceTest() override {
        testing::end_context(driver_, handle_);
        flush_caches();
        std::filesystem::remove_all(folder_);
    }

    void set(const char *text) { set(1, &text, nullptr); }
    void set(GLsizei count, const char *const *strings, const GLint *sizes) {
        hook<PFNGLSHADERSOURCEPROC>("glShaderSource")(shader_, count, strings, sizes);
    }
    void compile() { hook<PFNGLCOMPILESHADERPROC>("glCompileShader")(shader_); }
    // The present source is known to compile from now on.
    void learn(const char *text) {
        set(text);
        compile();
        shader_ = hook<PFNGLCREATESHADERPROC>("glCreateShader")(GL_VERTEX_SHADER);
    }
    GLint value(GLenum name) {
        GLint number = -1;
        hook<PFNGLGETSHADERIVPROC>("glGetShaderiv")(shader_, name, &number);
        return number;
    }
    // As the application reads it, which has room for so many characters.
    std::string seen(GLsizei capacity = 100) {
        std::string text(100, '#');
        GLsizei size = -1;
        hook<PFNGLGETSHADERSOURCEPROC>("glGetShaderSource")(shader_, capacity, &size, text.data());
        return size < 0 ? "no answer" : text.substr(0, static_cast<size_t>(size));
    }
    const std::string &of_driver() { return t_driver.sources[shader_]; }
    bool is_deferred() {
        return current_context()->group->shader(shader_)->state == Shader::State::deferred;
    }

    const std::string folder_ =
        (std::filesystem::temp_directory_path() / ("cairn-source-" + std::to_string(getpid())))
            .string();
    Driver driver_;
    ProgramMemory programs_;
    int object_ = 0;
    const ContextHandle handle_ = {this, &object_};
    GLuint shader_ = 0;
};

TEST_F(SourceTest, IsReadBackThoughTheDriverHasNone) {
    const char *const strings[] = {"void ", "main()XXX", " {}"};
    const GLint sizes[] = {-1, 6, 3};
    set(3, strings, sizes);
    EXPECT_EQ(of_driver(), "");
    EXPECT_EQ(seen(), "void main() {}");
    EXPECT_EQ(seen(5), "void");
    EXPECT_EQ(seen(1), "");
    EXPECT_EQ(value(GL_SHADER_SOURCE_LENGTH), 15);
    compile();
    EXPECT_EQ(of_driver(), "void main() {}") << "it is new";
    EXPECT_EQ(t_driver.divided[shader_], 3) << "drivers count lines in each string";
    EXPECT_EQ(seen(), "void main() {}");
    EXPECT_EQ(value(GL_SHADER_SOURCE_LENGTH), 15);
}

TEST_F(SourceTest, OfAKnownShaderNeverReachesTheDriver) {
    learn("known");
    set("known");
    compile();
    EXPECT_TRUE(is_deferred());
    EXPECT_EQ(of_driver(), "");
    EXPECT_EQ(seen(), "known");
    EXPECT_EQ(value(GL_COMPILE_STATUS), GL_TRUE);
}

TEST_F(SourceTest, AShaderIsCompiledFromTheSourceThatItHadThen) {
    learn("known");
    set("known");
    compile();
    set("later");
    EXPECT_EQ(seen(), "later");
    force_compile(*current_context(), *current_context()->group->shader(shader_));
    EXPECT_EQ(of_driver(), "known");
    EXPECT_TRUE(t_driver.compiled[shader_]);
    EXPECT_EQ(seen(), "later");
    compile();
    EXPECT_EQ(of_driver(), "later");
}

TEST_F(SourceTest, IsCompiledAgainWithoutBeingSetAgain) {
    set("twice");
    compile();
    t_driver.compiled.clear();
    compile();
    EXPECT_TRUE(is_deferred());
    EXPECT_EQ(seen(), "twice");
    force_compile(*current_context(), *current_context()->group->shader(shader_));
    EXPECT_TRUE(t_driver.compiled[shader_]);
    EXPECT_EQ(of_driver(), "twice");
}

// The driver judges what may be an error, or has a meaning of its own.
TEST_F(SourceTest, ThatIsOddIsTheDriversOwn) {
    learn("known");
    set("known");
    compile();
    const char *text = "zero\0inside";
    const GLint size = 11;
    set(1, &text, &size);
    EXPECT_EQ(of_driver(), std::string_view(text, 11));
    EXPECT_TRUE(t_driver.compiled[shader_]) << "of the source that it had before";
    set("");
    EXPECT_EQ(of_driver(), "");
    EXPECT_EQ(value(GL_SHADER_SOURCE_LENGTH), 1);
}

TEST_F(SourceTest, StaysWhereAnotherCannotBeSet) {
    set("good");
    set(-1, nullptr, nullptr);
    EXPECT_EQ(seen(), "good");
    EXPECT_EQ(of_driver(), "good");
    compile();
    EXPECT_TRUE(t_driver.compiled[shader_]);
}

TEST_F(SourceTest, StaysWhereTheDriverRefusesIt) {
    set("good");
    t_driver.refuses_sources = true;
    compile();
    t_driver.refuses_sources = false;
    EXPECT_EQ(of_driver(), "");
    compile();
    EXPECT_EQ(of_driver(), "good");
}

TEST_F(SourceTest, OfOtherStringsIsAnother) {
    const char *const strings[] = {"in ", "two"};
    const char *const others[] = {"in t", "wo"};
    const auto is_known = [&](GLsizei count, const char *const *all) {
        shader_ = hook<PFNGLCREATESHADERPROC>("glCreateShader")(GL_VERTEX_SHADER);
        set(count, all, nullptr);
        compile();
        return is_deferred();
    };
    EXPECT_FALSE(is_known(2, strings));
    EXPECT_TRUE(is_known(2, strings));
    EXPECT_FALSE(is_known(2, others));
    const char *const whole[] = {"in two"};
    EXPECT_FALSE(is_known(1, whole));
}

TEST_F(SourceTest, IsTheDriversWhereNothingIsCached) {
    current_context()->group->set_unlike();
    set("plain");
    EXPECT_EQ(of_driver(), "plain");
    EXPECT_EQ(seen(), "plain");
}

TEST_F(SourceTest, IsGivenToTheDriverWhereCachingEndsBeforeTheCompile) {
    set("plain");
    current_context()->group->set_unlike();
    compile();
    EXPECT_EQ(of_driver(), "plain");
    EXPECT_TRUE(t_driver.compiled[shader_]);
}

TEST_F(SourceTest, IsGivenToTheDriverBeforeACallThatOnlyTheDriverUnderstands) {
    set("plain");
    hook<PFNGLSPECIALIZESHADERPROC>("glSpecializeShader")(shader_, "main", 0, nullptr, nullptr);
    EXPECT_EQ(of_driver(), "plain");
}

TEST(SourceHashTest, RecipesKnowASourceByTheSameHash) {
    const std::string large(5000, 'x');
    const std::vector<std::vector<const GLchar *>> sources = {{"void main() {}"},
                                                              {"void ", "main() {}"},
                                                              {"", "a", ""},
                                                              {large.c_str()},
                                                              {"a", large.c_str()}};
    for (const auto &strings : sources) {
        const recipe::Source source(strings.begin(), strings.end());
        EXPECT_EQ(source_of(strings)->hash, recipe::hash_of(source)) << source[0];
    }
}

}  // namespace
}  // namespace cairn::gl
