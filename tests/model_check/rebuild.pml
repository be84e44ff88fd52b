/* A damaged index is rebuilt beside the old one while others go on: all interleavings.
 * SPDX-License-Identifier: MIT
 *
 * One key with an entry, whose slot the damage may have taken; puts and rebuilders that may be
 * killed at any step, a remove, and a look-up. An index is one slot here (publish.pml shows that
 * its places behave as one) and its words. A step is one system call, one compare-and-swap, or
 * several in whose midst nobody can tell the difference: what was marked stays marked, and nobody
 * else knows a new index until it gets the name. So to find that a slot leads to a dead record and
 * to empty it is one step, and so is each change of a new index before that.
 *
 * The model and the code:
 *   putter      src/store/update.cc, Store::put
 *   remover     src/store/update.cc, Store::remove
 *   ask, wait   in both: Store::is_overtaken
 *   reader      src/store/lookup.cc
 *   rebuilder   src/store/rebuild.cc; `update` is take_newer
 *
 * The claims. A call is overtaken once a call has returned that began after it had returned. A put
 * that is killed counts as returned if it had published in the index with the name while that was
 * not sealed, or had found it so afterwards; else it may take effect at any time or never, and is
 * never overtaken.
 *   1. When all is quiet and no rebuild is due, the index leads to a value whose put was not
 *      overtaken; to none only if there was a remove that was not.
 *   2. A look-up gives no value that was overtaken when it began, by a put or by a remove. It
 *      misses only if there was a remove that was not, or if a rebuild was due in the index with
 *      the name when it began or when it ends.
 *   3. When all is quiet, the same as 1 holds of the index that a rebuild would make of the records
 *      alone.
 *   4. With DECIDED: a put that was killed before a rebuild listed its record is overtaken by that
 *      rebuild, if it came to its end without it.
 *   5. Nobody waits for ever, and nobody begins more often than ATTEMPTS times.
 *
 * The rules that make it so, beside those in store/rebuild.h and store/record.h:
 *   - the old index is sealed before the last look, and loses its name after that. Who changed it
 *     asks for the seal afterwards: if there is none, the last look is still to come;
 *   - the seal is set and taken away under the lock only, and never taken from an index without the
 *     name;
 *   - in the last looks what the old index leads to counts before what the new one has, whatever
 *     their stamps: a put may have given in. A dead record of a remove counts before both;
 *   - what gives way in the new index is looked at again, and a key is looked at with all its
 *     records;
 *   - the lock is for asking that the old index has the name and that a rebuild is still due in it,
 *     and for all that follows;
 *   - a put asks before it marks what it replaced. When the index has lost the name, its record
 *     stays as it is;
 *   - a remove asks whether a rebuild is due before it looks. If so, it writes a dead record in any
 *     case;
 *   - a rebuild that is asked for while another comes to its end stays due.
 *
 * What is not modelled: copies, evicting, a clear (so that a rebuild stays due in the old index), a
 * system start, a put that may replace nothing, a remove that is killed, a call that fails; damage
 * meanwhile only once, with DAMAGE, which goes with no remove. A listing is one step.
 * What is left out for a mutant: see check.sh.
 */

#define RECORDS 9
#define INDEXES 3
#ifndef ATTEMPTS
#define ATTEMPTS 3
#endif

/* By how much the stamps of a new index are greater: more than the old one gives afterwards. */
#define MARGIN 8

/* Whose value a record has; and the calls. */
#define OLD 0
#define FIRST 1
#define SECOND 2
#define REMOVE 3 /* of a record: written dead */
#define BIT(x) (1 << (x))

#define LIVE 1
#define REMOVED 2
#define UNUSED 3
typedef Record {
    byte stamp;
    byte value;
    byte state;
    bool replaced
}

/* Whether a rebuild is due: none is; the one that made the index asked; somebody did since. */
#define NONE 0
#define AT_FIRST 1
#define ANEW 2
typedef Index {
    byte slot; /* a record's number; 0: empty */
    byte due;
    bool sealed;
    byte stamp /* the last one that it gave */
}

Record record[RECORDS + 1];
byte records;
Index index[INDEXES];
byte name; /* the index that has the name */
bool had_name[INDEXES];
bool locked; /* the eviction lock */

