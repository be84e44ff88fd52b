/* How a browser's sandboxed GPU process keeps its programs in Cairn: the browser process starts a
 * broker and connects to it, and the GPU process, which may open no file, looks up and stores over
 * that connection. A private session keeps its programs in memory. Run it twice, then with --clear.
 * SPDX-License-Identifier: MIT
 *
 * cc browser_gpu_process.c $(pkg-config --cflags --libs cairn libseccomp)
 *
 * It needs the program cairnd, which comes with Cairn. See docs/browser.md.
 */
#define _GNU_SOURCE
#include <cairn/cairn.h>
#include <cairn/cairn_broker.h>
#include <cairn/cairn_program_cache.h>
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A cache for each profile. Another number where the layout of values changes. */
#define PROFILE_CACHE "my-browser.default"
enum { CONTENTS = 1 };

static void fail(const char *what, const char *why) {
    fprintf(stderr, "browser: %s: %s\n", what, why);
    exit(1);
}

/* ---- the GPU process ------------------------------------------------------------------------- */

/* From here on a system call that is not in one of the lists ends the process. */
static void close_sandbox(void) {
    /* What a cache behind a broker uses, its thread included. */
    static const int cairn_calls[] = {
        SCMP_SYS(sendmsg), SCMP_SYS(recvmsg),    SCMP_SYS(poll),   SCMP_SYS(pread64),
        SCMP_SYS(preadv),  SCMP_SYS(mmap),       SCMP_SYS(munmap), SCMP_SYS(madvise),
        SCMP_SYS(fstat),   SCMP_SYS(getsockopt), SCMP_SYS(close),  SCMP_SYS(clock_gettime),
        SCMP_SYS(getpid),  SCMP_SYS(futex),      SCMP_SYS(clone),  SCMP_SYS(clone3),
        SCMP_SYS(fcntl),
    };
    /* What the C library uses to allocate memory, for threads, to print and to end. */
    static const int other_calls[] = {
        SCMP_SYS(brk),   SCMP_SYS(mprotect),        SCMP_SYS(mremap),         SCMP_SYS(rseq),
        SCMP_SYS(exit),  SCMP_SYS(set_robust_list), SCMP_SYS(rt_sigprocmask), SCMP_SYS(getrandom),
        SCMP_SYS(write), SCMP_SYS(exit_group),
    };
    const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
    int failed = filter == NULL;
    for (size_t i = 0; !failed && i < sizeof cairn_calls / sizeof *cairn_calls; ++i) {
        failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, cairn_calls[i], 0) != 0;
    }
    for (size_t i = 0; !failed && i < sizeof other_calls / sizeof *other_calls; ++i) {
        failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, other_calls[i], 0) != 0;
    }
    /* The C library's fstat() asks by this call, with a descriptor and without a path. */
    failed = failed || seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat), 1,
                                        SCMP_A3(SCMP_CMP_EQ, AT_EMPTY_PATH)) != 0;
    if (failed || seccomp_load(filter) != 0) fail("the sandbox", "cannot be closed");
    seccomp_release(filter);
}

/* Everything that can change the result, the driver included. */
static void make_key(uint8_t key[CAIRN_PROGRAM_KEY_SIZE]) {
    cairn_key_builder *builder = cairn_key_begin("my-browser-program/1");
    if (builder == NULL) fail("a key", "no memory");
    cairn_key_add(builder, 1, "example driver, build 42", 24);
    cairn_key_add(builder, 2, "void main() { gl_FragColor = vec4(1.0); }", 41);
    cairn_key_finish(builder, key);
}

static void draw(cairn_cache *cache, const char *session) {
    uint8_t key[CAIRN_PROGRAM_KEY_SIZE];
    cairn_blob *blob;
    make_key(key);
    for (int frame = 1; frame <= 2; ++frame) {
        if (cairn_get(cache, key, sizeof key, &blob) == CAIRN_OK) {
            printf("%s, frame %d: found %zu bytes\n", session, frame, cairn_blob_size(blob));
            cairn_blob_free(blob);
            continue;
        }
        const uint8_t binary[4096] = {0x5a}; /* stands for what takes long */
        const int result = cairn_put(cache, key, sizeof key, binary, sizeof binary, NULL);
        printf("%s, frame %d: compiled; storing: %s\n", session, frame,
               cairn_result_string(result));
        /* Not needed but in a program that ends at once. The next frame may still miss it: look-ups
         * behind a broker are moments late. */
        cairn_flush(cache, 2000);
    }
}

