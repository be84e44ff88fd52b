/* How slots are published, replaced, removed, copied and read: all interleavings.
 * SPDX-License-Identifier: MIT
 *
 * One key, the places where it can be (two of the first level of the index, one of the second), and
 * everybody who changes them: writers, a remover, an evictor that may die once and is then replaced
 * by another, readers, and a tentative slot whose writer died. A rebuild that takes over what was
 * put meanwhile publishes as a writer does; rebuild.pml has the rest of it. Every access to shared
 * memory is a step of its own; between two steps anybody else may do anything, or nothing ever
 * again.
 *
 * The model and the code:
 *   find_published, may_stay, publish     src/store/publish.cc (visit_slots_of_key: begin again when
 *                                         a record is gone and its slot has changed)
 *   insert                                src/store/index.cc, Index::insert
 *   get                                   src/store/lookup.cc, Store::try_candidates
 *   remove                                src/store/update.cc, Store::remove_from
 *   copy, drop, retire                   src/store/evictor.cc
 *
 * The checks (WHO chooses who takes part, see check.sh):
 *   1. never two published slots of a key;
 *   2. linear order: a look-up gives a value that was the published one at some moment of the
 *      look-up, and a miss only if there was none at some moment; the same for "there is none" of a
 *      remove and "there is one" of a put that wants absence. Hence an acknowledged put is found
 *      until it is replaced, removed or given up;
 *   3. of several puts that want absence exactly one stores (no remover, no evictor);
 *   4. no published slot leads to a file that was deleted;
 *   5. all come to an end, if each goes on whenever it can (LIVE, without impatience: see there).
 */

#define PLACES 3
#define EMPTY 0

/* Records: of the entry there is at first, of the writers, of the dead writer, and copies. */
#define OLD 1
#define FIRST 2
#define SECOND 3
#define DEAD 4
#define COPY (8 + OLD)
#define COPY2 (16 + OLD)

/* A slot: record, tentative, and a bit that differs: the hit count. */
#define PUBLISHED(record) ((record) * 4)
#define TENTATIVE(record) ((record) * 4 + 2)
#define RECORD(word) ((word) >> 2)
#define IS_TENTATIVE(word) (((word) & 2) != 0)
#define WITHOUT_HITS(word) ((word) & ~1)
/* The order in which places are visited: the second level first. */
#define PLACE(i) (((i) + 2) % PLACES)
/* The value in a record: a copy has that of its original. */
#define VALUE(record) ((record) & 7)

#ifndef PATIENCE
#define PATIENCE 1
#endif

byte slot[PLACES];
bool old_is_gone;     /* the segment of OLD was deleted */
byte published_count;
byte current;         /* ghost: the published value, 0: none */
byte winners;         /* puts that wanted absence and stored */
byte running;
bool finished;

/* Ghost: for each observer the values (as bits) that were current since it began; 0: it does not
 * observe. */
#define OBSERVERS 5
byte seen[OBSERVERS];
#define BIT(value) (1 << (value))

inline begin_observing(who) {
    seen[who] = BIT(current);
}

inline note(who) {
    if
    :: seen[who] != 0 -> seen[who] = seen[who] | BIT(current)
    :: else
    fi
}

inline note_current(value) {
    current = value;
    note(0);
    note(1);
    note(2);
    note(3);
    note(4)
}

/* One compare-and-swap, with what it means. */
inline exchange(place, expected, desired, done) {
    d_step {
        done = (slot[place] == expected);
        if
        :: done ->
            if
            :: expected != EMPTY && !IS_TENTATIVE(expected) -> published_count--
            :: else
            fi;
            slot[place] = desired;
            if
            :: desired != EMPTY && !IS_TENTATIVE(desired) ->
                published_count++;
                assert(published_count == 1);
                if
                :: current != VALUE(RECORD(desired)) -> note_current(VALUE(RECORD(desired)))
                :: else
                fi
            :: desired == EMPTY && expected != EMPTY && !IS_TENTATIVE(expected) ->
                note_current(0)
            :: else
            fi
        :: else
        fi
    }
}