/* Ghosts: sets of calls. */
byte begun, returned, overtaken, killed_early;
byte before[4]; /* what had returned when it began */

bool may_be_killed;
byte rebuilders_may_die;
bool first_is_over;
byte running;
byte i_, best_;
bool is_removed_;

#define IS_DEAD(id) (record[id].state != LIVE || record[id].replaced) /* for a slot */
#define COUNTS_AS_DEAD(id) (record[id].state == REMOVED || record[id].replaced)
#define IS_IGNORED(id) (record[id].state == UNUSED)
#define NONE_IS_RIGHT(now) ((begun & BIT(REMOVE)) != 0 && (now & BIT(REMOVE)) == 0)

inline begin(who) {
    begun = begun | BIT(who);
    before[who] = returned
}

inline takes_effect(who) {
    returned = returned | BIT(who);
    overtaken = overtaken | before[who]
}

inline append(id, with_stamp, of_value, in_state) {
    records < RECORDS;
    records++;
    id = records;
    record[id].stamp = with_stamp;
    record[id].value = of_value;
    record[id].state = in_state;
    printf("process %d: record %d: stamp %d, value %d\n", _pid, id, with_stamp, of_value)
}

inline next_stamp(own, stamp) {
    index[own].stamp++;
    stamp = index[own].stamp
}

/* What a slot leads to; empties it if that is dead. */
inline find(own, found) {
    found = index[own].slot;
    if
    :: found != 0 && IS_DEAD(found) -> index[own].slot = 0; found = 0
    :: else
    fi
}

#define OR_IS_KILLED if :: may_be_killed -> may_be_killed = false; goto killed :: true fi

/* Marks what a put replaced. */
#define MARK_REPLACED(found)                                         \
    atomic {                                                         \
        OR_IS_KILLED;                                                \
        if                                                           \
        :: found != 0 -> record[found].replaced = true               \
        :: else                                                      \
        fi                                                           \
    }

/* For a rebuild that is about to give the name away. If it has died, the lock is free. */
#ifdef UNSEAL_WITHOUT_LOCK
#define WAIT_OR_UNSEAL index[own].sealed = index[own].sealed && own != name
#else
#define WAIT_OR_UNSEAL                                \
    own != name || !locked;                           \
    if                                                \
    :: own == name -> index[own].sealed = false       \
    :: else                                           \
    fi
#endif

/* ------------------------------------------------------------------------------------------------
 * Store::put
 */
proctype putter(byte value) {
    byte mine, stamp, own, found, attempts;
    bool is_published, was_refused;
    atomic { begin(value) };
again:
    atomic {
        OR_IS_KILLED;
        assert(attempts < ATTEMPTS);
        attempts++;
        was_refused = false;
        own = name;
        next_stamp(own, stamp)
    };
    atomic { OR_IS_KILLED; append(mine, stamp, value, LIVE) };
look:
    atomic {
        OR_IS_KILLED;
        find(own, found);
        if
        :: found != 0 && record[found].stamp > stamp -> found = 0; goto unused
        :: else
        fi
    };
#ifdef MARK_FIRST
    MARK_REPLACED(found);
#endif
    atomic {
        OR_IS_KILLED;
        if
        :: index[own].slot == found ->
            index[own].slot = mine;
            is_published = is_published || (own == name && !index[own].sealed);
            printf("put %d: index %d -> record %d\n", value, own, mine)
        :: else -> goto look
        fi
    };
#ifdef ASK_LATE
    MARK_REPLACED(found);
#endif
ask:
#ifndef NO_QUESTION_OF_PUT
    atomic {
        OR_IS_KILLED;
        if
        :: own != name ->
#ifdef UNUSED_AT_ONCE
            if
            :: was_refused
            :: else -> record[mine].state = UNUSED
            fi;
#endif
            found = 0;
            goto again
        :: else
        fi
    };
#ifndef SEAL_UNSEEN_BY_PUT
    atomic {
        OR_IS_KILLED;
        if
        :: index[own].sealed -> goto wait
        :: else
        fi;
        is_published = is_published || !was_refused
    };
#endif
#endif
    if
    :: was_refused -> goto again
    :: else
    fi;
#if !defined(ASK_LATE) && !defined(MARK_FIRST)
    MARK_REPLACED(found);
#endif
    atomic {
        printf("put %d: returns\n", value);
        takes_effect(value);
        goto end
    };
wait:
    atomic { OR_IS_KILLED; WAIT_OR_UNSEAL; goto ask };
unused:
    atomic {
        OR_IS_KILLED;
        record[mine].state = UNUSED;
        was_refused = true;
        printf("put %d: record %d is unused\n", value, mine);
        goto ask
    };
killed:
    atomic {
        printf("put %d: killed\n", value);
        if
        :: is_published -> takes_effect(value)
        :: else -> killed_early = killed_early | BIT(value)
        fi
    };
end:
    atomic {
        mine = 0; stamp = 0; own = 0; found = 0; attempts = 0;
        is_published = false; was_refused = false;
        running--
    }
}

