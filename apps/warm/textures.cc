// SPDX-License-Identifier: MIT
#include "textures.h"

#include <algorithm>
#include <iterator>

namespace cairn::warm {
namespace {

struct ClientType {
    GLenum internal;
    GLenum format;
    GLenum type;
};
// What glTexImage takes with formats that glTexStorage does not know, or where there is none.
constexpr ClientType kClientTypes[] = {
    {GL_RGB, GL_RGB, GL_UNSIGNED_BYTE},
    {GL_RGB8, GL_RGB, GL_UNSIGNED_BYTE},
    {GL_RGB565, GL_RGB, GL_UNSIGNED_SHORT_5_6_5},
    {GL_ALPHA, GL_ALPHA, GL_UNSIGNED_BYTE},
    {GL_LUMINANCE, GL_LUMINANCE, GL_UNSIGNED_BYTE},
    {GL_LUMINANCE_ALPHA, GL_LUMINANCE_ALPHA, GL_UNSIGNED_BYTE},
    {GL_BGRA, GL_BGRA, GL_UNSIGNED_BYTE},
    {GL_RED, GL_RED, GL_UNSIGNED_BYTE},
    {GL_R8, GL_RED, GL_UNSIGNED_BYTE},
    {GL_RG, GL_RG, GL_UNSIGNED_BYTE},
    {GL_RG8, GL_RG, GL_UNSIGNED_BYTE},
    {GL_DEPTH_COMPONENT, GL_DEPTH_COMPONENT, GL_UNSIGNED_INT},
    {GL_DEPTH_COMPONENT16, GL_DEPTH_COMPONENT, GL_UNSIGNED_SHORT},
    {GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT, GL_UNSIGNED_INT},
    {GL_DEPTH_COMPONENT32, GL_DEPTH_COMPONENT, GL_UNSIGNED_INT},
    {GL_DEPTH_COMPONENT32F, GL_DEPTH_COMPONENT, GL_FLOAT},
    {GL_DEPTH_STENCIL, GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8},
    {GL_DEPTH24_STENCIL8, GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8},
    {GL_DEPTH32F_STENCIL8, GL_DEPTH_STENCIL, GL_FLOAT_32_UNSIGNED_INT_24_8_REV},
};

// Formats that only glTexImage knows.
bool is_unsized(GLenum internal) {
    constexpr GLenum kUnsized[] = {GL_RGB,
                                   GL_RGBA,
                                   GL_ALPHA,
                                   GL_LUMINANCE,
                                   GL_LUMINANCE_ALPHA,
                                   GL_BGRA,
                                   GL_RED,
                                   GL_RG,
                                   GL_DEPTH_COMPONENT,
                                   GL_DEPTH_STENCIL,
                                   GL_INTENSITY,
                                   1,
                                   2,
                                   3,
                                   4};
    return std::ranges::find(kUnsized, internal) != std::end(kUnsized);
}

recipe::Upload upload_of(const recipe::Texture &texture) {
    if (texture.upload.format != 0) return texture.upload;
    const auto *found = std::ranges::find(kClientTypes, texture.format, &ClientType::internal);
    if (found != std::end(kClientTypes)) return {found->format, found->type};
    return {GL_RGBA, GL_UNSIGNED_BYTE};
}

struct Size {
    GLsizei width, height, depth;
    GLsizei levels;  // of a whole chain of mipmaps, or 1
};

Size size_of(const recipe::Texture &texture) {
    const auto in = [](uint32_t size) { return static_cast<GLsizei>(std::clamp(size, 1u, 4u)); };
    Size size = {in(texture.width), in(texture.height), in(texture.depth), 1};
    if (texture.target == GL_TEXTURE_CUBE_MAP || texture.target == GL_TEXTURE_CUBE_MAP_ARRAY) {
        size.height = size.width;
    }
    if (texture.target == GL_TEXTURE_CUBE_MAP_ARRAY) size.depth = 6;
    if (texture.target == GL_TEXTURE_1D) size.height = 1;
    const GLsizei height = texture.target == GL_TEXTURE_1D_ARRAY ? 1 : size.height;
    const GLsizei depth = texture.target == GL_TEXTURE_3D ? size.depth : 1;
    for (GLsizei most = std::max({size.width, height, depth}); texture.levels > 1 && most > 1;
         most /= 2) {
        ++size.levels;
    }
    return size;
}

GLsizei at_level(GLsizei size, GLint level) {
    return std::max(size >> level, 1);
}

// By glTexStorage, which must know the format.
void store(const recipe::Texture &texture, const Size &size) {
    const auto samples = static_cast<GLsizei>(std::clamp(texture.samples, 1u, 16u));
    switch (texture.target) {
        case GL_TEXTURE_1D:
            return gl.TexStorage1D(texture.target, size.levels, texture.format, size.width);
        case GL_TEXTURE_3D:
        case GL_TEXTURE_2D_ARRAY:
        case GL_TEXTURE_CUBE_MAP_ARRAY:
            return gl.TexStorage3D(texture.target, size.levels, texture.format, size.width,
                                   size.height, size.depth);
        case GL_TEXTURE_2D_MULTISAMPLE:
            return gl.TexStorage2DMultisample(texture.target, samples, texture.format, size.width,
                                              size.height, GL_TRUE);
        case GL_TEXTURE_2D_MULTISAMPLE_ARRAY:
            return gl.TexStorage3DMultisample(texture.target, samples, texture.format, size.width,
                                              size.height, size.depth, GL_TRUE);
        default:
            return gl.TexStorage2D(texture.target, size.levels, texture.format, size.width,
                                   size.height);
    }
}

// By glTexImage, level by level.
void give_images(const recipe::Texture &texture, const Size &size) {
    const auto [format, type] = upload_of(texture);
    const auto internal = static_cast<GLint>(texture.format);
    const auto samples = static_cast<GLsizei>(std::clamp(texture.samples, 1u, 16u));
    for (GLint level = 0; level < size.levels; ++level) {
        const GLsizei width = at_level(size.width, level), height = at_level(size.height, level);
        switch (texture.target) {
            case GL_TEXTURE_1D:
                gl.TexImage1D(texture.target, level, internal, width, 0, format, type, nullptr);
                break;
            case GL_TEXTURE_1D_ARRAY:
                gl.TexImage2D(texture.target, level, internal, width, size.height, 0, format, type,
                              nullptr);
                break;
            case GL_TEXTURE_3D:
                gl.TexImage3D(texture.target, level, internal, width, height,
                              at_level(size.depth, level), 0, format, type, nullptr);
                break;
            case GL_TEXTURE_2D_ARRAY:
            case GL_TEXTURE_CUBE_MAP_ARRAY:
                gl.TexImage3D(texture.target, level, internal, width, height, size.depth, 0, format,
                              type, nullptr);
                break;
            case GL_TEXTURE_CUBE_MAP:
                for (GLenum face = 0; face < 6; ++face) {
                    gl.TexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, level, internal, width,
                                  height, 0, format, type, nullptr);
                }
                break;
            case GL_TEXTURE_2D_MULTISAMPLE:
                gl.TexImage2DMultisample(texture.target, samples, texture.format, width, height,
                                         GL_TRUE);
                break;
            case GL_TEXTURE_2D_MULTISAMPLE_ARRAY:
                gl.TexImage3DMultisample(texture.target, samples, texture.format, width, height,
                                         size.depth, GL_TRUE);
                break;
            default:
                gl.TexImage2D(texture.target, level, internal, width, height, 0, format, type,
                              nullptr);
        }
    }
}

}  // namespace

