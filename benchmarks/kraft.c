/* A hand-written search of Kraft in model/kraft/quorum.py with its properties, a yardstick for the native search:
 *
 *     cc -O3 -march=native kraft.c -o kraft && ./kraft MAX_EPOCH MAX_LOG MAX_RESTARTS TABLE_BITS
 *
 * There are three voters and no observers; restarts lose what is not flushed, responses may be lost, and leaders track
 * who fetches. MAX_EPOCH is at most 3, MAX_LOG at most 2, MAX_RESTARTS at most 3. A state is two words: the first has
 * what each voter stores, its role, its votes and its high watermark, the second what a leader knows and the history. A
 * record is an epoch and never 0, so a log is two pairs of bits without a length. What must be reachable is reached
 * early and is left out. The table and the search are in by_hand.h.
 */

#include "by_hand.h"

enum { VOTERS = 3, MAJORITY = 2 };
enum { UNATTACHED, VOTED, CANDIDATE, LEADING, RESIGNED, FOLLOWER };

/* Of each voter in the first word, 20 bits: a voter is 1 to 3, and 0 is nobody. */
#define EPOCH 0
#define LEADER 2
#define VOTE 4
#define ROLE 6 /* 3 */
#define LOG 9  /* 2 x 2 */
#define FLUSHED 13
#define VOTES 15 /* 3 */
#define HIGH_WATERMARK 18
#define VOTER 20
/* Of each voter in the second word, 11 bits, and then the history. */
#define START 0
#define ENDS 2    /* 3 x 2 */
#define FETCHED 8 /* 3 */
#define KNOWLEDGE 11
#define RESTARTS 33
#define ELECTED 35 /* for each epoch from 1: 2 */
#define COMMITTED 41
#define ILLEGAL 45

static word max_epoch, max_log, max_restarts;

static inline word of(State s, int r, int at, int bits) { return get(s.fields, VOTER * r + at, bits); }
static inline void set(State *s, int r, int at, int bits, word v) {
    s->fields = put(s->fields, VOTER * r + at, bits, v);
}
static inline word known(State s, int r, int at, int bits) { return get(s.messages, KNOWLEDGE * r + at, bits); }
static inline void know(State *s, int r, int at, int bits, word v) {
    s->messages = put(s->messages, KNOWLEDGE * r + at, bits, v);
}
static inline word epoch_of(State s, int r) { return of(s, r, EPOCH, 2); }
static inline word role_of(State s, int r) { return of(s, r, ROLE, 3); }
static inline word leader_of(State s, int r) { return of(s, r, LEADER, 2); }
static inline word log_of(State s, int r) { return of(s, r, LOG, 4); }
static inline word elected(State s, word epoch) {
    return epoch ? get(s.messages, ELECTED + 2 * ((int)epoch - 1), 2) : 0;
}
static inline word committed(State s) { return get(s.messages, COMMITTED, 4); }
static inline word is_majority(word voters) { return __builtin_popcountll(voters) >= MAJORITY; }

static inline word length(word log) { return (word)((log & 3) != 0) + (log >> 2 != 0); }
static inline word last_epoch(word log) { return log >> 2 ? log >> 2 : log & 3; }
static inline word record(word log, word offset) { return log >> 2 * offset & 3; }
static inline word prefix(word log, word end) { return log & ((1u << 2 * end) - 1); }
static inline word end_offset(word log, word epoch) {
    word first = log & 3, second = log >> 2;
    return (word)(first && first <= epoch) + (second && second <= epoch);
}
static inline word epoch_up_to(word log, word epoch) {
    word first = log & 3, second = log >> 2;
    return second && second <= epoch ? second : first && first <= epoch ? first : epoch;
}

/* Roles. */

static inline void take_role(State *s, int r, word role) {
    set(s, r, FLUSHED, 2, length(log_of(*s, r)));
    set(s, r, ROLE, 3, role);
    set(s, r, VOTES, 3, 0);
    know(s, r, 0, KNOWLEDGE, 0);
}

static inline void write_quorum_state(State *s, int r, word epoch, word leader, word vote) {
    set(s, r, EPOCH, 6, epoch | leader << LEADER | vote << VOTE);
}

