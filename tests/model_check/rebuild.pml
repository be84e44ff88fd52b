/* A damaged index is rebuilt beside the old one while others go on: all interleavings.
 * SPDX-License-Identifier: MIT
 *
 * One key with an entry, whose slot the damage may have taken; puts and rebuilders that may be
 * killed at any step, a remove, and a look-up. An index is one slot here (publish.pml shows that
 * its places behave as one) and its words. A step is one system call, one compare-and-swap, or
 * several in whose midst nobody can tell the difference: what was marked stays marked. So to find
 * that a slot leads to a dead record and to empty it is one step.
 *
 * The model and the code:
 *   putter      src/store/update.cc, Store::put
 *   remover     src/store/update.cc, Store::remove
 *   reader      src/store/lookup.cc
 *   rebuilder   src/store/rebuild.cc; `update` is take_newer
 *
 * The claims. A call is overtaken once a call has returned that began after it had returned. A put
 * that is killed counts as returned if it had published in the index with the name; else it may
 * take effect at any time or never, and is never overtaken.
 *   1. When all is quiet and no rebuild is due, the index leads to a value whose put was not
 *      overtaken; to none only if there was a remove that was not.
 *   2. A look-up gives no value that was overtaken when it began, by a put or by a remove. It
 *      misses only if there was a remove that was not, or if a rebuild was due in the index that it
 *      looked in.
 *   3. When all is quiet, the same as 1 holds of the index that a rebuild would make of the records
 *      alone.
 *   4. With DECIDED: a put that was killed before a rebuild listed its record is overtaken by that
 *      rebuild, if it came to its end without it.
 *
 * The rules that make it so, beside those in store/rebuild.h and store/record.h:
 *   - until the last look is done the new index is not `settled`: look-ups miss there, and a
 *     rebuild that replaces it lets the greatest stamp count, not its slots;
 *   - in the last look a dead record counts before an older one that the old index leads to;
 *   - the second pass of the last look only takes away;
 *   - the lock is for asking that the old index has the name and that a rebuild is still due in it,
 *     and for all that follows;
 *   - a put asks for the name before it marks what it replaced. What it finds published may be its
 *     own record. When the index has lost the name, its record stays as it is;
 *   - a remove asks whether a rebuild is due before it looks. If so, it writes a dead record in any
 *     case, and then looks again.
 *
 * What is not modelled: copies, evicting, a clear, a system start, damage meanwhile, a remove that
 * is killed, a call that fails. A listing is one step. What is left out for a mutant: see check.sh.
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
typedef Index {
    byte slot; /* a record's number; 0: empty */
    bool due;
    bool look;    /* ask for its name at each call */
    bool settled; /* the last look is done */
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

/* Marks what a put replaced, unless that is its own record, which a rebuild may have published. */
#ifdef OWN_IS_REPLACED
#define IS_OTHER(found, mine) (found != 0)
#else
#define IS_OTHER(found, mine) (found != 0 && found != mine)
#endif

#define OR_IS_KILLED if :: may_be_killed -> may_be_killed = false; goto killed :: true fi

#define MARK_REPLACED(found, mine)                                   \
    atomic {                                                         \
        OR_IS_KILLED;                                                \
        if                                                           \
        :: IS_OTHER(found, mine) -> record[found].replaced = true    \
        :: else                                                      \
        fi                                                           \
    }

/* ------------------------------------------------------------------------------------------------
 * Store::put
 */
