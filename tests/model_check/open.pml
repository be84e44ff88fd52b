/* Several processes find the index damaged, or find none, and replace it: all interleavings.
 * SPDX-License-Identifier: MIT
 *
 * One key with an entry. Each process opens the index, replaces it if need be, and puts a value.
 * Somebody else rebuilds. Processes may be killed at any step, DIES times in all. The clock goes on
 * or stands still, which stands for puts that come faster than it ticks. An index is one slot.
 *
 * The model and the code:
 *   open_index     src/store/store.cc, Store::open_index, create_index
 *   new_index      src/store/index_file.cc, create_index_file
 *   next_stamp     src/store/index_words.cc
 *   opener         Store::open, Store::put
 *   rebuilder      src/store/rebuild.cc: rebuild.pml has how it looks; here that is one step
 *
 * The claims. A put is overtaken once a put has returned that began after it had returned.
 *   1. Stamps grow: a put has a greater one than all puts that returned before it began.
 *   2. When all is quiet, the record with the greatest stamp, which a rebuild brings back, is of a
 *      put that was not overtaken; and if no rebuild is due, so is the one that the index leads to.
 *
 * The rules that make it so:
 *   - who finds the index damaged takes the eviction lock, looks again, and replaces it while it
 *     holds the lock;
 *   - who finds none makes one, and gives it the name only if there still is none;
 *   - a new index begins so far ahead of the clock that its stamps are above those of all records;
 *   - a put asks whether its index has the name after it has published.
 *
 * What is not modelled: damage to, or a loss of, an index that has just been replaced, where that
 * takes less time than the stamps were ahead; a clock that goes back; an index of another version.
 */

#define RECORDS 8
#define INDEXES 7
#define ATTEMPTS 4
#ifndef DIES
#define DIES 0
#endif
#ifndef OPENERS
#define OPENERS 2
#endif

/* How far ahead of the clock a new index begins, and the stamps of the records that are there. */
#ifdef NO_MARGIN
#define MARGIN 0
#else
#define MARGIN 4
#endif
#define AHEAD 3
#define CLOCK_MAX 2

#define OLD 0
#define BIT(x) (1 << (x))

typedef Record {
    byte stamp;
    byte value;
    bool unused
}
typedef Index {
    bool whole;
    bool due;
    byte stamp;
    byte slot
}

Record record[RECORDS + 1];
byte records;
Index index[INDEXES];
byte indexes;
byte name; /* the index that has the name; 0: none has */
bool locked;
byte clock;
byte may_die;
byte running;
byte i_, best_;

/* Ghosts: sets of puts. */
byte returned, overtaken;

#define OR_DIES                                                                 \
    if                                                                          \
    :: may_die != 0 -> may_die--; printf("process %d dies\n", _pid); goto died  \
    :: true                                                                     \
    fi

inline append(id, with_stamp, of_value) {
    assert(records < RECORDS);
    records++;
    id = records;
    record[id].stamp = with_stamp;
    record[id].value = of_value;
    printf("process %d: record %d: stamp %d, value %d\n", _pid, id, with_stamp, of_value)
}

/* It is not the index before it gets the name. */
inline new_index(id) {
    indexes++;
    assert(indexes < INDEXES);
    id = indexes;
    index[id].whole = true;
    index[id].due = true;
    index[id].stamp = clock + MARGIN
}

inline next_stamp(own, stamp) {
    index[own].stamp = (index[own].stamp + 1 > clock -> index[own].stamp + 1 : clock);
    stamp = index[own].stamp
}

#define GIVE_NAME(id) \
    name = id;        \
    printf("process %d: index %d has the name, stamp %d\n", _pid, id, index[id].stamp)
#define UNLOCK                                       \
    if                                               \
    :: holds -> locked = false; holds = false        \
    :: else                                          \
    fi