static inline void become_unattached(State *s, int r, word epoch) {
    take_role(s, r, UNATTACHED);
    write_quorum_state(s, r, epoch, 0, 0);
}

static inline word may_campaign(State s, int r) { return epoch_of(s, r) < max_epoch && length(log_of(s, r)) < max_log; }

static inline void stand(State *s, int r) {
    take_role(s, r, CANDIDATE);
    write_quorum_state(s, r, epoch_of(*s, r) + 1, 0, r + 1);
    set(s, r, VOTES, 3, 1u << r);
}

static inline void advance_high_watermark(State *s, int r) {
    word ends[VOTERS];
    for (int o = 0; o < VOTERS; o++) ends[o] = o == r ? of(*s, r, FLUSHED, 2) : known(*s, r, ENDS + 2 * o, 2);
    word low = ends[0] < ends[1] ? ends[0] : ends[1], high = ends[0] < ends[1] ? ends[1] : ends[0];
    word offset = ends[2] < low ? low : ends[2] > high ? high : ends[2];
    if (offset <= of(*s, r, HIGH_WATERMARK, 2) || offset <= known(*s, r, START, 2)) return;
    set(s, r, HIGH_WATERMARK, 2, offset);
    word records = prefix(log_of(*s, r), offset);
    if (records != prefix(committed(*s), offset)) s->messages = put(s->messages, COMMITTED, 4, records);
}

static inline void append(State *s, int r, word epoch) {
    word log = log_of(*s, r);
    set(s, r, LOG, 4, log | epoch << 2 * length(log));
}

static inline void lead(State *s, int r) {
    word epoch = epoch_of(*s, r);
    take_role(s, r, LEADING);
    write_quorum_state(s, r, epoch, r + 1, 0);
    know(s, r, START, 2, length(log_of(*s, r)));
    set(s, r, HIGH_WATERMARK, 2, 0);
    append(s, r, epoch);
    s->messages = put(s->messages, ELECTED + 2 * ((int)epoch - 1), 2, r + 1);
    advance_high_watermark(s, r);
}

static inline void learn_leader(State *s, int r, word epoch, word leader) {
    word own = epoch_of(*s, r), follows = leader_of(*s, r);
    if (epoch < own) return;
    if (!leader) {
        if (epoch != own) become_unattached(s, r, epoch);
    } else if (epoch == own && follows ? follows != leader : leader == (word)r + 1) {
        s->messages |= (word)1 << ILLEGAL;
    } else if (epoch != own || !follows) {
        take_role(s, r, FOLLOWER);
        write_quorum_state(s, r, epoch, leader, 0);
    }
}

/* The properties of a state. */

static inline word holds_committed(State s, int r) {
    word done = committed(s);
    return prefix(log_of(s, r), length(done)) == done;
}

static inline word role_fits(State s, int r) {
    word leader = leader_of(s, r), vote = of(s, r, VOTE, 2);
    switch (role_of(s, r)) {
    case LEADING:
    case RESIGNED: return leader == (word)r + 1 && !vote;
    case FOLLOWER: return leader && leader != (word)r + 1 && !vote;
    case CANDIDATE: return !leader && vote == (word)r + 1;
    case VOTED: return !leader && vote;
    default: return !leader && !vote;
    }
}

static inline word has_voted_for_candidate(State s, int r) {
    word vote = of(s, r, VOTE, 2);
    if (!vote || epoch_of(s, vote - 1) > epoch_of(s, r)) return 1;
    return epoch_of(s, vote - 1) == epoch_of(s, r) && (of(s, vote - 1, VOTE, 2) == vote || leader_of(s, vote - 1));
}

static inline word description_holds(State s, int r, int other) {
    word end = other == r ? of(s, r, FLUSHED, 2) : known(s, r, ENDS + 2 * other, 2);
    if (of(s, other, EPOCH, 6) != of(s, r, EPOCH, 6)) return end == 0;
    word log = log_of(s, r), others = log_of(s, other);
    return end <= of(s, other, FLUSHED, 2) && length(log) >= end && length(others) >= end &&
           prefix(log, end) == prefix(others, end);
}

