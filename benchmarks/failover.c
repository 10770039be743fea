/* A hand-written search of AlterIsrFailover in model/alter_isr/failover.py with its properties, a yardstick for the
 * native search:
 *
 *     cc -O3 -march=native failover.c -o failover
 *     ./failover MAX_OFFSET MAX_LEADER_EPOCH MAX_PARTITION_EPOCH TABLE_BITS
 *
 * There are three brokers, and min_insync_replicas is 1. MAX_OFFSET and MAX_LEADER_EPOCH are at most 2,
 * MAX_PARTITION_EPOCH at most 4. A state is two words: the first has the replicas and what is committed, the second has
 * the controller's decisions. A record is a leader epoch plus one and never 0, so a log is two pairs of bits without a
 * length. An ISR is never empty, so a decision that is forgotten or yet to come is 0. What must be reachable is reached
 * early and is left out. The table and the search are in by_hand.h.
 */

#include "by_hand.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

enum { BROKERS = 3, MIN_INSYNC = 1 };

/* A replica, 20 bits; the first word has three of them, and then what is committed, a log. */
#define PARTITION_EPOCH 0 /* 3 */
#define LOG 3             /* 2 x 2 */
#define HIGH_WATERMARK 7
#define PENDING 9 /* 3 */
#define START 12
#define FETCHED 14 /* 3 x 2 */
#define REPLICA 20
#define COMMITTED 60
/* A decision, 7 bits; the second word has one of each partition epoch, and then the current epoch and who is fenced. */
#define LEADER 0 /* a broker is 1 to 3, and 0 is nobody */
#define LEADER_EPOCH 2
#define ISR 4
#define DECISION 7
#define CURRENT 35
#define FENCED 38

/* A state and what is read often: its replicas, and the decision that each of them knows. */
typedef struct { State state; word replica[BROKERS], known[BROKERS]; } View;

static word max_offset, max_leader_epoch, max_partition_epoch;

static inline word length(word log) { return (word)((log & 3) != 0) + (log >> 2 != 0); }
static inline word last_record(word log) { return log >> 2 ? log >> 2 : log & 3; }
static inline word prefix(word log, word end) { return log & ((1u << 2 * end) - 1); }
static inline word end_offset(word log, word record) {
    word first = log & 3, second = log >> 2;
    return (word)(first && first <= record) + (second && second <= record);
}
static inline word record_up_to(word log, word record) {
    word first = log & 3, second = log >> 2;
    return second && second <= record ? second : first && first <= record ? first : record;
}

static inline word replica(State s, int r) { return s.fields >> REPLICA * r & ((1u << REPLICA) - 1); }
static inline word log_of(word replica) { return get(replica, LOG, 4); }
static inline word mark_of(word replica) { return get(replica, HIGH_WATERMARK, 2); }
static inline word pending_of(word replica) { return get(replica, PENDING, 3); }
static inline word leader_of(word decision) { return get(decision, LEADER, 2); }
static inline word epoch_of(word decision) { return get(decision, LEADER_EPOCH, 2); }
static inline word isr_of(word decision) { return decision >> ISR; }
static inline word leads(word decision, int r) { return leader_of(decision) == (word)r + 1; }
static inline word may_advance(word decision) { return __builtin_popcountll(isr_of(decision)) >= MIN_INSYNC; }

static inline word committed(State s) { return s.fields >> COMMITTED; }
static inline word fenced(State s) { return get(s.messages, FENCED, 3); }
static inline word partition_epoch(State s) { return get(s.messages, CURRENT, 3); }
static inline word state_at(State s, word partition_epoch) {
    return s.messages >> DECISION * partition_epoch & ((1u << DECISION) - 1);
}
static inline word current(State s) { return state_at(s, partition_epoch(s)); }
static inline word known(State s, int r) { return state_at(s, get(s.fields, REPLICA * r + PARTITION_EPOCH, 3)); }

static inline word only(word leader) { return (word)1 << leader >> 1; }

