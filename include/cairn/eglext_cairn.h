/* EGL_ANGLE_program_cache_control and GL_ANGLE_program_cache_control as Cairn offers them on every
 * GLVND driver: the entry points that ANGLE ships, those of the extension's first draft, and all
 * tokens. Include it as you would EGL/eglext.h, which may come before it or not at all.
 * SPDX-License-Identifier: MIT
 *
 * eglGetProcAddress finds the functions where the display's EGL_EXTENSIONS name
 * EGL_ANGLE_program_cache_control. No library exports them, so the prototypes are declared only
 * with EGL_EGLEXT_PROTOTYPES. docs/egl.md describes the functions, and docs/conformance/egl.md the
 * places where the texts and ANGLE differ and Cairn's choice there. Any thread may call them at any
 * time.
 */
#ifndef CAIRN_EGLEXT_CAIRN_H
#define CAIRN_EGLEXT_CAIRN_H

#include <EGL/egl.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------------------------------------
 * as ANGLE ships it; the numbers are ANGLE's */

#ifndef EGL_ANGLE_program_cache_control
#define EGL_ANGLE_program_cache_control 1
#define EGL_PROGRAM_CACHE_SIZE_ANGLE 0x3455       /* attribute: how many entries there are */
#define EGL_PROGRAM_CACHE_KEY_LENGTH_ANGLE 0x3456 /* attribute: bytes of a key, always 20 */
#define EGL_PROGRAM_CACHE_RESIZE_ANGLE 0x3457     /* mode of eglProgramCacheResizeANGLE */
#define EGL_PROGRAM_CACHE_TRIM_ANGLE 0x3458       /* mode of eglProgramCacheResizeANGLE */
#define EGL_CONTEXT_PROGRAM_BINARY_CACHE_ENABLED_ANGLE 0x3459 /* attribute of eglCreateContext */
typedef EGLint(EGLAPIENTRYP PFNEGLPROGRAMCACHEGETATTRIBANGLEPROC)(EGLDisplay dpy, EGLenum attrib);
typedef void(EGLAPIENTRYP PFNEGLPROGRAMCACHEQUERYANGLEPROC)(EGLDisplay dpy, EGLint index, void *key,
                                                            EGLint *keysize, void *binary,
                                                            EGLint *binarysize);
typedef void(EGLAPIENTRYP PFNEGLPROGRAMCACHEPOPULATEANGLEPROC)(EGLDisplay dpy, const void *key,
                                                               EGLint keysize, const void *binary,
                                                               EGLint binarysize);
typedef EGLint(EGLAPIENTRYP PFNEGLPROGRAMCACHERESIZEANGLEPROC)(EGLDisplay dpy, EGLint limit,
                                                               EGLint mode);
#ifdef EGL_EGLEXT_PROTOTYPES
EGLAPI EGLint EGLAPIENTRY eglProgramCacheGetAttribANGLE(EGLDisplay dpy, EGLenum attrib);
EGLAPI void EGLAPIENTRY eglProgramCacheQueryANGLE(EGLDisplay dpy, EGLint index, void *key,
                                                  EGLint *keysize, void *binary,
                                                  EGLint *binarysize);
EGLAPI void EGLAPIENTRY eglProgramCachePopulateANGLE(EGLDisplay dpy, const void *key,
                                                     EGLint keysize, const void *binary,
                                                     EGLint binarysize);
EGLAPI EGLint EGLAPIENTRY eglProgramCacheResizeANGLE(EGLDisplay dpy, EGLint limit, EGLint mode);
#endif
#endif

/* -------------------------------------------------------------------------------------------------
 * the first draft (2017), which nobody shipped under these names */

#ifndef EGL_CAIRN_program_cache_draft
#define EGL_CAIRN_program_cache_draft 1
/* Attribute of eglGetPlatformDisplay: the most bytes that the display's program cache holds. 0
 * switches program caching off; a negative number is an error (EGL_BAD_ATTRIBUTE). The draft gives
 * it no number and ANGLE dropped it, so Cairn has chosen one far from those that the registry gives
 * out. Where Cairn is not in front of the driver it is an unknown attribute. */
#define EGL_DISPLAY_PROGRAM_BINARY_CACHE_MAX_SIZE_ANGLE 0x43410001
/* The draft's functions differ from ANGLE's in their names, in the places of results, and in this:
 * an unknown attribute is EGL_BAD_ATTRIBUTE, a buffer that is too small for the key or for the
 * binary is EGL_BAD_ACCESS, and a binary may have 0 bytes. */
typedef void(EGLAPIENTRYP PFNEGLGETPROGRAMCACHEATTRIBANGLEPROC)(EGLDisplay dpy, EGLenum attrib,
                                                                EGLint *value);
typedef void(EGLAPIENTRYP PFNEGLQUERYPROGRAMCACHEANGLEPROC)(EGLDisplay dpy, EGLint index, void *key,
                                                            EGLint *keysize, void *binary,
                                                            EGLint *size);
typedef void(EGLAPIENTRYP PFNEGLPOPULATEPROGRAMCACHEANGLEPROC)(EGLDisplay dpy, void *key,
                                                               EGLint keysize, void *binary,
                                                               EGLint binarysize);
typedef EGLint(EGLAPIENTRYP PFNEGLTRIMPROGRAMCACHEANGLEPROC)(EGLDisplay dpy, EGLint limit);
#ifdef EGL_EGLEXT_PROTOTYPES
EGLAPI void EGLAPIENTRY eglGetProgramCacheAttribANGLE(EGLDisplay dpy, EGLenum attrib,
                                                      EGLint *value);
EGLAPI void EGLAPIENTRY eglQueryProgramCacheANGLE(EGLDisplay dpy, EGLint index, void *key,
                                                  EGLint *keysize, void *binary, EGLint *size);
EGLAPI void EGLAPIENTRY eglPopulateProgramCacheANGLE(EGLDisplay dpy, void *key, EGLint keysize,
                                                     void *binary, EGLint binarysize);
EGLAPI EGLint EGLAPIENTRY eglTrimProgramCacheANGLE(EGLDisplay dpy, EGLint limit);
#endif
#endif

/* -------------------------------------------------------------------------------------------------
 * in contexts; the numbers are ANGLE's */

#ifndef GL_ANGLE_program_cache_control
#define GL_ANGLE_program_cache_control 1
/* glIsEnabled and all glGet...v: whether programs of this context are cached. Not to be set. */
#define GL_PROGRAM_CACHE_ENABLED_ANGLE 0x93AC
/* The draft's name. */
#define GL_PROGRAM_BINARY_CACHE_ENABLE_ANGLE 0x93AC
#endif

#ifdef __cplusplus
}
#endif
#endif