Scratch::~Scratch() {
    const auto count = [](const std::vector<GLuint> &names) {
        return static_cast<GLsizei>(names.size());
    };
    gl.DeleteFramebuffers(count(framebuffers_), framebuffers_.data());
    gl.DeleteTextures(count(textures_), textures_.data());
    gl.DeleteRenderbuffers(count(renderbuffers_), renderbuffers_.data());
    gl.DeleteBuffers(count(buffers_), buffers_.data());
}

GLuint Scratch::make_texture(const recipe::Texture &texture) {
    GLuint name = 0;
    gl.GenTextures(1, &name);
    textures_.push_back(name);
    gl.BindTexture(texture.target, name);
    if (texture.format == 0) return name;  // no image is there
    if (texture.target == GL_TEXTURE_BUFFER) {
        GLuint buffer = 0;
        gl.GenBuffers(1, &buffer);
        buffers_.push_back(buffer);
        gl.BindBuffer(GL_TEXTURE_BUFFER, buffer);
        gl.BufferData(GL_TEXTURE_BUFFER, 4096, nullptr, GL_STATIC_DRAW);
        gl.TexBuffer(GL_TEXTURE_BUFFER, texture.format, buffer);
        return name;
    }
    const Size size = size_of(texture);
    take_errors();
    const bool stores = texture.upload.format == 0 && !is_unsized(texture.format);
    if (stores) store(texture, size);
    // Older contexts have no glTexStorage.
    if (!stores || take_errors()) give_images(texture, size);
    for (const auto &[parameter, value] : texture.parameters) {
        gl.TexParameteri(texture.target, parameter, value);
    }
    return name;
}