/* ------------------------------------------------------------------------------------------------
 * Store::remove
 */
proctype remover() {
    byte mine, stamp, own, found, attempts;
    bool was_due;
    atomic { begin(REMOVE) };
again:
    atomic {
        assert(attempts < ATTEMPTS);
        attempts++;
        own = name;
        was_due = index[own].due != NONE
    };
look:
    atomic {
        find(own, found);
        if
#ifdef NO_DEAD_RECORD
        :: found == 0 -> goto ask
#else
        :: found == 0 && was_due -> goto speak
        :: found == 0 && !was_due -> goto ask
#endif
        :: else
        fi
    };
    atomic { record[found].state = REMOVED; printf("remove: record %d marked\n", found) };
    atomic {
        if
        :: index[own].slot == found ->
            index[own].slot = 0;
            printf("remove: index %d emptied\n", own);
            found = 0;
#ifdef NO_DEAD_RECORD
            goto ask
#else
            if
            :: was_due
            :: else -> goto ask
            fi
#endif
        :: else -> goto look
        fi
    };
speak:
    atomic {
        index[own].due = (index[own].due == NONE -> ANEW : index[own].due);
        next_stamp(own, stamp)
    };
    atomic {
        append(mine, stamp, REMOVE, REMOVED);
        mine = 0;
        stamp = 0
    };
ask:
#ifndef NO_QUESTION_OF_REMOVE
    atomic {
        if
        :: own != name -> goto again
        :: else
        fi
    };
#ifndef SEAL_UNSEEN_BY_REMOVE
    atomic {
        if
        :: index[own].sealed -> goto wait
        :: else
        fi
    };
#endif
#endif
    atomic {
        printf("remove: returns\n");
        takes_effect(REMOVE);
        goto end
    };
wait:
    atomic { WAIT_OR_UNSEAL; goto ask };
end:
    atomic {
        own = 0; found = 0; attempts = 0; was_due = false;
        running--
    }
}

/* ------------------------------------------------------------------------------------------------
 * Store::get, in an index that it has had mapped for a while, or has just opened
 */
proctype reader() {
    byte own, found, then;
    bool was_due;
    atomic {
        then = overtaken;
        was_due = index[name].due != NONE;
        if
        :: own = 0
        :: had_name[1] -> own = 1
        :: had_name[2] -> own = 2
        fi
    };
again:
#ifndef NO_QUESTION_OF_LOOK_UP
    atomic {
        if
        :: index[own].sealed -> own = name
        :: else
        fi
    };
#endif
look:
    atomic { found = index[own].slot };
    atomic {
        if
#ifdef NO_MARKS_READ
        :: found != 0 ->
#else
        :: found != 0 && !IS_DEAD(found) ->
#endif
            printf("look-up: index %d, record %d\n", own, found);
            assert((then & BIT(record[found].value)) == 0)
#ifndef NO_MARKS_READ
        :: found != 0 && IS_DEAD(found) ->
            if
            :: index[own].slot != found -> goto look
            :: else -> index[own].slot = 0; found = 0
            fi
#endif
        :: else
        fi;
        if
#ifndef MISS_UNASKED
        :: found == 0 && index[own].sealed && own != name -> goto again
        :: found == 0 && !(index[own].sealed && own != name) ->
#else
        :: found == 0 ->
#endif
            printf("look-up: index %d, a miss\n", own);
            assert(was_due || index[name].due != NONE || NONE_IS_RIGHT(then))
        :: else
        fi;
        own = 0; found = 0; then = 0; was_due = false;
        running--
    }
}