proctype putter(byte value) {
    byte mine, stamp, own, found, attempts;
    bool is_published;
    atomic { begin(value) };
again:
    atomic {
        OR_IS_KILLED;
        attempts < ATTEMPTS -> attempts++;
        mine = 0;
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
    MARK_REPLACED(found, mine);
#endif
    atomic {
        OR_IS_KILLED;
        if
        :: index[own].slot == found ->
            index[own].slot = mine;
            is_published = is_published || own == name;
            printf("put %d: index %d -> record %d\n", value, own, mine)
        :: else -> goto look
        fi
    };
#ifdef ASK_LATE
    MARK_REPLACED(found, mine);
#endif
#ifndef NO_QUESTION_OF_PUT
    atomic {
        OR_IS_KILLED;
        if
        :: own != name ->
            found = 0;
#ifdef UNUSED_AT_ONCE
            goto unused
#else
            goto again
#endif
        :: else
        fi
    };
#endif
#if !defined(ASK_LATE) && !defined(MARK_FIRST)
    MARK_REPLACED(found, mine);
#endif
    atomic {
        printf("put %d: returns\n", value);
        takes_effect(value);
        goto end
    };
unused:
    atomic {
        OR_IS_KILLED;
        record[mine].state = UNUSED;
        printf("put %d: record %d is unused\n", value, mine);
        goto again
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
        mine = 0; stamp = 0; own = 0; found = 0; attempts = 0; is_published = false;
        running--
    }
}

/* ------------------------------------------------------------------------------------------------
 * Store::remove
 */
proctype remover() {
    byte mine, stamp, own, found, attempts;
    bool was_due, spoke, marked;
    atomic { begin(REMOVE) };
again:
    atomic {
        attempts < ATTEMPTS -> attempts++;
        own = name;
        was_due = index[own].due;
        spoke = false;
        marked = false
    };
look:
    atomic {
        find(own, found);
        if
#ifdef DEAD_RECORD_IF_NOTHING
        :: found == 0 && !marked && !spoke && index[own].due -> goto speak
        :: found == 0 && (marked || spoke || !index[own].due) -> goto ask
#else
        :: found == 0 && !spoke && was_due -> goto speak
        :: found == 0 && (spoke || !was_due) -> goto ask
#endif
        :: else
        fi
    };
    atomic { record[found].state = REMOVED; printf("remove: record %d marked\n", found) };
    atomic {
        marked = true;
        if
        :: index[own].slot == found ->
            index[own].slot = 0;
            printf("remove: index %d emptied\n", own);
            found = 0;
#ifdef DEAD_RECORD_IF_NOTHING
            goto ask
#else
            if
            :: was_due && !spoke
            :: else -> goto ask
            fi
#endif
        :: else -> goto look
        fi
    };
speak:
    atomic { next_stamp(own, stamp) };
    atomic {
        append(mine, stamp, REMOVE, REMOVED);
        mine = 0;
        stamp = 0;
        spoke = true;
#ifndef NO_LOOK_AGAIN
        goto look
#endif
    };
ask:
#ifndef NO_QUESTION_OF_REMOVE
    atomic {
        if
        :: own != name -> goto again
        :: else
        fi
    };
#endif
    atomic {
        printf("remove: returns\n");
        takes_effect(REMOVE);
        own = 0; found = 0; attempts = 0; was_due = false; spoke = false; marked = false;
        running--
    }
}

/* ------------------------------------------------------------------------------------------------
 * Store::get, in an index that it has had mapped for a while, or has just opened
 */
proctype reader() {
    byte own, found, then;
    bool due;
    atomic {
        then = overtaken;
        if
        :: own = 0
        :: had_name[1] -> own = 1
        :: had_name[2] -> own = 2
        fi
    };
again:
    atomic {
        if
        :: index[own].look -> own = name
        :: else
        fi
    };
    if /* the one that it has just opened may have lost its name, too */
    :: atomic { index[own].look && own != name -> goto again }
    :: else
    fi;
look:
    atomic {
#ifdef BELIEVE_UNSETTLED
        found = index[own].slot;
#else
        found = (index[own].settled -> index[own].slot : 0);
#endif
        due = index[own].due
    };
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
        :: found == 0 ->
            printf("look-up: index %d, a miss, due %d\n", own, due);
            assert(due || NONE_IS_RIGHT(then))
        :: else
        fi;
        own = 0; found = 0; then = 0; due = false;
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

/* list_newer: adds what was appended after record `known`. Sets newest. */
inline list_newer() {
    d_step {
        i_ = known + 1;
        do
        :: i_ > records -> break
        :: i_ <= records -> listed = listed | BIT(i_); i_++
        od;
        known = records;
        listed_live = 0;
        newest = 0;
        i_ = 1;
        do
        :: i_ > records -> break
        :: i_ <= records && IS_LISTED(i_) && IS_IGNORED(i_) -> listed = listed & ~BIT(i_); i_++
        :: i_ <= records && IS_LISTED(i_) && !IS_IGNORED(i_) ->
            if
            :: !COUNTS_AS_DEAD(i_) -> listed_live = listed_live | BIT(i_)
            :: else
            fi;
            if
            :: record[i_].stamp > record[newest].stamp -> newest = i_
            :: else
            fi;
            i_++
        :: else -> i_++
        od;
        i_ = 0
    }
}

#ifdef NO_UNDECIDED
#define NOTE_UNDECIDED undecided = 0
#else
#define NOTE_UNDECIDED undecided = undecided | listed
#endif

/* Sets best_ to the newest of those listed that is live or dead. */
inline newest_that_counts() {
    best_ = 0;
    i_ = 1;
    do
    :: i_ > records -> break
    :: i_ <= records && IS_LISTED(i_) && record[i_].stamp > record[best_].stamp &&
       (!IS_LISTED_LIVE(i_) || !IS_IGNORED(i_)) ->
        best_ = i_;
        i_++
    :: else -> i_++
    od;
    i_ = 0
}

#ifdef OLD_INDEX_FIRST
#define BELIEVES_SLOT true
#else
#define BELIEVES_SLOT index[old].settled
#endif

/* choose: sets choice; is_entry: it is live. Two steps: the slot, and the records. */
inline choose() {
    atomic {
        OR_DIES;
        choice = index[old].slot;
        is_entry = choice != 0 && IS_LISTED_LIVE(choice) && !IS_DEAD(choice) && BELIEVES_SLOT;
        if
        :: is_entry && choice != newest -> NOTE_UNDECIDED
        :: else
        fi
    };
    atomic {
        OR_DIES;
        if
        :: !is_entry ->
            d_step {
                if
                :: (listed_live & (listed_live - 1)) != 0 -> NOTE_UNDECIDED
                :: else
                fi;
                newest_that_counts();
                choice = best_;
                best_ = 0;
                is_entry = choice != 0 && IS_LISTED_LIVE(choice) && !IS_DEAD(choice)
            }
        :: else
        fi
    }
}

/* note_losers, and how mark_losers will mark them. */
inline note_losers() {
    d_step {
        i_ = 1;
        do
        :: i_ > records || choice == 0 -> break
        :: i_ <= records && IS_LISTED_LIVE(i_) && i_ != choice ->
            if
            :: record[choice].state == REMOVED -> to_removed = to_removed | BIT(i_)
            :: record[choice].state != REMOVED && record[i_].stamp < record[choice].stamp ->
                to_replaced = to_replaced | BIT(i_)
            :: else -> to_unused = to_unused | BIT(i_)
            fi;
            i_++
        :: else -> i_++
        od;
        i_ = 0
    }
}

proctype rebuilder(byte new) {
    byte old, known, newest, choice, found, phase, killed_then, older;
    short listed, listed_live, undecided, to_removed, to_replaced, to_unused;
    bool is_entry, holds_lock;
#ifdef ONE_AFTER_THE_OTHER
    new == 1 || first_is_over;
#endif
    atomic {
        OR_DIES;
        old = name;
        if
        :: !index[old].due -> goto end
        :: else
        fi;
        index[new].due = true;
        killed_then = killed_early;
        list_newer()
    };
    choose();
    atomic { /* settle_key */
        note_losers();
        index[new].slot = (is_entry -> choice : 0);
        listed = 0;
        choice = 0
    };
#ifndef NO_LOCK
    atomic { OR_DIES; !locked -> locked = true; holds_lock = true };
#endif
    atomic {
        OR_DIES;
        if
        :: name != old -> goto end
#ifndef NO_QUESTION_OF_DUE
        :: name == old && !index[old].due -> goto end
#endif
        :: else
        fi
    };
update: /* take_newer; phase 0: before the rename, 1 and 2: after it */
    atomic { OR_DIES; list_newer() };
    atomic { if :: listed == 0 -> goto updated :: else fi };
    atomic {
        OR_DIES;
        find(old, choice);
        if
        :: !BELIEVES_SLOT -> choice = 0
        :: else
        fi;
#ifndef SECOND_PASS_PUBLISHES
        if
        :: phase == 2 -> choice = 0
        :: else
        fi;
#endif
#ifndef DEAD_IS_IGNORED
        if
        :: phase == 2 || (phase == 1 && choice != 0) ->
            d_step {
                older = choice;
                i_ = 1;
                do
                :: i_ > records -> break
                :: i_ <= records && IS_LISTED(i_) && !IS_LISTED_LIVE(i_) &&
                   record[i_].stamp > record[choice].stamp -> choice = i_; i_++
                :: else -> i_++
                od;
                i_ = 0
            };
            if
            :: choice != 0 && IS_LISTED(choice) && !IS_LISTED_LIVE(choice) ->
                is_entry = false;
                if
                :: older != 0 -> goto silence
                :: else -> goto decided
                fi
            :: else
            fi
        :: else
        fi;
#endif
#ifndef SECOND_PASS_PUBLISHES
        if
        :: phase == 2 -> goto updated
        :: else
        fi;
#endif
        if
        :: choice != 0 && record[newest].stamp > record[choice].stamp -> NOTE_UNDECIDED
        :: else
        fi
    };
    if
    :: choice != 0 -> is_entry = true
    :: else -> choose(); note_losers()
    fi;
    goto decided;
silence: /* the dead record may be evicted before the one that it speaks of */
    atomic { OR_DIES; record[older].state = REMOVED; older = 0 };
decided:
    if
    :: choice == 0 -> goto updated
    :: choice != 0 && is_entry ->
        do
        :: atomic {
                OR_DIES;
                find(new, found);
                if
                :: found != 0 && record[found].stamp > record[choice].stamp -> break
                :: else
                fi
            };
            atomic {
                OR_DIES;
                if
                :: index[new].slot == found ->
                    index[new].slot = choice;
                    printf("rebuilder %d: slot -> record %d\n", new, choice);
                    break
                :: else
                fi
            }
        od
    :: else ->
        atomic {
            OR_DIES;
            find(new, found);
            if
            :: found == 0 || record[found].stamp > record[choice].stamp -> goto updated
            :: else
            fi
        };
        atomic { OR_DIES; record[found].state = REMOVED };
        atomic { OR_DIES; if :: index[new].slot == found -> index[new].slot = 0 :: else fi }
    fi;
updated:
    atomic {
        older = 0; listed = 0; listed_live = 0; newest = 0; choice = 0; found = 0;
        is_entry = false;
        if
        :: phase == 2 -> goto looked
        :: phase == 1 ->
#ifdef ONE_PASS
            goto looked
#else
            phase = 2; undecided = 0; goto update
#endif
        :: else
        fi
    };
    atomic {
        OR_DIES;
        index[new].stamp = index[old].stamp + MARGIN
#ifndef NO_LOOK
        ;
        index[old].look = true
#endif
    };
    atomic {
        OR_DIES;
        name = new;
        had_name[new] = true;
        printf("rebuilder %d: has the name\n", new)
    };
#ifdef DUE_CLEARED_EARLY
    index[new].due = false;
#endif
#ifndef NO_LAST_LOOK
    atomic { phase = 1; listed = undecided; undecided = 0; goto update };
#endif
looked:
    atomic { undecided = 0; i_ = 0 };
    do
    :: atomic {
            OR_DIES;
            found++;
            if
            :: found > records -> break
            :: else
            fi;
#ifndef NO_LOSERS
            if
            :: index[new].slot == found
            :: index[new].slot != found ->
                if
                :: (to_removed & BIT(found)) != 0 -> record[found].state = REMOVED
                :: else ->
                    if
                    :: (to_replaced & BIT(found)) != 0 -> record[found].replaced = true
                    :: else ->
                        if
                        :: (to_unused & BIT(found)) != 0 -> record[found].state = UNUSED
                        :: else
                        fi
                    fi
                fi
            :: else
            fi
#endif
        }
    od;
    atomic { OR_DIES; index[new].settled = true };
    atomic {
        OR_DIES;
        index[new].due = false;
#ifdef DECIDED
        found = index[new].slot;
        overtaken = overtaken | (killed_then & ~(found != 0 -> BIT(record[found].value) : 0));
#endif
        printf("rebuilder %d: done\n", new);
        goto end
    };
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
        old = 0; known = 0; newest = 0; choice = 0; found = 0; phase = 0; killed_then = 0;
        older = 0; listed = 0; listed_live = 0; undecided = 0;
        to_removed = 0; to_replaced = 0; to_unused = 0;
        is_entry = false; holds_lock = false;
        running--
    }
}

#define IS_RIGHT(id) \
    (id == 0 -> NONE_IS_RIGHT(overtaken) : (overtaken & BIT(record[id].value)) == 0)

init {
    byte slot_says, records_say;
    atomic {
        had_name[0] = true;
        index[0].due = true;
        index[0].settled = true;
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
        assert(index[name].due || IS_RIGHT(slot_says));
        assert(IS_RIGHT(records_say))
    }
}