static inline void check_state(State s) {
    word done = committed(s), latest = 0, holders = 0;
    must(!get(s.messages, ILLEGAL, 1)); /* nobody_is_in_an_illegal_state */
    for (word epoch = 1; epoch <= max_epoch; epoch++)
        if (elected(s, epoch)) latest = epoch;
    for (int r = 0; r < VOTERS; r++) {
        word epoch = epoch_of(s, r), role = role_of(s, r), leader = leader_of(s, r), log = log_of(s, r);
        word flushed = of(s, r, FLUSHED, 2), mark = of(s, r, HIGH_WATERMARK, 2), votes = of(s, r, VOTES, 3);
        must(!leader || elected(s, epoch) == leader);                          /* known_leader_was_elected */
        must(role_fits(s, r));                                                 /* roles_fit_what_is_stored */
        must(role == CANDIDATE ? votes >> r & 1 : !votes);                     /* only_candidates_hold_votes */
        must(!is_majority(votes) && has_voted_for_candidate(s, r));
        must(!(log >> 2) || ((log & 3) && (log & 3) <= log >> 2));             /* epochs_never_decrease_along_a_log */
        must(last_epoch(log) <= epoch);
        must(role != LEADING || epoch < latest || holds_committed(s, r));      /* leader_completeness */
        must(length(log) >= mark && prefix(log, mark) == prefix(done, mark));  /* committed_records_agree */
        must(flushed <= length(log) && (role == LEADING || flushed == length(log))); /* only_leaders_wait_for_disks */
        holders |= (word)(holds_committed(s, r) && flushed >= length(done)) << r;
        if (role == LEADING) {
            word fetched = known(s, r, FETCHED, 3);
            must(last_epoch(log) == epoch);                                    /* leader_commits_in_its_own_epoch */
            must(!mark || (log & 3) == epoch || (mark == 2 && log >> 2 == epoch));
            must(!(fetched >> r & 1) && __builtin_popcountll(fetched) <= 1);   /* only_leaders_keep_leadership */
            must(!mark || mark >= known(s, r, START, 2));                      /* active_controllers_lead */
            for (int o = 0; o < VOTERS; o++)                                   /* described_offsets_are_held */
                must(epoch_of(s, o) > epoch || description_holds(s, r, o));
        } else {
            must(role == RESIGNED ? !known(s, r, FETCHED, 3) && !mark : !known(s, r, 0, KNOWLEDGE));
        }
        for (int o = 0; o < r; o++) {
            word others = log_of(s, o);
            must(epoch_of(s, o) != epoch || !leader || !leader_of(s, o) || leader_of(s, o) == leader); /* ...alike */
            must(!(log >> 2) || log >> 2 != others >> 2 || log == others);     /* log_matching */
        }
    }
    must(is_majority(holders)); /* majority_holds_committed */
}

/* The properties of a step. */

static inline word stands_next(State old, State new, int r) {
    word self = r + 1;
    return epoch_of(new, r) == epoch_of(old, r) + 1 && (of(new, r, VOTE, 2) == self || leader_of(new, r) == self);
}

static inline void check_step(State old, State new) {
    word done = committed(old);
    word restarted = get(old.messages, RESTARTS, 2) != get(new.messages, RESTARTS, 2);
    for (word epoch = 1; epoch <= max_epoch; epoch++) /* election_safety */
        must(!elected(old, epoch) || elected(new, epoch) == elected(old, epoch));
    must(prefix(committed(new), length(done)) == done); /* committed_records_stay */
    for (int r = 0; r < VOTERS; r++) {
        word was = epoch_of(old, r), now = epoch_of(new, r), before = role_of(old, r), after = role_of(new, r);
        word log = log_of(old, r), longer = log_of(new, r);
        must(now >= was); /* epochs_never_decrease */
        if (now == was) {
            word vote = of(old, r, VOTE, 2), leader = leader_of(old, r);
            must(leader ? leader_of(new, r) == leader
                        : !vote || leader_of(new, r) || of(new, r, VOTE, 2) == vote); /* votes_once */
            must(before != CANDIDATE || after == LEADING || after == FOLLOWER || after == CANDIDATE); /* ..._in_order */
            must(before != RESIGNED || after == RESIGNED);
            must(before != LEADING || after != LEADING ||
                 of(new, r, HIGH_WATERMARK, 2) >= of(old, r, HIGH_WATERMARK, 2)); /* high_watermark_never_decreases */
        }
        if (after == LEADING && before != LEADING && now > last_epoch(done) && log)
            must(last_epoch(done) <= last_epoch(log)); /* zombie_cannot_win_over_newer_records */
        if (before == LEADING) {
            word stands = stands_next(old, new, r);
            must(!stands); /* leader_resigns_before_it_stands */
            if (!restarted && (after == RESIGNED || stands))
                must(!is_majority(known(old, r, FETCHED, 3) | 1u << r)); /* leader_resigns_only_without_majority */
        }
        if (length(longer) > length(log)) { /* records_are_written_once */
            if (after == LEADING)
                for (int o = 0; o < VOTERS; o++)
                    must(length(log_of(old, o)) <= length(log) || record(log_of(old, o), length(log)) != now);
            else
                must(before == FOLLOWER);
        }
        if (length(longer) < length(log) && !restarted)
            must(length(longer) >= of(old, r, HIGH_WATERMARK, 2)); /* truncates_above_high_watermark_only */
    }
}