/* ------------------------------------------------------------------------------------------------
 * Damage that somebody notices at once
 */
proctype damage() {
    atomic {
        index[name].slot = 0;
        index[name].due = ANEW;
        printf("damage: index %d\n", name);
        running--
    }
}

/* ------------------------------------------------------------------------------------------------
 * Rebuild
 */
#define OR_DIES                                                                  \
    if                                                                           \
    :: rebuilders_may_die != 0 -> rebuilders_may_die--; goto died                \
    :: true                                                                      \
    fi
#define IS_LISTED(id) ((listed & BIT(id)) != 0)
#define IS_LISTED_LIVE(id) ((listed_live & BIT(id)) != 0)

#ifdef NO_UNDECIDED
#define NOTE_UNDECIDED is_undecided = false
#else
#define NOTE_UNDECIDED is_undecided = true
#endif

/* list_newer: adds what was appended after record `known`. */
inline list_newer() {
    d_step {
        i_ = known + 1;
        do
        :: i_ > records -> break
        :: i_ <= records && IS_IGNORED(i_) -> i_++
        :: i_ <= records && !IS_IGNORED(i_) ->
            listed = listed | BIT(i_);
            is_undecided = true;
            if
            :: !COUNTS_AS_DEAD(i_) -> listed_live = listed_live | BIT(i_)
            :: else
            fi;
            i_++
        od;
        known = records;
        i_ = 0
    }
}

/* Sets best_ to the newest record that is listed, and is_removed_ to whether a remove wrote one
 * above `choice`. */
inline look_through() {
    best_ = 0;
    is_removed_ = false;
    i_ = 1;
    do
    :: i_ > records -> break
    :: i_ <= records && IS_LISTED(i_) ->
        best_ = (record[i_].stamp > record[best_].stamp -> i_ : best_);
        is_removed_ = is_removed_ ||
                      (record[i_].value == REMOVE && record[i_].stamp > record[choice].stamp);
        i_++
    :: else -> i_++
    od;
    i_ = 0
}

/* Sets choice to the newest of those listed that is live or dead. */
inline newest_that_counts() {
    choice = 0;
    i_ = 1;
    do
    :: i_ > records -> break
    :: i_ <= records && IS_LISTED(i_) && record[i_].stamp > record[choice].stamp &&
       (!IS_LISTED_LIVE(i_) || !IS_IGNORED(i_)) ->
        choice = i_;
        i_++
    :: else -> i_++
    od;
    i_ = 0
}

/* forget_winners */
#define FORGET_WINNERS                                      \
    to_removed = to_removed & ~BIT(index[new].slot);        \
    to_replaced = to_replaced & ~BIT(index[new].slot);      \
    to_unused = to_unused & ~BIT(index[new].slot)

/* Notes how mark_losers is to mark a loser. Of `replaced` and `unused` the first one counts. */
inline note_loser(id) {
    if
    :: record[choice].state == REMOVED -> to_removed = to_removed | BIT(id)
    :: record[choice].state != REMOVED && record[id].stamp < record[choice].stamp ->
        to_replaced = to_replaced | (BIT(id) & ~to_unused)
    :: else -> to_unused = to_unused | (BIT(id) & ~to_replaced)
    fi
}

inline note_losers() {
    i_ = 1;
    do
    :: i_ > records || choice == 0 -> break
    :: i_ <= records && IS_LISTED_LIVE(i_) && i_ != choice -> note_loser(i_); i_++
    :: else -> i_++
    od;
    i_ = 0
}

/* choose: sets choice; is_entry: it is live. Two steps: the slot, and the records. */
inline choose_by_slot() {
    atomic {
        OR_DIES;
        d_step {
            choice = index[old].slot;
            look_through();
            is_entry = choice != 0 && IS_LISTED_LIVE(choice) && !IS_DEAD(choice) && !is_removed_;
            if
            :: (listed_live & (listed_live - 1)) != 0 || (is_entry && choice != best_) ->
                NOTE_UNDECIDED
            :: else
            fi;
            best_ = 0;
            is_removed_ = false
        }
    }
}