static inline View view(State s) {
    View it = {.state = s};
    for (int r = 0; r < BROKERS; r++) it.replica[r] = replica(s, r), it.known[r] = known(s, r);
    return it;
}

/* The least log end offset among some members of an ISR, as far as their leader knows. Others count as if they had all
 * records; the least is then the number of bounds, 1 and 2, that all three have reached.
 */
static inline word least_end(word replica, int r, word members) {
    word ends = get(replica, FETCHED, 6) | length(log_of(replica)) << 2 * r, others = 7 ^ members;
    ends |= ((others & 1) | (others & 2) << 1 | (others & 4) << 2) * 3;
    return (word)((ends & 0x2A) == 0x2A) + (((ends | ends >> 1) & 0x15) == 0x15);
}

/* The replicas that agree with a log below an offset, which the log reaches. */
static inline word agreeing(State s, word log, word end) {
    word mask = (1u << 2 * end) - 1, found = 0;
    for (int r = 0; r < BROKERS; r++) found |= (word)(!((get(s.fields, REPLICA * r + LOG, 4) ^ log) & mask)) << r;
    return length(log) >= end ? found : 0;
}

/* The properties of a state. */

static inline void check_state(State s) {
    View it = view(s);
    word now = current(s), isr = isr_of(now), done = committed(s), away = fenced(s);
    word holders = agreeing(s, done, length(done)), members = 0;
    must(isr && (!leader_of(now) || isr & only(leader_of(now))));            /* leader_is_in_isr */
    must(!(isr & (isr - 1)) || !(isr & away));                               /* isr_is_eligible */
    must(!leader_of(now) == !(isr & ~away));                                 /* fenced_replica_does_not_lead */
    must(!(isr & ~holders));                                                 /* leader_candidate_completeness */
    must(holders);                                                           /* committed_records_survive */
    for (int r = 0; r < BROKERS; r++) members |= isr_of(it.known[r]) & (word)1 << r;
    for (int r = 0; r < BROKERS; r++) {
        word mine = it.replica[r], seen = it.known[r], log = log_of(mine), mark = mark_of(mine);
        must(prefix(log, mark) == prefix(done, mark));                       /* consistent_reads */
        must(!(log >> 2) || ((log & 3) && (log & 3) <= log >> 2));           /* epochs_never_decrease_along_a_log */
        must(last_record(log) <= epoch_of(seen) + 1);
        must(!get(mine, FETCHED + 2 * r, 2));                                /* only_a_leader_remembers */
        must(leads(seen, r) || !(mine >> PENDING));
        if (leads(seen, r)) {
            word pending = pending_of(mine), counted = isr_of(seen) | pending, same = agreeing(s, log, mark);
            must(pending || counted == isr_of(seen));                        /* isr_counts_when_nothing_is_pending */
            must(!(isr & ~same));                                            /* strong_isr */
            must(!(isr_of(seen) & members & ~same));                         /* weak_isr */
            must(!may_advance(seen) || least_end(mine, r, counted) <= mark); /* high_watermark_keeps_up */
        }
        for (int o = 0; o < r; o++) {                                        /* log_matching */
            word end = mark_of(it.replica[o]) < mark ? mark_of(it.replica[o]) : mark;
            must(length(log) >= end && !prefix(log ^ log_of(it.replica[o]), end));
        }
    }
    if (!leader_of(now)) return;
    int r = leader_of(now) - 1;
    word mine = it.replica[r], seen = it.known[r];
    if (epoch_of(seen) != epoch_of(now)) return;
    must(!(isr & ~(isr_of(seen) | pending_of(mine))));                       /* leader_assumes_superset */
    must(holders >> r & 1);                                                  /* leader_completeness */
    for (int m = 0; m < BROKERS; m++)                                        /* valid_high_watermark */
        must(!(isr >> m & 1) || length(log_of(it.replica[m])) >= mark_of(mine));
}

/* The properties of a step. */