static inline void found(State old, State new) {
    generated++;
    check_step(old, new);
    keep(new);
}

/* The answer may be lost: one successor with it, and one without. */
static inline void both(State old, State asked, State answered) {
    found(old, asked);
    found(old, answered);
}

static inline void request_vote(State s, int candidate, int voter) {
    State asked = s;
    word epoch = epoch_of(s, candidate), position = log_of(s, candidate), own = log_of(s, voter), granted = 0;
    if (epoch > epoch_of(s, voter)) become_unattached(&asked, voter, epoch);
    word role = role_of(asked, voter), vote = of(asked, voter, VOTE, 2);
    if (epoch >= epoch_of(asked, voter) && (role == UNATTACHED || role == VOTED))
        granted = vote ? vote == (word)candidate + 1
                       : last_epoch(position) > last_epoch(own) ||
                             (last_epoch(position) == last_epoch(own) && length(position) >= length(own));
    if (granted) {
        set(&asked, voter, VOTE, 2, candidate + 1);
        if (role == UNATTACHED) take_role(&asked, voter, VOTED);
    }
    State answered = asked;
    if (!granted) {
        learn_leader(&answered, candidate, epoch_of(asked, voter), leader_of(asked, voter));
    } else if (epoch_of(asked, voter) == epoch) {
        word votes = of(asked, candidate, VOTES, 3) | 1u << voter;
        set(&answered, candidate, VOTES, 3, votes);
        if (is_majority(votes)) lead(&answered, candidate);
    }
    both(s, asked, answered);
}

static inline void announce(State s, int leader, int voter) {
    State asked = s;
    learn_leader(&asked, voter, epoch_of(s, leader), leader + 1);
    State answered = asked;
    learn_leader(&answered, leader, epoch_of(asked, voter), leader_of(asked, voter));
    both(s, asked, answered);
}

static inline void end_epoch(State s, int leader, int voter) {
    word epoch = epoch_of(s, leader), rank = 0;
    for (int o = 0; o < VOTERS; o++)
        rank += o != leader && known(s, leader, ENDS + 2 * o, 2) > known(s, leader, ENDS + 2 * voter, 2);
    State asked = s;
    learn_leader(&asked, voter, epoch, leader + 1);
    word answer_epoch = epoch_of(asked, voter), answer_leader = leader_of(asked, voter);
    if (role_of(asked, voter) == FOLLOWER && answer_epoch == epoch && !rank && may_campaign(asked, voter))
        stand(&asked, voter);
    State answered = asked;
    learn_leader(&answered, leader, answer_epoch, answer_leader);
    both(s, asked, answered);
}

