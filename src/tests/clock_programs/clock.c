// Says its wall and monotonic clocks, in ns, and what it found wrong so far: "wall monotonic wrong".
// Threads read the clocks without end, sleep, and poll; each looks for what must not happen.
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static atomic_long wrong;

static long long reading(clockid_t clock) {
    struct timespec at;
    if (clock_gettime(clock, &at) != 0 || at.tv_nsec < 0 || at.tv_nsec > 999999999) wrong++;
    return at.tv_sec * 1000000000LL + at.tv_nsec;
}

static void *read_clocks(void *unused) {
    long long last = 0;
    for (;;) {
        for (int i = 0; i < 200; i++) {
            long long now = reading(CLOCK_MONOTONIC);
            if (now < last) wrong++;
            last = now;
            reading(CLOCK_REALTIME);
            reading(CLOCK_REALTIME_COARSE);
            struct timeval at;
            if (gettimeofday(&at, NULL) != 0 || at.tv_usec < 0 || at.tv_usec > 999999) wrong++;
            time_t seconds;
            if (time(&seconds) != seconds) wrong++;
        }
        usleep(200);
    }
    return unused;
}

static void *sleep_long(void *unused) {
    for (;;) {
        struct timespec length = {.tv_sec = 0, .tv_nsec = 3000000};
        if (nanosleep(&length, NULL) != 0) wrong++;
    }
    return unused;
}

static void *poll_nothing(void *unused) {
    for (;;) {
        int ready = poll(NULL, 0, 3);
        if (ready != 0 && !(ready < 0 && errno == EINTR)) wrong++;
    }
    return unused;
}

static void *wait_for_input(void *ends) {
    char byte;
    if (read(((int *)ends)[0], &byte, 1) != 1) wrong++;
    return NULL;
}

static void on_signal(int signal) { (void)signal; }

int main(void) {
    signal(SIGTRAP, on_signal);
    signal(SIGSEGV, on_signal);
    signal(SIGUSR1, on_signal);
    static int ends[2];
    if (pipe(ends) != 0) return 1;
    pthread_t thread;
    for (int i = 0; i < 3; i++) pthread_create(&thread, NULL, read_clocks, NULL);
    pthread_create(&thread, NULL, sleep_long, NULL);
    pthread_create(&thread, NULL, poll_nothing, NULL);
    pthread_create(&thread, NULL, wait_for_input, ends);
    for (;;) {
        printf("%lld %lld %ld\n", reading(CLOCK_REALTIME), reading(CLOCK_MONOTONIC), (long)wrong);
        fflush(stdout);
        usleep(2000);
    }
}