proctype opener(byte value) {
    byte own, made, mine, stamp, before, attempts;
    bool holds;
again:
    atomic {
        OR_DIES;
        assert(attempts < ATTEMPTS);
        attempts++
    };
look: /* open_index */
    atomic {
        OR_DIES;
        own = name;
        if
        :: own != 0 && index[own].whole -> goto opened
        :: own == 0 -> goto create
#ifdef NO_LOCK
        :: own != 0 && !index[own].whole
#else
        :: own != 0 && !index[own].whole && holds
        :: own != 0 && !index[own].whole && !holds -> goto lock
#endif
        fi
    };
replace:
    atomic { OR_DIES; new_index(made) };
    atomic { OR_DIES; GIVE_NAME(made); made = 0; goto look };
create:
    atomic { OR_DIES; new_index(made) };
    atomic {
        OR_DIES;
#ifdef NAMED_IN_ANY_CASE
        GIVE_NAME(made);
#else
        if
        :: name == 0 -> GIVE_NAME(made)
        :: else
        fi;
#endif
        made = 0;
        goto look
    };
lock:
    atomic {
        OR_DIES;
        if
        :: !locked -> locked = true; holds = true
#ifdef IMPATIENT
        :: locked -> goto replace
#endif
        fi
    };
#ifdef NO_SECOND_LOOK
    goto replace;
#else
    goto look;
#endif
opened:
    /* The put begins, unless it begins again. */
    atomic {
        OR_DIES;
        UNLOCK;
        before = (attempts == 1 -> returned : before)
    };
    atomic { OR_DIES; next_stamp(own, stamp); append(mine, stamp, value) };
    atomic { OR_DIES; index[own].slot = mine };
    atomic {
        OR_DIES;
#ifndef NO_QUESTION
        if
        :: own != name -> goto again
        :: else
        fi;
#endif
        printf("put %d: returns\n", value);
        i_ = 1;
        do
        :: i_ > records -> break
        :: else ->
            assert((before & BIT(record[i_].value)) == 0 || record[i_].stamp < record[mine].stamp);
            if
            :: record[i_].value == value && i_ != mine -> record[i_].unused = true
            :: else
            fi;
            i_++
        od;
        i_ = 0;
        returned = returned | BIT(value);
        overtaken = overtaken | before
    };
died:
    atomic {
        UNLOCK;
        own = 0; made = 0; mine = 0; stamp = 0; before = 0; attempts = 0;
        running--
    }
}

inline newest() {
    best_ = 0;
    i_ = 1;
    do
    :: i_ > records -> break
    :: else ->
        best_ = (!record[i_].unused && record[i_].stamp > record[best_].stamp -> i_ : best_);
        i_++
    od;
    i_ = 0
}

/* Of several that rebuild, the first one to take the lock ends the work of the others. */
proctype rebuilder() {
    byte old, new;
    bool holds;
    atomic {
        OR_DIES;
        if
        :: name != 0 && index[name].whole -> old = name
        :: running == 1 -> goto died
        fi
    };
    atomic {
        OR_DIES;
        !locked -> locked = true;
        holds = true;
        if
        :: name != old || !index[old].due -> goto died
        :: else
        fi
    };
    atomic {
        OR_DIES;
        new_index(new);
        index[new].stamp = index[old].stamp
    };
    atomic {
        OR_DIES;
        newest();
        index[new].slot = (index[old].slot != 0 -> index[old].slot : best_);
        index[new].stamp = (index[old].stamp > record[best_].stamp -> index[old].stamp
                                                                   : record[best_].stamp) + 1;
        best_ = 0;
        GIVE_NAME(new)
    };
    atomic { OR_DIES; index[new].due = false };
died:
    atomic {
        UNLOCK;
        old = 0; new = 0;
        running--
    }
}

proctype ticks() {
    do
    :: clock < CLOCK_MAX -> clock++
    :: break
    od;
    running--
}

init {
    byte id;
    atomic {
        append(id, AHEAD, OLD);
        id = 0;
        returned = BIT(OLD);
        if
        :: indexes = 1; name = 1 /* damaged */
#ifndef DAMAGED
        :: true                  /* lost */
#endif
        fi;
        may_die = DIES;
        running = OPENERS + 1;
        run opener(1);
        run opener(2);
#if OPENERS > 2
        run opener(3);
#endif
        run ticks();
#ifdef REBUILDS
        running++;
        run rebuilder()
#endif
    };
    running == 0;
    d_step {
        newest();
        printf("at the end: record %d is the newest\n", best_);
        assert((overtaken & BIT(record[best_].value)) == 0);
        assert(name == 0 || !index[name].whole || index[name].due || index[name].slot == 0 ||
               (overtaken & BIT(record[index[name].slot].value)) == 0)
    }
}