static inline void check_replica(const View *old, State new, int r) {
    word was = old->replica[r], mine = replica(new, r), changed = was ^ mine, seen = old->known[r];
    word log = log_of(was), longer = log_of(mine), mark = mark_of(mine);
    if (mark < mark_of(was)) must(!leads(known(new, r), r)); /* high_watermark_never_decreases */
    if (mark > mark_of(was)) {
        word view = known(new, r), heard = leads(view, r);
        if (heard) /* success_has_enough_copies */
            must(__builtin_popcountll(agreeing(new, longer, mark) & (isr_of(view) | pending_of(mine))) >= MIN_INSYNC);
        else
            for (int o = 0; o < BROKERS; o++)
                heard |= o != r && leads(view, o) && leads(known(new, o), o) && mark_of(replica(new, o)) >= mark;
        must(heard); /* high_watermark_comes_from_a_leader */
    }
    if (get(changed, LOG, 4)) { /* logs_change_under_a_leader */
        word end = length(log), allowed;
        if (leads(seen, r) && length(longer) > end) {
            allowed = prefix(longer, end) == log && (longer >> 2 * end & 3) == epoch_of(seen) + 1;
        } else {
            allowed = fenced(old->state) >> r & 1;
            allowed |= partition_epoch(new) > partition_epoch(old->state) && !(isr_of(current(old->state)) >> r & 1);
            for (int o = 0; o < BROKERS; o++)
                allowed |= o != r && leads(old->known[o], o) && !get(seen ^ old->known[o], LEADER, 4);
        }
        must(allowed);
    }
    if (get(changed, PARTITION_EPOCH, 3)) {
        word view = known(new, r);
        must(get(mine, PARTITION_EPOCH, 3) > get(was, PARTITION_EPOCH, 3)); /* epochs_never_decrease */
        must(epoch_of(view) >= epoch_of(seen));
        must(!pending_of(mine)); /* requests_are_changes_of_a_leader */
        if (!leads(view, r)) return;
        if (epoch_of(view) != epoch_of(seen)) { /* leader_epoch_begins_anew */
            must(get(mine, START, 2) == length(longer));
            must(!get(mine, FETCHED, 6) || (leads(seen, r) && epoch_of(view) == epoch_of(seen) + 1));
        } else {
            must(!(changed >> START));
        }
    } else if (get(changed, PENDING, 3)) { /* requests_are_changes_of_a_leader */
        word pending = pending_of(mine);
        must(leads(seen, r) && !pending_of(was) && pending >> r & 1 && pending != isr_of(seen));
    }
}

static inline void check_controller(State old, State new) {
    word before = current(old), after = current(new), leaders = leader_of(before) != leader_of(after);
    word was = isr_of(before), isr = isr_of(after), differs = was ^ isr, joining = isr & ~was, unasked = differs;
    word decided = partition_epoch(new) != partition_epoch(old), leader = leader_of(before);
    must(partition_epoch(new) >= partition_epoch(old)); /* epochs_never_decrease */
    must(epoch_of(after) == epoch_of(before) || (decided && epoch_of(after) > epoch_of(before)));
    if (leader && isr == pending_of(replica(old, leader - 1))) unasked = 0;
    must(!decided || old.fields != new.fields || leaders || differs); /* decisions_have_a_cause */
    must(!(unasked & ~(was & fenced(new) & ~fenced(old))));
    must(!leaders || !differs || !(was & ~isr & ~only(leader)));
    must(!(fenced(old) & ~fenced(new) & was & ~only(leader_of(after))));
    if (joining && leader_of(after)) { /* joining_replicas_have_caught_up */
        int r = leader_of(after) - 1;
        word mine = replica(new, r), end = mark_of(mine), start = get(mine, START, 2);
        if (start > end) end = start;
        must(epoch_of(known(new, r)) != epoch_of(after) || !(joining & ~agreeing(new, log_of(mine), end)));
    }
}