/* `connection` is -1 in a private session. */
static int gpu_process(int connection) {
    cairn_cache *cache = NULL;
    int result;
    close_sandbox();
    if (connection >= 0) {
        result = cairn_broker_open_fd(connection, NULL, &cache);
    } else {
        const cairn_options options = {
            .size = sizeof options, .identifier = PROFILE_CACHE, .mode = CAIRN_MODE_MEMORY};
        result = cairn_open(&options, &cache);
    }
    if (result != CAIRN_OK) fail("the cache", cairn_result_string(result));
    draw(cache, connection >= 0 ? "regular session" : "private session");
    cairn_close(cache); /* sends what waits, for 100 ms at most */
    fflush(stdout);
    return 0;
}

/* ---- the browser process --------------------------------------------------------------------- */

static char socket_path[] = "/tmp/my-browser-XXXXXX/broker.sock"; /* a socket's path is short */
static pid_t browser, broker;

/* Also where the browser has failed; not where a GPU process has. */
static void end_broker(void) {
    if (getpid() != browser) return;
    kill(broker, SIGTERM);
    waitpid(broker, NULL, 0);
    char lock[sizeof socket_path + sizeof ".lock"];
    snprintf(lock, sizeof lock, "%s.lock", socket_path);
    unlink(socket_path);
    unlink(lock);
    *strrchr(socket_path, '/') = '\0';
    rmdir(socket_path);
}

/* A broker of the browser's own, which ends with it. The caches are where all of the user's are; a
 * browser that has them in its profile says --root PROFILE/programs. */
static void start_broker(void) {
    const size_t folder_size = sizeof socket_path - sizeof "/broker.sock";
    socket_path[folder_size] = '\0';
    if (mkdtemp(socket_path) == NULL) fail(socket_path, strerror(errno));
    socket_path[folder_size] = '/';
    browser = getpid();
    broker = fork();
    if (broker < 0) fail("cairnd", strerror(errno));
    if (broker > 0) {
        atexit(end_broker);
        return;
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != browser) _exit(0); /* it has ended already */
    execlp("cairnd", "cairnd", "--socket", socket_path, (char *)NULL);
    perror("browser: cairnd");
    _exit(1);
}

/* Binds the connection to the profile's cache: the GPU process can reach no other by it. */
static int connect_to_broker(void) {
    const cairn_broker_options options = {.size = sizeof options,
                                          .socket_path = socket_path,
                                          .identifier = PROFILE_CACHE,
                                          .version = CONTENTS};
    int connection = -1;
    int result = CAIRN_ERROR_NOT_FOUND;
    for (int i = 0; i < 500 && result == CAIRN_ERROR_NOT_FOUND; ++i) {
        result = cairn_broker_connect(&options, &connection);
        if (result == CAIRN_ERROR_NOT_FOUND) {
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL); /* it starts */
        }
    }
    if (result != CAIRN_OK) fail("the broker", cairn_result_string(result));
    return connection;
}

/* Without exec, as from a zygote. With exec, clear the descriptor's FD_CLOEXEC in the child, and
 * tell its number by an option of the GPU process, or by CAIRN_BROKER_FD for the front end. */
static void run_gpu_process(int connection) {
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) _exit(gpu_process(connection));
    if (connection >= 0) close(connection);
    int status = 0;
    if (waitpid(pid, &status, 0) != pid || status != 0) fail("the GPU process", "has failed");
}

/* "Clear browsing data" of the last hour, also while GPU processes run. */
static void clear_last_hour(void) {
    const cairn_options options = {.size = sizeof options,
                                   .identifier = PROFILE_CACHE,
                                   .version = CONTENTS,
                                   .flags = CAIRN_OPEN_EXISTING};
    const uint64_t now_ms = (uint64_t)time(NULL) * 1000;
    cairn_cache *cache;
    uint64_t removed = 0;
    int result = cairn_open(&options, &cache);
    if (result == CAIRN_ERROR_NOT_FOUND) return;
    if (result == CAIRN_OK) {
        result = cairn_clear_range(cache, now_ms - 3600000, UINT64_MAX, &removed);
        cairn_close(cache);
    }
    if (result != CAIRN_OK) fail("clearing", cairn_result_string(result));
    printf("cleared: %d\n", (int)removed);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--clear") == 0) {
        clear_last_hour();
        return 0;
    }
    start_broker();
    run_gpu_process(connect_to_broker());
    run_gpu_process(-1);
    return 0;
}