GLuint Scratch::make_framebuffer() {
    GLuint name = 0;
    gl.GenFramebuffers(1, &name);
    framebuffers_.push_back(name);
    gl.BindFramebuffer(GL_FRAMEBUFFER, name);
    return name;
}

void Scratch::attach(GLenum point, const recipe::Attachment &attachment) {
    if (attachment.format == 0) return;
    const auto samples = static_cast<GLsizei>(std::min(attachment.samples, 16u));
    if (attachment.target == GL_RENDERBUFFER) {
        GLuint name = 0;
        gl.GenRenderbuffers(1, &name);
        renderbuffers_.push_back(name);
        gl.BindRenderbuffer(GL_RENDERBUFFER, name);
        if (samples > 1) {
            gl.RenderbufferStorageMultisample(GL_RENDERBUFFER, samples, attachment.format, 4, 4);
        } else {
            gl.RenderbufferStorage(GL_RENDERBUFFER, attachment.format, 4, 4);
        }
        gl.FramebufferRenderbuffer(GL_FRAMEBUFFER, point, GL_RENDERBUFFER, name);
        return;
    }
    recipe::Texture texture;
    texture.target = attachment.target;
    texture.format = attachment.format;
    texture.samples = attachment.samples;
    texture.upload = attachment.upload;
    texture.width = texture.height = texture.depth = 4;
    const GLuint name = make_texture(texture);
    const bool has_layers =
        texture.target == GL_TEXTURE_3D || texture.target == GL_TEXTURE_1D_ARRAY ||
        texture.target == GL_TEXTURE_2D_ARRAY || texture.target == GL_TEXTURE_CUBE_MAP_ARRAY ||
        texture.target == GL_TEXTURE_2D_MULTISAMPLE_ARRAY;
    if (attachment.is_layered != 0) {
        gl.FramebufferTexture(GL_FRAMEBUFFER, point, name, 0);
    } else if (has_layers) {
        gl.FramebufferTextureLayer(GL_FRAMEBUFFER, point, name, 0, 0);
    } else if (texture.target == GL_TEXTURE_1D) {
        gl.FramebufferTexture1D(GL_FRAMEBUFFER, point, texture.target, name, 0);
    } else {
        const GLenum face = texture.target == GL_TEXTURE_CUBE_MAP
                                ? GLenum{GL_TEXTURE_CUBE_MAP_POSITIVE_X}
                                : texture.target;
        gl.FramebufferTexture2D(GL_FRAMEBUFFER, point, face, name, 0);
    }
}

}  // namespace cairn::warm