ALWAYS_INLINE void check_step(const View *old, State new) {
    word replicas = old->state.fields ^ new.fields, controller = old->state.messages ^ new.messages;
    if (replicas >> COMMITTED) /* exposed_records_stay */
        must(!prefix(replicas >> COMMITTED, length(committed(old->state))));
    for (int r = 0; r < BROKERS; r++)
        if (replicas & (word)((1u << REPLICA) - 1) << REPLICA * r) check_replica(old, new, r);
    if (!controller) return;
    if (controller & (((word)1 << DECISION << DECISION * partition_epoch(old->state)) - 1)) /* epochs_never_decrease */
        for (int r = 0; r < BROKERS; r++) must(epoch_of(known(new, r)) >= epoch_of(old->known[r]));
    check_controller(old->state, new);
}

ALWAYS_INLINE void found(const View *old, State new) {
    generated++;
    check_step(old, new);
    keep(new);
}

/* Leader and followers. */

static inline State with(State s, int r, word mine) {
    s.fields = (s.fields & ~((word)((1u << REPLICA) - 1) << REPLICA * r)) | mine << REPLICA * r;
    return s;
}

/* A state in which a replica has changed and counts again what its followers have. */
static inline State advanced(State s, int r, word mine, word seen) {
    word reached = least_end(mine, r, isr_of(seen) | pending_of(mine));
    if (!may_advance(seen) || reached <= mark_of(mine)) return with(s, r, mine);
    s = with(s, r, put(mine, HIGH_WATERMARK, 2, reached));
    if (reached > length(committed(s))) s.fields = put(s.fields, COMMITTED, 4, prefix(log_of(mine), reached));
    return s;
}

static inline void truncate(const View *it, int follower, word log) {
    word mine = it->replica[follower], own = log_of(mine), last = last_record(own);
    word next = record_up_to(log, last), end = end_offset(log, last), to = end_offset(own, next);
    if (record_up_to(own, next) >= next && end < to) to = end;
    mine = put(mine, LOG, 4, prefix(own, to));
    if (mark_of(mine) > to) mine = put(mine, HIGH_WATERMARK, 2, to);
    found(it, with(it->state, follower, mine));
}

static inline void fetch(const View *it, int follower, int leader, word may_propose) {
    word mine = it->replica[follower], theirs = it->replica[leader], seen = it->known[leader];
    word log = log_of(theirs), own = log_of(mine), last = last_record(own), offset = length(own);
    if (offset && (record_up_to(log, last) < last || end_offset(log, last) < offset)) {
        truncate(it, follower, log);
        return;
    }
    State heard = advanced(it->state, leader, put(theirs, FETCHED + 2 * follower, 2, offset), seen);
    word longer = own | (log & 3u << 2 * offset), mark = mark_of(theirs);
    if (mark > length(longer)) mark = length(longer);
    found(it, with(heard, follower, put(mine, LOG, 6, longer | mark << 4)));
    if (!may_propose || isr_of(seen) >> follower & 1) return;
    theirs = replica(heard, leader);
    if (offset < mark_of(theirs) || offset < get(theirs, START, 2)) return;
    heard.fields |= (isr_of(seen) | (word)1 << follower) << (REPLICA * leader + PENDING);
    found(it, heard);
}

static inline void leader_steps(const View *it, int r) {
    word mine = it->replica[r], seen = it->known[r], log = log_of(mine), isr = isr_of(seen);
    word may_propose = !pending_of(mine) && get(mine, PARTITION_EPOCH, 3) < max_partition_epoch;
    if (length(log) < max_offset) {
        word longer = mine | (epoch_of(seen) + 1) << 2 * length(log) << LOG;
        found(it, advanced(it->state, r, longer, seen));
    }
    if (may_propose) {
        word others = isr & ~((word)1 << r);
        State new = it->state;
        for (word laggards = others; laggards; laggards = (laggards - 1) & others) {
            new.fields = it->state.fields | (isr & ~laggards) << (REPLICA * r + PENDING);
            found(it, new);
        }
    }
    for (int f = 0; f < BROKERS; f++)
        if (f != r && !get(it->known[f] ^ seen, LEADER, 4)) fetch(it, f, r, may_propose);
}

