/* A hand-written search of specs/examples/async_isr.py, the yardstick for the native search:
 *
 *     cc -O3 -march=native async_isr.c -o async_isr && ./async_isr MAX_VERSION MAX_OFFSET TABLE_BITS
 *
 * There are three replicas, and the first one leads. A state is two words: an ISR is two bits (the leader is always in
 * it), a set of messages is a mask of 4 ISRs times 8 versions, so max_version is at most 6 and max_offset at most 2. The
 * table and the search are in by_hand.h.
 */

#include "by_hand.h"

/* Fields: controller isr 2, version 3; leader isr 2, version 3; pending: none 1, isr 2, version 3; offsets 3 x 2. */
#define CONTROLLER_ISR 0
#define CONTROLLER_VERSION 2
#define LEADER_ISR 5
#define LEADER_VERSION 7
#define PENDING_ISR 10
#define PENDING 12
#define PENDING_VERSION 13
#define OFFSETS 16

static inline word offset(word w, int replica) { return get(w, OFFSETS + 2 * replica, 2); }

static word max_version, max_offset;

static inline word high_watermark(word w) {
    word isr = get(w, LEADER_ISR, 2) | get(w, PENDING_ISR, 2), least = offset(w, 0);
    for (int r = 1; r < 3; r++)
        if (isr >> (r - 1) & 1 && offset(w, r) < least) least = offset(w, r);
    return least;
}

static inline void check_state(State s) {
    word least = high_watermark(s.fields), isr = get(s.fields, CONTROLLER_ISR, 2);
    for (int r = 1; r < 3; r++)
        must(!(isr >> (r - 1) & 1) || offset(s.fields, r) >= least);
}

static inline void found(word fields, word messages) {
    generated++;
    State s = {fields, messages};
    if (get(fields, CONTROLLER_VERSION, 3) > max_version || offset(fields, 0) > max_offset) {
        check_state(s);
        return;
    }
    keep(s);
}

static inline word request(word isr, word version) { return (word)1 << (4 * version + isr); }
static inline word update(word isr, word version) { return (word)1 << (32 + 4 * version + isr); }

static inline void write_isr(State s, word isr) {
    word version = get(s.fields, CONTROLLER_VERSION, 3) + 1;
    word w = put(put(s.fields, CONTROLLER_ISR, 2, isr), CONTROLLER_VERSION, 3, version);
    found(w, s.messages | update(isr, version));
}

static inline void ask_for(State s, word isr) {
    word version = get(s.fields, LEADER_VERSION, 3);
    word w = s.fields | isr << PENDING_ISR | (word)1 << PENDING;
    found(put(w, PENDING_VERSION, 3, version), s.messages | request(isr, version));
}

static inline void expand(State s) {
    word w = s.fields, version = get(w, CONTROLLER_VERSION, 3), isr = get(w, CONTROLLER_ISR, 2);
    for (int r = 1; r < 3; r++)
        if (isr >> (r - 1) & 1) write_isr(s, isr & ~(1u << (r - 1)));
    for (word asked = s.messages >> 4 * version & 15; asked; asked &= asked - 1) write_isr(s, __builtin_ctzll(asked));
    isr = get(w, LEADER_ISR, 2);
    word least = high_watermark(w);
    for (int r = 1; r < 3; r++) {
        if (isr >> (r - 1) & 1) ask_for(s, isr & ~(1u << (r - 1)));
        else if (offset(w, r) >= least) ask_for(s, isr | 1u << (r - 1));
    }
    found(w + ((word)1 << OFFSETS), s.messages);
    version = get(w, LEADER_VERSION, 3);
    for (word left = s.messages >> 32 >> 4 * (version + 1); left; left &= left - 1) {
        int at = __builtin_ctzll(left) + 4 * (version + 1);
        word after = put(put(w, LEADER_ISR, 2, at & 3), LEADER_VERSION, 3, at >> 2);
        found(after & ~((word)63 << PENDING_ISR), s.messages);
    }
    for (int r = 1; r < 3; r++)
        if (offset(w, r) < offset(w, 0)) found(w + ((word)1 << (OFFSETS + 2 * r)), s.messages);
}

int main(int count, char **words) {
    if (count != 4 || atoi(words[1]) > 6 || atoi(words[2]) > 2) return 2;
    max_version = atoi(words[1]);
    max_offset = atoi(words[2]);
    search((State){3u << CONTROLLER_ISR | 3u << LEADER_ISR, 0}, atoi(words[3]));
}