/* The next slot of the key from the i-th place on, with its record seen; i == PLACES: there is none.
 * visit_slots_of_key: a record that is not there means another key, unless the slot has changed. */
inline next_slot(i, word, own_place) {
    do
    :: i == PLACES -> word = EMPTY; break
    :: i < PLACES && PLACE(i) == own_place -> i++
    :: i < PLACES && PLACE(i) != own_place ->
        word = slot[PLACE(i)];
        if
        :: word == EMPTY -> i++
        :: word != EMPTY && RECORD(word) != OLD -> break
        :: word != EMPTY && RECORD(word) == OLD ->
            if
            :: !old_is_gone -> break
            :: old_is_gone ->
#ifdef NO_LOOK_AGAIN
                i++
#else
                if
                :: WITHOUT_HITS(slot[PLACE(i)]) == WITHOUT_HITS(word) -> i++
                :: else -> i = 0
                fi
#endif
            fi
        fi
    od
}

#define NOWHERE 255

inline find_published(i, word) {
    i = 0;
    do
    :: next_slot(i, word, NOWHERE);
        if
        :: word != EMPTY && IS_TENTATIVE(word) -> i++
        :: else -> break
        fi
    od
}

inline insert(i, word, own, done) {
    i = 0;
    do
    :: i == PLACES -> i = 0 /* full: the index grows; here, somebody will go */
    :: i < PLACES ->
        if
        :: slot[PLACE(i)] == EMPTY ->
            exchange(PLACE(i), EMPTY, word, done);
            if
            :: done -> own = PLACE(i); break
            :: else -> i++
            fi
        :: else -> i++
        fi
    od
}

inline may_stay(i, word, own, impatient, stay) {
    i = 0;
    stay = true;
    do
    :: next_slot(i, word, own);
        if
        :: word == EMPTY -> break
        :: word != EMPTY && IS_TENTATIVE(word) && (PLACE(i) > own || impatient) ->
            exchange(PLACE(i), word, EMPTY, stay);
            if
            :: stay -> i++
#ifdef WITHDRAW_IF_CHANGED
            :: else -> break
#else
            :: else ->
                /* It was withdrawn, and perhaps set again: then after ours, which its writer will
                 * see. Published, it stands. */
                if
                :: slot[PLACE(i)] == EMPTY || IS_TENTATIVE(slot[PLACE(i)]) -> stay = true; i++
                :: else -> break
                fi
#endif
            fi
        :: else -> stay = false; break
        fi
    od
}

/* Publishes `record`. done: it is published; else there is one already. */
inline publish(record, if_absent, i, word, own, attempt, done) {
    attempt = 0;
    do
    :: find_published(i, word);
        if
        :: word != EMPTY && if_absent -> done = false; break
        :: word != EMPTY && !if_absent ->
            exchange(PLACE(i), word, PUBLISHED(record), done);
            if
            :: done -> break
            :: else
            fi
        :: word == EMPTY ->
            insert(i, TENTATIVE(record), own, done);
            may_stay(i, word, own, (attempt >= PATIENCE), done);
            if
            :: done ->
                exchange(own, TENTATIVE(record), PUBLISHED(record), done);
                if
                :: done -> break
                :: else
                fi
            :: else -> exchange(own, TENTATIVE(record), EMPTY, done)
            fi
        fi;
#ifndef LIVE
        if
        :: attempt < PATIENCE -> attempt++
        :: else
        fi
#endif
    od
}

proctype writer(byte record; bool if_absent; byte who) {
    byte i, word, own, attempt;
    bool done;
    begin_observing(who);
    publish(record, if_absent, i, word, own, attempt, done);
    atomic {
        if
        :: if_absent && done -> winners++
        :: if_absent && !done -> assert((seen[who] & ~BIT(0)) != 0)
        :: else
        fi;
        seen[who] = 0; i = 0; word = 0; own = 0; attempt = 0; done = false;
        running--
    }
}