inline choose_by_records() {
    if
    :: !is_entry ->
        newest_that_counts();
        is_entry = choice != 0 && IS_LISTED_LIVE(choice) && !IS_DEAD(choice)
    :: else
    fi
}

/* What gives way may be of a put that has not come to its end. */
inline publish_in_new(always) {
    find(new, found);
    if
    :: found == choice
    :: found != choice && found != 0 && !(always) && record[found].stamp > record[choice].stamp
    :: else ->
        index[new].slot = choice;
        printf("rebuilder %d: slot -> record %d\n", new, choice);
        if
        :: found != 0 -> note_loser(found); NOTE_UNDECIDED
        :: else
        fi
    fi;
    found = 0
}

#ifdef DECIDED
#define DECIDE                                                                                  \
    found = index[new].slot;                                                                    \
    overtaken = overtaken | (killed_then & ~(found != 0 -> BIT(record[found].value) : 0));
#else
#define DECIDE
#endif
#ifdef DUE_NOT_COMPARED
#define IS_ASKED_ANEW false
#else
#define IS_ASKED_ANEW (index[new].due == ANEW)
#endif
#define CLEAR_DUE                                                                  \
    atomic {                                                                       \
        OR_DIES;                                                                   \
        index[new].due = (IS_ASKED_ANEW -> ANEW : NONE);                           \
        DECIDE                                                                     \
        printf("rebuilder %d: due %d\n", new, index[new].due)                      \
    }

proctype rebuilder(byte new) {
    byte old, known, choice, found, phase, killed_then;
    short listed, listed_live, to_removed, to_replaced, to_unused;
    bool is_undecided, is_entry, holds_lock, is_whole;
#ifdef ONE_AFTER_THE_OTHER
    new == 1 || first_is_over;
#endif
    atomic {
        OR_DIES;
        old = name;
        if
        :: index[old].due == NONE -> goto end
        :: else
        fi
    };
    atomic { /* begin */
        OR_DIES;
        index[old].due = ANEW;
        index[new].due = AT_FIRST;
        killed_then = killed_early;
        list_newer();
        is_undecided = false
    };
    choose_by_slot();
    atomic { /* settle_key */
        OR_DIES;
        d_step {
            choose_by_records();
            note_losers();
            index[new].slot = (is_entry -> choice : 0);
            choice = 0;
            is_entry = false
        }
    };
#ifndef NO_LOCK
    atomic { OR_DIES; !locked -> locked = true; holds_lock = true };
#endif
    atomic {
        OR_DIES;
        if
        :: name != old -> goto end
        :: name == old && index[old].due == NONE -> goto end
        :: else
        fi
    };
update: /* take_newer; phase 0: before the seal, 1: after it */
    atomic {
        OR_DIES;
        list_newer();
        if
        :: !is_undecided -> goto updated
        :: else
        fi;
        is_undecided = false
    };
    atomic { /* update_key */
        OR_DIES;
        find(old, choice);
        d_step {
            look_through();
            if
            :: choice != 0 && record[best_].stamp > record[choice].stamp -> NOTE_UNDECIDED
            :: else
            fi;
            best_ = 0
        };
        if
        :: choice != 0 && is_removed_ -> is_removed_ = false; goto silence
        :: choice == 0 -> is_removed_ = false; goto no_slot
        :: choice != 0 && !is_removed_ -> is_removed_ = false
        fi
    };
    atomic {
        OR_DIES;
        if
        :: IS_DEAD(choice) -> goto no_slot
        :: else
        fi;
        d_step {
            note_losers();
            publish_in_new(true)
        };
        goto updated
    };
silence: /* the record that says so may be evicted before this one */
    atomic { OR_DIES; record[choice].state = REMOVED };
no_slot:
    choose_by_slot();
    atomic {
        OR_DIES;
        d_step {
            choose_by_records();
            note_losers();
            if
            :: is_entry -> publish_in_new(false)
            :: else
            fi
        };
        if
        :: is_entry || choice == 0 -> goto updated
        :: else
        fi;
        find(new, found); /* take_away */
        if
        :: found == 0 || record[found].stamp > record[choice].stamp -> goto updated
        :: else
        fi
    };
    atomic { OR_DIES; record[found].state = REMOVED; index[new].slot = 0 };
updated:
    atomic {
        choice = 0; found = 0; is_entry = false;
        if
        :: phase == 1 -> goto looked
        :: else -> phase = 1
        fi
    };
#ifndef NO_SEAL
    atomic { OR_DIES; index[old].sealed = true };
#endif
#ifndef NO_LAST_LOOK
    goto update;
#endif
looked:
    atomic {
        OR_DIES;
#ifdef SEAL_LATE
        index[old].sealed = true;
#endif
        index[new].stamp = index[old].stamp + MARGIN;
#ifndef FORGET_LATE
        FORGET_WINNERS; /* nobody else knows the new index yet */
#endif
    };
    atomic {
        OR_DIES;
        name = new;
        had_name[new] = true;
        printf("rebuilder %d: has the name\n", new)
    };
#ifdef DUE_CLEARED_EARLY
    CLEAR_DUE;
#endif
    do /* mark_losers */
    :: atomic {
            OR_DIES;
#ifdef NO_LOSERS
            break;
#endif
            found++;
            if
            :: found > records -> break
            :: else
            fi;
#ifdef FORGET_LATE
            FORGET_WINNERS;
#endif
            if
            :: (to_removed & BIT(found)) != 0 -> record[found].state = REMOVED
            :: (to_removed & BIT(found)) == 0 && (to_replaced & BIT(found)) != 0 ->
                record[found].replaced = true
            :: (to_removed & BIT(found)) == 0 && (to_unused & BIT(found)) != 0 &&
               !IS_DEAD(found) -> is_whole = true
            :: else
            fi
        };
        if
        :: is_whole -> atomic { OR_DIES; record[found].state = UNUSED; is_whole = false }
        :: else
        fi
    od;
    CLEAR_DUE;
    goto end;
died:
    printf("rebuilder %d: dies\n", new);
end:
    atomic {
        if
        :: holds_lock -> locked = false
        :: else
        fi;
        if
        :: new == 1 -> first_is_over = true
        :: else
        fi;
        old = 0; known = 0; choice = 0; found = 0; phase = 0; killed_then = 0;
        listed = 0; listed_live = 0; to_removed = 0; to_replaced = 0; to_unused = 0;
        is_undecided = false; is_entry = false; holds_lock = false; is_whole = false;
        running--
    }
}