static inline void fetch(State s, int follower) {
    int leader = (int)leader_of(s, follower) - 1;
    word epoch = epoch_of(s, follower), own = log_of(s, follower), offset = length(own), log = log_of(s, leader);
    if (role_of(s, leader) != LEADING || epoch != epoch_of(s, leader)) {
        State answered = s;
        learn_leader(&answered, follower, epoch_of(s, leader), leader_of(s, leader));
        both(s, s, answered);
        return;
    }
    word last = last_epoch(own), next = epoch_up_to(log, last), end = end_offset(log, last);
    if (offset && (next != last || end < offset)) {
        State answered = s;
        word own_end = end_offset(own, next);
        word to = epoch_up_to(own, next) == next && end < own_end ? end : own_end;
        if (to < of(s, follower, HIGH_WATERMARK, 2)) {
            answered.messages |= (word)1 << ILLEGAL;
        } else {
            set(&answered, follower, LOG, 4, prefix(own, to));
            set(&answered, follower, FLUSHED, 2, to);
        }
        both(s, s, answered);
        return;
    }
    State asked = s;
    know(&asked, leader, ENDS + 2 * follower, 2, offset);
    word fetched = known(s, leader, FETCHED, 3);
    if (!is_majority(fetched | 1u << leader)) know(&asked, leader, FETCHED, 3, fetched | 1u << follower);
    advance_high_watermark(&asked, leader);
    State answered = asked;
    if (offset < length(log)) {
        append(&answered, follower, record(log, offset));
        set(&answered, follower, FLUSHED, 2, ++offset);
    }
    word mark = of(asked, leader, HIGH_WATERMARK, 2);
    if (mark > offset) mark = offset;
    if (mark > of(s, follower, HIGH_WATERMARK, 2)) set(&answered, follower, HIGH_WATERMARK, 2, mark);
    both(s, asked, answered);
}

static inline void leader_steps(State s, int r) {
    State new = s;
    word fetched = known(s, r, FETCHED, 3), log = log_of(s, r);
    know(&new, r, FETCHED, 3, 0);
    if (!is_majority(fetched | 1u << r)) {
        set(&new, r, FLUSHED, 2, length(log));
        set(&new, r, ROLE, 3, RESIGNED);
        set(&new, r, HIGH_WATERMARK, 2, 0);
    }
    found(s, new);
    if (length(log) < max_log) {
        new = s;
        append(&new, r, epoch_of(s, r));
        advance_high_watermark(&new, r);
        found(s, new);
    }
    if (of(s, r, FLUSHED, 2) < length(log)) {
        new = s;
        set(&new, r, FLUSHED, 2, length(log));
        advance_high_watermark(&new, r);
        found(s, new);
    }
}

static inline void restart(State s, int r, word kept) {
    State new = s;
    word leader = leader_of(s, r), vote = of(s, r, VOTE, 2);
    new.messages += (word)1 << RESTARTS;
    set(&new, r, LOG, 4, prefix(log_of(s, r), kept));
    set(&new, r, HIGH_WATERMARK, 2, 0);
    take_role(&new, r, leader == (word)r + 1 ? RESIGNED : leader ? FOLLOWER : vote == (word)r + 1 ? CANDIDATE
                       : vote ? VOTED : UNATTACHED);
    if (!leader && vote == (word)r + 1) set(&new, r, VOTES, 3, 1u << r);
    found(s, new);
}

static inline void expand(State s) {
    for (int r = 0; r < VOTERS; r++) {
        word role = role_of(s, r);
        if (role != LEADING && may_campaign(s, r)) {
            State new = s;
            stand(&new, r);
            found(s, new);
        }
        for (int o = 0; o < VOTERS; o++) {
            if (o == r) continue;
            if (role == CANDIDATE && !(of(s, r, VOTES, 3) >> o & 1)) request_vote(s, r, o);
            if (role == LEADING) announce(s, r, o);
            if (role == RESIGNED) end_epoch(s, r, o);
        }
        if (role == LEADING) leader_steps(s, r);
        if (role == FOLLOWER) fetch(s, r);
        if (get(s.messages, RESTARTS, 2) < max_restarts)
            for (word kept = of(s, r, FLUSHED, 2); kept <= length(log_of(s, r)); kept++) restart(s, r, kept);
    }
}

int main(int count, char **words) {
    if (count != 5 || atoi(words[1]) > 3 || atoi(words[2]) > 2 || atoi(words[3]) > 3) return 2;
    max_epoch = atoi(words[1]);
    max_log = atoi(words[2]);
    max_restarts = atoi(words[3]);
    search((State){0, 0}, atoi(words[4]));
}
