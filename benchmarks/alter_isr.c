/* A hand-written search of AlterIsr in model/alter_isr/core.py with its properties, a yardstick for the native search:
 *
 *     cc -O3 -march=native alter_isr.c -o alter_isr && ./alter_isr MAX_VERSION MAX_OFFSET TABLE_BITS
 *
 * There are three brokers, max_leader_epoch is 1, in_flight 2 and min_insync_replicas 1; max_version and max_offset are
 * at most 3. A state is two words. An ISR that the leader asks for always has the leader, so it is two bits; the set of
 * requests is a mask of 4 ISRs times 2 epochs times 4 versions; responses are two slots in order; an update is kept by
 * its version, which no other update has. The table and the search are in by_hand.h.
 */

#include "by_hand.h"

enum { IN_FLIGHT = 2, MAX_EPOCH = 1 };
enum { ACTIVE, FENCED, SHUTTING_DOWN };
enum { NO_ERROR, FENCED_LEADER_EPOCH, INVALID_ISR_VERSION, INELIGIBLE };

/* The controller: leader 2 (0: none), epoch 1, isr 3, version 2. The leader is broker 0. */
#define LEADER 0
#define EPOCH 2
#define ISR 3
#define VERSION 6
#define STATUS 8 /* 3 x 2 */
/* What the leader knows: leading 1, epoch 1, isr without itself 2, version 2; pending: a mask of 4 such ISRs. */
#define LEADING 14
#define KNOWN_EPOCH 15
#define KNOWN_ISR 16
#define KNOWN_VERSION 18
#define PENDING 20
#define HIGH_WATERMARK 24
#define LOG_END 26      /* 3 x 2 */
#define ACKNOWLEDGED 32 /* present 1, request 5 */
#define UPDATES 38      /* for each version from 1: present 1, leader 2, epoch 1, isr 3 */
#define RESPONSES 32    /* of the messages: 2 x (present 1, request 5, error 2) */

static inline word status(word w, int broker) { return get(w, STATUS + 2 * broker, 2); }
static inline word log_end(word w, int broker) { return get(w, LOG_END + 2 * broker, 2); }
static inline word request_isr(word request) { return (request & 3) << 1 | 1; }
static inline word request_epoch(word request) { return request >> 2 & 1; }
static inline word request_version(word request) { return request >> 3; }
static inline word leader_isr(word w) { return get(w, LEADING, 1) ? get(w, KNOWN_ISR, 2) << 1 | 1 : 0; }

static word max_version, max_offset;

static inline word maximal_isr(word w) {
    word pending = get(w, PENDING, 4);
    return leader_isr(w) | (pending != 0) | (word)((pending & 10) != 0) << 1 | (word)((pending & 12) != 0) << 2;
}

/* Of some brokers, those whose logs reach the high watermark. */
static inline word reaching(word w, word brokers) {
    word least = get(w, HIGH_WATERMARK, 2), found = 0;
    for (int b = 0; b < 3; b++)
        found |= (word)((brokers >> b & 1) && log_end(w, b) >= least) << b;
    return found;
}

static inline word of_status(word w, word brokers, word wanted) {
    word found = 0;
    for (int b = 0; b < 3; b++)
        found |= (word)((brokers >> b & 1) && status(w, b) == wanted) << b;
    return found;
}

static inline void check_state(State s) {
    word w = s.fields, isr = get(w, ISR, 3), leader = get(w, LEADER, 2), leading = get(w, LEADING, 1);
    word counted = maximal_isr(w), same_epoch = get(w, EPOCH, 1) == get(w, KNOWN_EPOCH, 1);
    must(!(leading && leader == 1 && same_epoch) || !(isr & ~counted)); /* leader_assumes_superset */
    must(get(w, PENDING, 4) || counted == leader_isr(w));               /* isr_counts_when_nothing_is_pending */
    must(reaching(w, isr) == isr);                                      /* isr_holds_committed */
    must(!leader || isr >> (leader - 1) & 1);                           /* leader_is_in_isr */
    must(isr);                                                          /* isr_is_never_empty */
    must(!(isr & (isr - 1)) || of_status(w, isr, ACTIVE) == isr);       /* isr_is_eligible */
    must(!get(w, HIGH_WATERMARK, 2) || reaching(w, 7));                 /* committed_has_enough_copies */
    must(get(w, KNOWN_VERSION, 2) != get(w, VERSION, 2) ||              /* partition_epoch_names_a_state */
         (same_epoch && leading == (leader == 1) && (!leading || leader_isr(w) == isr)));
    must(leading || !counted);                                          /* only_a_leader_counts */
    must(leader || of_status(w, isr, FENCED) == isr);                   /* fenced_replica_does_not_lead */
    for (int at = RESPONSES; at < RESPONSES + 16; at += 8)              /* only_refusals_are_answered */
        must(!get(s.messages, at, 1) || get(s.messages, at + 6, 2));
}