#define IS_RIGHT(id) \
    (id == 0 -> NONE_IS_RIGHT(overtaken) : (overtaken & BIT(record[id].value)) == 0)

init {
    byte slot_says, records_say;
    atomic {
        had_name[0] = true;
        index[0].due = ANEW;
        append(i_, 1, OLD, LIVE);
        index[0].stamp = 1;
        returned = BIT(OLD);
        begun = BIT(OLD);
        if
        :: index[0].slot = i_
        :: true /* the damage took it */
        fi;
        i_ = 0;
#ifdef KILL_PUT
        may_be_killed = true;
#endif
#ifdef DIES
        rebuilders_may_die = DIES;
#endif
#ifdef PUT
        running++;
        run putter(FIRST);
#endif
#ifdef TWO_PUTS
        running = running + 2;
        run putter(FIRST);
        run putter(SECOND);
#endif
#ifdef REMOVES
        running++;
        run remover();
#endif
#ifdef READ
        running++;
        run reader();
#endif
#ifdef DAMAGE
        running++;
        run damage();
#endif
        running++;
        run rebuilder(1);
#ifdef TWO_REBUILD
        running++;
        run rebuilder(2);
#endif
    };
    running == 0;
    d_step {
        find(name, slot_says);
        i_ = 1;
        do
        :: i_ > records -> break
        :: i_ <= records && !IS_IGNORED(i_) && record[i_].stamp >= record[records_say].stamp ->
            records_say = i_;
            i_++
        :: else -> i_++
        od;
        if
        :: COUNTS_AS_DEAD(records_say) -> records_say = 0
        :: else
        fi;
        printf("at the end: index %d -> record %d, due %d; the records say %d\n", name, slot_says,
               index[name].due, records_say);
        assert(index[name].due != NONE || IS_RIGHT(slot_says));
        assert(IS_RIGHT(records_say))
    }
}