proctype remover(byte who) {
    byte i, word;
    bool done;
    begin_observing(who);
    do
    :: find_published(i, word);
        if
        :: word == EMPTY -> assert((seen[who] & BIT(0)) != 0); break
        :: else ->
            exchange(PLACE(i), word, EMPTY, done);
            if
            :: done -> break
            :: else
            fi
        fi
    od;
    atomic { seen[who] = 0; i = 0; word = 0; done = false; running-- }
}

/* try_candidates; a hit is counted in the slot. */
proctype reader(byte who) {
    byte i, word, value;
    bool done;
    begin_observing(who);
    i = 0;
    value = 0;
    do
    :: next_slot(i, word, NOWHERE);
        if
        :: word == EMPTY -> break
        :: word != EMPTY && IS_TENTATIVE(word) -> i++
        :: word != EMPTY && !IS_TENTATIVE(word) -> value = VALUE(RECORD(word)); break
        fi
    od;
    assert((seen[who] & BIT(value)) != 0);
#ifdef HITS
    if
    :: value != 0 && (word & 1) == 0 -> exchange(PLACE(i), word, (word | 1), done)
    :: else
    fi;
#endif
    atomic { seen[who] = 0; i = 0; word = 0; value = 0; done = false; running-- }
}

/* Gives up the segment of OLD. Dies once, perhaps; the next one begins with what it finds. */
inline find_old(i, word) {
    i = 0;
    do
    :: i == PLACES -> word = EMPTY; break
    :: i < PLACES ->
        word = slot[PLACE(i)];
        if
        :: word != EMPTY && !IS_TENTATIVE(word) && RECORD(word) == OLD -> break
        :: else -> i++
        fi
    od
}

proctype evictor() {
    byte i, word, target;
    bool done, died;
again:
    if
    :: !died -> target = PUBLISHED(COPY)
    :: died -> target = PUBLISHED(COPY2)
    :: target = EMPTY
    fi;
    find_old(i, word); /* plan_more: is it published at all? */
    do
    :: word == EMPTY -> break
    :: word != EMPTY ->
        if
        :: !died -> died = true; goto again
        :: true
        fi;
        exchange(PLACE(i), word, target, done); /* change_slot */
        if
        :: done -> break
        :: else -> find_old(i, word)
        fi
    od;
    if
    :: !died -> died = true; goto again
    :: true
    fi;
    atomic { /* retire */
        old_is_gone = true;
        assert(RECORD(slot[0]) != OLD || IS_TENTATIVE(slot[0]));
        assert(RECORD(slot[1]) != OLD || IS_TENTATIVE(slot[1]));
        assert(RECORD(slot[2]) != OLD || IS_TENTATIVE(slot[2]));
        i = 0; word = 0; target = 0; done = false; died = false;
        running--
    }
}

init {
    atomic {
#ifdef OLD_ENTRY
        slot[1] = PUBLISHED(OLD);
        published_count = 1;
        current = OLD;
#endif
#ifdef DEAD_WRITER
        if
        :: slot[0] = TENTATIVE(DEAD)
        :: slot[2] = TENTATIVE(DEAD)
        fi;
#endif
#ifdef WRITERS
        running = running + 2;
        run writer(FIRST, WANT_ABSENCE, 0);
        run writer(SECOND, WANT_ABSENCE, 1);
#endif
#ifdef ONE_WRITER
        running++;
        run writer(FIRST, WANT_ABSENCE, 0);
#endif
#ifdef REMOVER
        running++;
        run remover(2);
#endif
#ifdef READER
        running++;
        run reader(3);
#endif
#ifdef TWO_READERS
        running = running + 2;
        run reader(3);
        run reader(4);
#endif
#ifdef EVICTOR
        running++;
        run evictor();
#endif
    };
    running == 0;
#ifdef ONE_WINNER
    assert(winners == 1);
#endif
    finished = true
}

#ifdef LIVE
ltl all_come_to_an_end { <> finished }
#endif