/* The properties of a step that look at the fields; those about messages stand where the messages are made. */
static inline void check_step(word old, word new) {
    word changed = old ^ new;
    must(get(new, EPOCH, 1) >= get(old, EPOCH, 1) && get(new, VERSION, 2) >= get(old, VERSION, 2) &&
         get(new, KNOWN_EPOCH, 1) >= get(old, KNOWN_EPOCH, 1) &&
         get(new, KNOWN_VERSION, 2) >= get(old, KNOWN_VERSION, 2));                    /* epochs_never_decrease */
    must(!get(changed, LEADER, 8) || get(new, VERSION, 2) == get(old, VERSION, 2) + 1); /* change_takes_next_version */
    must(get(changed, KNOWN_EPOCH, 1) || get(new, HIGH_WATERMARK, 2) >= get(old, HIGH_WATERMARK, 2)); /* ..._decreases */
    must(!get(changed, EPOCH, 1) || get(changed, LEADER, 2));                          /* election_changes_leader */
    if (get(new, HIGH_WATERMARK, 2) > get(old, HIGH_WATERMARK, 2))                     /* success_has_enough_copies */
        must(!maximal_isr(new) || reaching(new, maximal_isr(new)));
    for (int b = 0; b < 3; b++) {
        if (get(changed, STATUS + 2 * b, 2) && status(old, b) != ACTIVE) /* departing_broker_is_fenced_next */
            must(status(new, b) == (status(old, b) == FENCED ? ACTIVE : FENCED));
        if (log_end(new, b) > log_end(old, b))                           /* log_grows_under_its_leader */
            must(get(old, LEADING, 1) && (b ? log_end(new, b) <= log_end(old, 0) : leader_isr(old) != 0));
    }
}

static inline void found(State old, word fields, word messages) {
    generated++;
    check_step(old.fields, fields);
    keep((State){fields, messages});
}

/* The error that the controller answers to a request. */
static inline word refusal(word w, word request) {
    if (request_epoch(request) < get(w, EPOCH, 1)) return FENCED_LEADER_EPOCH;
    if (request_version(request) < get(w, VERSION, 2)) return INVALID_ISR_VERSION;
    return of_status(w, request_isr(request), ACTIVE) == request_isr(request) ? NO_ERROR : INELIGIBLE;
}

static inline word may_change(word w) { return get(w, VERSION, 2) < max_version; }

/* A state of the partition, written at the next version and sent to the leader. */
static inline word change(word w, word leader, word epoch, word isr) {
    word version = get(w, VERSION, 2) + 1;
    w = put(w, LEADER, 8, leader | epoch << EPOCH | isr << ISR | version << VERSION);
    return w | (1 | leader << 1 | epoch << 3 | isr << 4) << (UPDATES + 7 * (version - 1));
}

static inline word evict(word w, int broker) {
    word isr = get(w, ISR, 3);
    return isr >> broker & 1 ? change(w, get(w, LEADER, 2), get(w, EPOCH, 1), isr & ~(1u << broker)) : w;
}

static inline void propose(State s, word isr) {
    word w = s.fields, request = get(w, KNOWN_VERSION, 2) << 3 | get(w, KNOWN_EPOCH, 1) << 2 | isr;
    if (get(w, PENDING + isr, 1)) return;
    must(isr != get(w, KNOWN_ISR, 2) || s.messages >> request & 1); /* request_is_a_new_change */
    found(s, w | (word)1 << (PENDING + isr), s.messages | (word)1 << request);
}

static inline void leader_steps(State s) {
    word w = s.fields, isr = get(w, KNOWN_ISR, 2), counted = maximal_isr(w), least = 3;
    if (log_end(w, 0) < max_offset) found(s, w + ((word)1 << LOG_END), s.messages);
    for (int b = 1; b < 3; b++)
        if (log_end(w, b) < log_end(w, 0)) found(s, w + ((word)1 << (LOG_END + 2 * b)), s.messages);
    for (int b = 0; b < 3; b++)
        if (counted >> b & 1 && log_end(w, b) < least) least = log_end(w, b);
    if (least > get(w, HIGH_WATERMARK, 2)) found(s, put(w, HIGH_WATERMARK, 2, least), s.messages);
    if (__builtin_popcountll(s.messages & 0xFFFFFFFFu) == IN_FLIGHT) return;
    for (word laggards = isr; laggards; laggards = (laggards - 1) & isr) propose(s, isr & ~laggards);
    for (int b = 1; b < 3; b++)
        if (!(isr >> (b - 1) & 1) && log_end(w, b) >= get(w, HIGH_WATERMARK, 2)) propose(s, isr | 1u << (b - 1));
}

