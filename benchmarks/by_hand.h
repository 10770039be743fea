/* What the searches by hand share: states of two words, an exact table with 32-bit cells that point into the store, and
 * successors that are looked up in batches whose memory is prefetched. A program defines check_state and expand.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

typedef uint64_t word;
typedef struct { word fields, messages; } State;

enum { BATCH = 512 };

static word generated, distinct, mask;
static State *store;
static uint32_t *table;
static State batch[BATCH];
static word hashes[BATCH];
static int gathered;

static inline void check_state(State s);
static inline void expand(State s);

static inline word get(word w, int at, int bits) { return w >> at & ((1u << bits) - 1); }
static inline word put(word w, int at, int bits, word v) {
    return (w & ~((word)((1u << bits) - 1) << at)) | v << at;
}

static inline void must(word held) {
    if (!held) {
        puts("violated");
        exit(1);
    }
}

static inline word hash(State s) {
    word h = (s.fields ^ 0x9E3779B97F4A7C15u) * 0xFF51AFD7ED558CCDu;
    h ^= h >> 32;
    h = (h ^ s.messages) * 0xC4CEB9FE1A85EC53u;
    return h ^ h >> 29;
}

static void look_up(void) {
    for (int i = 0; i < gathered; i++) {
        hashes[i] = hash(batch[i]);
        __builtin_prefetch(&table[hashes[i] & mask]);
    }
    for (int i = 0; i < gathered; i++) {
        word at = hashes[i] & mask;
        uint32_t tag = (uint32_t)(hashes[i] >> 60);
        for (;; at = (at + 1) & mask) {
            uint32_t cell = table[at];
            if (!cell) {
                check_state(batch[i]);
                store[distinct++] = batch[i];
                table[at] = tag << 28 | (uint32_t)distinct;
                break;
            }
            if (cell >> 28 != tag) continue;
            State *known = &store[(cell & ((1u << 28) - 1)) - 1];
            if (known->fields == batch[i].fields && known->messages == batch[i].messages) break;
        }
    }
    gathered = 0;
}

static inline void keep(State s) {
    batch[gathered++] = s;
    if (gathered == BATCH) look_up();
}

static void *reserve(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) exit(2);
    madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

/* Searches from a state, with a table of 2^bits cells, enough for every state, and prints
 * distinct states, generated states, depth and seconds.
 */
static void search(State first, int bits) {
    mask = ((word)1 << bits) - 1;
    store = reserve(sizeof(State) << bits);
    table = reserve(sizeof(uint32_t) << bits);
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    generated = 1;
    keep(first);
    word depth = 0;
    for (word at = 0;; depth++) {
        look_up();
        if (at == distinct) break;
        for (word level = distinct; at < level; at++) expand(store[at]);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = end.tv_sec - start.tv_sec + 1e-9 * (end.tv_nsec - start.tv_nsec);
    printf("%lu %lu %lu %.6f\n", distinct, generated, depth, seconds);
}