/* The controller. */

static inline void decide(const View *it, word fenced, word leader, word epoch, word isr) {
    State new = it->state;
    new.messages = (new.messages & ~((word)7 << FENCED)) | fenced << FENCED;
    word next = partition_epoch(new) + 1;
    new.messages += (word)1 << CURRENT;
    new.messages |= (leader << LEADER | epoch << LEADER_EPOCH | isr << ISR) << DECISION * next;
    found(it, new);
}

static inline void controller_steps(const View *it) {
    State s = it->state;
    word now = current(s), leader = leader_of(now), epoch = epoch_of(now), isr = isr_of(now), away = fenced(s);
    word may_decide = partition_epoch(s) < max_partition_epoch, may_elect = may_decide && epoch < max_leader_epoch;
    if (may_decide && leader) {
        word mine = it->replica[leader - 1], pending = pending_of(mine);
        if (pending && epoch_of(it->known[leader - 1]) == epoch &&
            get(mine, PARTITION_EPOCH, 3) == partition_epoch(s) && !(pending & away))
            decide(it, away, leader, epoch, pending);
    }
    for (word left = ~isr & 7; left; left &= left - 1) {
        State new = s;
        new.messages ^= (left & -left) << FENCED;
        found(it, new);
    }
    if (!may_elect) return;
    for (word left = isr; left; left &= left - 1) {
        word bit = left & -left, self = __builtin_ctzll(bit) + 1;
        if (away & bit) {
            decide(it, away ^ bit, self, epoch + 1, isr);
            continue;
        }
        if (leader != self) decide(it, away, self, epoch + 1, isr);
        if (isr == bit) decide(it, away | bit, 0, epoch + 1, isr);
        else if (leader != self) decide(it, away | bit, leader, epoch + 1, isr & ~bit);
        if (leader && leader != self) decide(it, away | only(leader), self, epoch + 1, isr & ~only(leader));
    }
}

/* A replica learns what the controller decided. */
static inline void learn(const View *it, int r, word partition_epoch) {
    State s = it->state;
    word before = it->known[r], after = state_at(s, partition_epoch), mine = it->replica[r], least = partition_epoch;
    mine = put(put(mine, PARTITION_EPOCH, 3, partition_epoch), PENDING, 3, 0);
    if (epoch_of(after) > epoch_of(before)) {
        word kept = 0;
        if (leads(after, r)) {
            if (leads(before, r) && epoch_of(after) == epoch_of(before) + 1) kept = get(mine, FETCHED, 6) << 2;
            kept |= length(log_of(mine));
        }
        mine = put(mine, START, 8, kept);
    }
    for (int o = 0; o < BROKERS; o++) {
        word epoch = get(it->replica[o], PARTITION_EPOCH, 3);
        if (o != r && epoch < least) least = epoch;
    }
    s.messages &= -1ull << DECISION * least;
    found(it, leads(after, r) ? advanced(s, r, mine, after) : with(s, r, mine));
}

static inline void expand(State s) {
    View it = view(s);
    for (int r = 0; r < BROKERS; r++) {
        if (leads(it.known[r], r)) leader_steps(&it, r);
        for (word next = get(it.replica[r], PARTITION_EPOCH, 3) + 1; next <= partition_epoch(s); next++)
            learn(&it, r, next);
    }
    controller_steps(&it);
}

int main(int count, char **words) {
    if (count != 5 || atoi(words[1]) > 2 || atoi(words[2]) > 2 || atoi(words[3]) > 4) return 2;
    max_offset = atoi(words[1]);
    max_leader_epoch = atoi(words[2]);
    max_partition_epoch = atoi(words[3]);
    search((State){0, 1u << LEADER | 7u << ISR}, atoi(words[4]));
}