static inline void controller_steps(State s) {
    word w = s.fields, isr = get(w, ISR, 3), leader = get(w, LEADER, 2), epoch = get(w, EPOCH, 1);
    for (int b = 0; b < 3; b++) {
        word in_isr = isr >> b & 1;
        if (leader != (word)b + 1 && (may_change(w) || !in_isr)) {
            if (status(w, b) != FENCED) found(s, evict(put(w, STATUS + 2 * b, 2, FENCED), b), s.messages);
            if (status(w, b) == ACTIVE) found(s, evict(put(w, STATUS + 2 * b, 2, SHUTTING_DOWN), b), s.messages);
        }
        if (status(w, b) == FENCED) {
            word active = put(w, STATUS + 2 * b, 2, ACTIVE);
            if (leader || !in_isr) found(s, active, s.messages);
            else if (may_change(w) && epoch < MAX_EPOCH) found(s, change(active, b + 1, epoch + 1, isr), s.messages);
        }
        if (b && leader == 1 && in_isr && status(w, b) == ACTIVE && may_change(w) && epoch < MAX_EPOCH)
            found(s, change(w, b + 1, epoch + 1, isr), s.messages);
    }
    if (leader == 1 && !(isr & (isr - 1)) && may_change(w) && epoch < MAX_EPOCH)
        found(s, change(put(w, STATUS, 2, FENCED), 0, epoch + 1, isr), s.messages);
}

/* Requests are judged; an acknowledged one is written later, or lost. */
static inline void request_steps(State s) {
    word w = s.fields, acknowledged = get(w, ACKNOWLEDGED, 6), one = get(s.messages, RESPONSES, 8),
         other = get(s.messages, RESPONSES + 8, 8);
    for (word left = s.messages & 0xFFFFFFFFu; left; left &= left - 1) {
        word request = __builtin_ctzll(left), error = refusal(w, request), others = s.messages & ~((word)1 << request);
        if (!error && !acknowledged) found(s, w | (request << 1 | 1) << ACKNOWLEDGED, others);
        if (!error || (one && other)) continue;
        must(request_epoch(request) >= get(w, EPOCH, 1) || error == FENCED_LEADER_EPOCH); /* earlier_leader_is_fenced */
        word response = error << 6 | request << 1 | 1, first = one, second = 0;
        if (response > first) second = first, first = response;
        else if (response < first) second = response;
        found(s, w, put(others, RESPONSES, 16, first | second << 8));
    }
    if (!acknowledged) return;
    word request = acknowledged >> 1, without = put(w, ACKNOWLEDGED, 6, 0);
    if (may_change(w)) {
        word refused = refusal(w, request);
        must(refused || request_version(request) == get(w, VERSION, 2)); /* written_change_quotes_current_partition_epoch */
        word isr = request_isr(request);
        found(s, refused ? without : change(without, get(w, LEADER, 2), get(w, EPOCH, 1), isr), s.messages);
    }
    found(s, without, s.messages);
}

static inline void arrivals(State s) {
    word w = s.fields, one = get(s.messages, RESPONSES, 8), other = get(s.messages, RESPONSES + 8, 8);
    for (word version = 1; version <= max_version; version++) {
        int at = UPDATES + 7 * (version - 1);
        word update = get(w, at, 7), after = put(w, at, 7, 0);
        if (!(update & 1)) continue;
        if (version > get(w, KNOWN_VERSION, 2)) {
            word leading = get(update, 1, 2) == 1, isr = leading ? update >> 5 : 0;
            word known = leading | get(update, 3, 1) << 1 | isr << 2 | version << 4;
            after = put(after, LEADING, 10, known);
        }
        found(s, after, s.messages);
    }
    if (one) found(s, w, put(s.messages, RESPONSES, 16, other));
    if (other) found(s, w, put(s.messages, RESPONSES, 16, one));
}

static inline void expand(State s) {
    if (get(s.fields, LEADING, 1)) leader_steps(s);
    controller_steps(s);
    request_steps(s);
    arrivals(s);
}

int main(int count, char **words) {
    if (count != 4 || atoi(words[1]) > 3 || atoi(words[2]) > 3) return 2;
    max_version = atoi(words[1]);
    max_offset = atoi(words[2]);
    search((State){1u << LEADER | 3u << ISR | 1u << LEADING | 1u << KNOWN_ISR, 0}, atoi(words[3]));
}
