/* What evicting and compressing leave of a key whose older value is still there: all interleavings.
 * SPDX-License-Identifier: MIT
 *
 * One key with an older value, whose record is live, or bears a mark that a system start makes void,
 * and the value that replaced it. That one is removed, evicted and compressed, while a rebuild is due
 * or comes to its end. Then the index is lost, or the system starts anew, and so on, and at last a
 * rebuild has the last word. Each record is in a segment of its own. Everybody may be killed at any
 * step, DIES times in all, and somebody else begins with what is found.
 *
 * rebuild.pml shows that a change is seen by a rebuild that comes to its end meanwhile, or begins
 * again. So here the last look of a rebuild and the new name are one step, without a seal.
 *
 * The model and the code:
 *   evictor     src/store/evictor.cc; leave_removal; relocation.cc
 *   compactor   src/store/compactor.cc
 *   rebuilder   src/store/rebuild.cc
 *   remover     src/store/update.cc, Store::remove
 *   putter      src/store/update.cc, Store::put
 *
 * The claims. A call is overtaken as in rebuild.pml. An entry is evicted once a record says so or
 * its slot is gone.
 *   1. The index with the name leads to no live record whose value was overtaken: whenever an index
 *      gets the name, and when all is quiet.
 *   2. When all is quiet and no rebuild is due, it leads to none only if there was a remove that was
 *      not overtaken, or if a value that was not overtaken was evicted.
 *
 * The rules that make it so:
 *   - who evicts while a rebuild is due, or where there is damage that somebody will meet, leaves a dead
 *     record of what goes, before its slot is emptied, and carries removed records along, those that were
 *     removed after they had been planned, too;
 *   - who compresses carries what was removed in this system start along, counts it once more at
 *     the end, and retires no segment while a rebuild is due;
 *   - a record that is left or carried has the stamp of the one that it is about. Of one stamp the
 *     dead one counts;
 *   - a live record without a slot leaves none when it is evicted, as its put may have been killed;
 *   - a segment that is being evicted stays the victim, until it is gone;
 *   - a remove writes a dead record if a rebuild is due before its look or after that, and of what
 *     was evicted from a segment that is still there;
 *   - a rebuild marks what is older than a removed record for ever, before it takes back that it is
 *     due.
 *
 * What is not modelled: damage to records, what a power loss takes, several records of the key in a
 * segment, calls that fail, the limit for what a segment leaves, limits on entries, a clear, stamps
 * (open.pml), and tentative slots (publish.pml).
 * Without MEND_... the rules are those of the code. MEND_UNNOTED: a remove that finds nothing writes a
 * dead record while there is any victim; MEND_NO_SLOT: a live record without a slot leaves a dead one
 * if no slot leads to another of its key; MEND_NOT_DUE: removed records are carried in any case.
 * The checks "left-..." show what goes wrong without them (check.sh).
 */

#define RECORDS 10
#define INDEXES 6
#ifndef ATTEMPTS
#define ATTEMPTS 4
#endif
#ifndef DIES
#define DIES 0
#endif

/* Whose value a record has; and the calls. */
#define REMOVE 0 /* of a record: it is no entry, and says that older ones were removed */
#define OLDER 1
#define ENTRY 2
#define LATER 3
#define BIT(x) (1 << (x))

#define LIVE 1
#define REMOVED 2
#define UNUSED 3
#define GONE 4 /* its segment was retired */
typedef Record {
    byte stamp;
    byte value;
    byte state;
    byte given_up_in; /* a system start; 0: never */
    bool left;        /* it was given up for another copy, and not for a newer record */
    bool unmoved;
    byte writer /* who has locked its segment */
}

/* Whether a rebuild is due: none is; the one that made the index asked; somebody did since. */
#define NONE 0
#define AT_FIRST 1
#define ANEW 2
typedef Index {
    byte slot; /* a record's number; 0: empty */
    byte due;
    bool after_start;
    bool unseen; /* there is damage that nobody has noticed */
    byte victim
}

Record record[RECORDS + 1];
byte records;
Index index[INDEXES];
byte indexes;
byte name; /* the index that has the name */
bool locked; /* the eviction lock */
bool ghost;
byte boot; /* this system start */
byte last_stamp;

/* Ghosts of the model: sets of calls. */
byte begun, returned, overtaken, dropped, killed;
byte before[4];

byte may_die;
byte running;
byte i_, j_, best_;
bool is_dead_;

#define IS_OF_THIS_START(id) (record[id].given_up_in == boot && record[id].given_up_in != 0)
#define WAS_REPLACED(id) (record[id].state == LIVE && !record[id].left && IS_OF_THIS_START(id))
#define WAS_LEFT(id) (record[id].state == LIVE && record[id].left && IS_OF_THIS_START(id))
/* For a slot, and for a rebuild that lists it. */
#define IS_ENTRY(id) (record[id].state == LIVE && !WAS_REPLACED(id))
#define IS_DEAD(id) (record[id].state == REMOVED || WAS_REPLACED(id))
#define IS_IGNORED(id) (record[id].state == UNUSED || record[id].state == GONE || WAS_LEFT(id))
#define IS_UNMOVED(id) (record[id].state == LIVE && record[id].unmoved && record[id].given_up_in == 0)
#define IS_DUE(own) (index[own].due != NONE)
#define NONE_IS_RIGHT \
    (((begun & BIT(REMOVE)) != 0 && (overtaken & BIT(REMOVE)) == 0) || (dropped & ~overtaken) != 0)

#define OR_DIES                                                                \
    if                                                                         \
    :: may_die != 0 -> may_die--; printf("process %d dies\n", _pid); goto died \
    :: true                                                                    \
    fi

inline begin(who) {
    begun = begun | BIT(who);
    before[who] = returned
}

inline takes_effect(who) {
    returned = returned | BIT(who);
    overtaken = overtaken | before[who];
    before[who] = 0
}

inline check_name() {
    printf("index %d has the name: record %d, due %d\n", name, index[name].slot, index[name].due);
    if
    :: index[name].slot != 0 && IS_ENTRY(index[name].slot) ->
        assert((overtaken & BIT(record[index[name].slot].value)) == 0);
        if
        :: (killed & BIT(record[index[name].slot].value)) != 0 ->
            takes_effect(record[index[name].slot].value)
        :: else
        fi
    :: else
    fi
}

inline append(id, with_stamp, of_value, in_state) {
    assert(records < RECORDS);
    records++;
    id = records;
    record[id].stamp = with_stamp;
    record[id].value = of_value;
    record[id].state = in_state;
    record[id].given_up_in = (in_state == REMOVED -> boot : 0);
    record[id].writer = _pid;
    printf("process %d: record %d: stamp %d, value %d, state %d\n", _pid, id, with_stamp, of_value,
           in_state)
}

/* Marks of what is gone change nothing. */
inline mark_removed(id) {
    if
    :: record[id].state != GONE ->
        record[id].state = REMOVED;
        record[id].left = false;
        record[id].given_up_in = boot;
        printf("process %d: record %d was removed\n", _pid, id)
    :: else
    fi
}

inline mark_given_up(id, for_copy) {
    if
    :: record[id].state != GONE ->
        printf("process %d: record %d was given up\n", _pid, id);
        record[id].given_up_in = boot;
        record[id].left = (record[id].state == LIVE && (for_copy))
    :: else
    fi
}

inline ask_for_rebuild(own) {
    index[own].due = ANEW
}

/* What a slot leads to; empties it if that is dead or gone. */
inline find(own, found) {
    found = index[own].slot;
    if
    :: found != 0 && !IS_ENTRY(found) -> index[own].slot = 0; found = 0
    :: else
    fi
}

/* The kernel releases what a process has locked. */
inline release_all(holds) {
    if
    :: holds -> locked = false; holds = false
    :: else
    fi;
    i_ = 1;
    do
    :: i_ > records -> break
    :: else ->
        record[i_].writer = (record[i_].writer == _pid -> 0 : record[i_].writer);
        i_++
    od;
    i_ = 0;
    running--
}

/* ------------------------------------------------------------------------------------------------
 * Store::put
 */
proctype putter(byte value) {
    byte mine, own, found, attempts;
    bool is_published, holds;
    atomic { begin(value) };
again:
    atomic {
        OR_DIES;
        assert(attempts < ATTEMPTS);
        attempts++;
        own = name;
        last_stamp++;
        append(mine, last_stamp, value, LIVE)
    };
look:
    atomic {
        OR_DIES;
        find(own, found);
        if
        :: found != 0 && record[found].stamp > record[mine].stamp ->
            record[mine].state = UNUSED;
            goto again
        :: else
        fi
    };
    atomic {
        OR_DIES;
        if
        :: index[own].slot == found ->
            index[own].slot = mine;
            is_published = (own == name)
        :: else -> goto look
        fi
    };
    atomic {
        OR_DIES;
        if
        :: own != name -> found = 0; is_published = false; goto again
        :: else
        fi
    };
    atomic {
        OR_DIES;
        if
        :: found != 0 -> mark_given_up(found, false)
        :: else
        fi;
        printf("put: returns\n");
        takes_effect(value);
        goto end
    };
died:
    atomic {
        printf("put: killed\n");
        if
        :: is_published -> takes_effect(value)
        :: else -> killed = killed | BIT(value)
        fi
    };
end:
    atomic {
        mine = 0; own = 0; found = 0; attempts = 0; is_published = false;
        release_all(holds)
    }
}

/* ------------------------------------------------------------------------------------------------
 * Store::remove
 */
#ifdef MEND_UNNOTED
#define MAY_BE_EVICTED true
#else
#define MAY_BE_EVICTED ghost
#endif

proctype remover() {
    byte mine, own, found, attempts;
    bool was_due, was_evicted, removed, holds;
    atomic { begin(REMOVE) };
again:
    atomic {
        OR_DIES;
        assert(attempts < ATTEMPTS);
        attempts++;
        own = name;
        was_evicted = was_evicted || (index[own].victim != 0 && MAY_BE_EVICTED);
        ghost = false;
        was_due = IS_DUE(own) || index[own].unseen
    };
look:
    atomic {
        OR_DIES;
        find(own, found);
        if
        :: found == 0 -> goto looked
        :: else
        fi
    };
    atomic { OR_DIES; mark_removed(found) };
    atomic {
        OR_DIES;
        if
        :: index[own].slot == found ->
            index[own].slot = 0;
            printf("remove: slot %d emptied\n", found);
            found = 0;
            removed = true
        :: else -> goto look
        fi
    };
looked:
    atomic {
        OR_DIES;
#ifdef ASK_DUE_ONCE
        if
        :: was_due -> skip
#else
        if
        :: was_due || IS_DUE(own) ->
#endif
            if
            :: !IS_DUE(own) -> ask_for_rebuild(own)
            :: else
            fi
#ifndef NO_GHOSTS
        :: !was_due && !IS_DUE(own) && !removed &&
           (was_evicted || (index[own].victim != 0 && MAY_BE_EVICTED))
#endif
        :: else -> goto ask
        fi
    };
    atomic { OR_DIES; last_stamp++; append(mine, last_stamp, REMOVE, REMOVED); mine = 0 };
ask:
    atomic {
        OR_DIES;
        if
        :: own != name -> goto again
        :: else
        fi;
        printf("remove: returns\n");
        takes_effect(REMOVE)
    };
died:
    atomic {
        own = 0; found = 0; attempts = 0; was_due = false; was_evicted = false; removed = false;
        release_all(holds)
    }
}

/* ------------------------------------------------------------------------------------------------
 * Evicting
 */
#define MAY_GO(own, id) (record[id].state != GONE && record[id].writer == 0)
#ifdef EVICTS_WHILE_DUE
#define MAY_EVICT(own) IS_DUE(own)
#else
#define MAY_EVICT(own) true
#endif
#ifdef ASKS_DUE_ONLY
#define HIDES_OLDER(own) IS_DUE(own)
#else
#define HIDES_OLDER(own) (IS_DUE(own) || index[own].unseen)
#endif
#ifdef MEND_NOT_DUE
#define CARRIES(own) (record[victim].state == REMOVED || HIDES_OLDER(own))
#else
#define CARRIES(own) HIDES_OLDER(own)
#endif
#define IS_GIVEN_UP(id) (record[id].given_up_in != 0)
#ifdef VOID_MARKS_COUNT
#define SPEAKS(id) (record[id].state == LIVE && !IS_GIVEN_UP(id))
#else
#define SPEAKS(id) (IS_ENTRY(id) && !WAS_LEFT(id))
#endif
#ifdef ALL_ARE_LEFT
#define LEAVES_REMOVAL(id) (record[id].state == REMOVED || IS_ENTRY(id))
#else
#ifdef MEND_NO_SLOT
#define LEAVES_REMOVAL(id) (record[id].state == REMOVED || (IS_ENTRY(id) && index[own].slot == 0))
#else
#define LEAVES_REMOVAL(id) (record[id].state == REMOVED)
#endif
#endif

/* finish_move */
inline finish_move(own, id) {
    if
    :: index[own].slot != 0 && index[own].slot != id && IS_UNMOVED(index[own].slot) &&
       record[index[own].slot].stamp == record[id].stamp ->
        record[index[own].slot].unmoved = false
    :: else
    fi
}

inline note_evicted(id) {
    dropped = dropped | BIT(record[id].value)
}

proctype evictor() {
    byte own, victim, copy;
    bool holds, is_kept, is_said;
    atomic {
        OR_DIES;
        !locked -> locked = true;
        holds = true;
        own = name;
        victim = index[own].victim;
        if
        :: victim == 0 && MAY_EVICT(own) ->
            i_ = 1;
            do
            :: i_ <= records && MAY_GO(own, i_) -> victim = i_; break
            :: i_ <= records -> i_++
            :: i_ > records -> break
            od;
            i_ = 0
        :: else
        fi;
        if
        :: victim == 0 || !MAY_EVICT(own) -> goto died
        :: else
        fi;
        index[own].victim = victim;
        printf("evictor: victim %d, rebuild due %d\n", victim, index[own].due)
    };
    atomic { /* plan_more */
        OR_DIES;
        if
        :: record[victim].state == GONE -> /* drop_all */
            index[own].slot = (index[own].slot == victim -> 0 : index[own].slot);
            goto forget
        :: else
        fi;
        if
        :: index[own].slot == victim
        :: else -> finish_move(own, victim); goto no_slot
        fi
    };
    if
    :: atomic { is_kept = true }
    :: atomic { is_kept = false }
    fi;
    if /* a step of its own, perhaps */
    :: atomic {
            OR_DIES;
            locked = false;
            holds = false
        };
        atomic {
            OR_DIES;
            !locked -> locked = true;
            holds = true;
            if
            :: own != name || index[own].victim != victim || !MAY_EVICT(own) -> goto died
            :: else
            fi
        }
    :: true
    fi;
    if
    :: is_kept
    :: else -> goto drop
    fi;
    atomic {
        OR_DIES;
        if
        :: !IS_ENTRY(victim) -> goto drop
        :: else
        fi;
        append(copy, record[victim].stamp, record[victim].value, LIVE);
        record[copy].unmoved = true
    };
    atomic {
        OR_DIES;
        if
        :: index[own].slot == victim ->
            index[own].slot = copy;
            printf("evictor: slot -> copy %d\n", copy)
        :: else -> goto retire
        fi
    };
    atomic { OR_DIES; record[copy].unmoved = false; goto retire };
no_slot:
    atomic {
        OR_DIES;
#ifdef NONE_CARRIED
        goto retire;
#endif
        if
        :: LEAVES_REMOVAL(victim) && CARRIES(own)
        :: else -> goto retire
        fi
    };
    atomic {
        OR_DIES;
        if
        :: record[victim].state == LIVE && index[own].slot == 0 ->
            takes_effect(record[victim].value);
            note_evicted(victim)
        :: else
        fi;
        append(copy, record[victim].stamp, REMOVE, REMOVED);
        is_said = true;
        goto retire
    };
drop: /* evict */
    atomic {
        OR_DIES;
        if
        :: index[own].slot != victim -> goto retire
        :: else
        fi;
#ifdef NONE_LEFT
        goto noted;
#endif
#ifdef DROP_FIRST
        note_evicted(victim);
        index[own].slot = 0;
#endif
        if
        :: (record[victim].state == REMOVED || SPEAKS(victim)) && CARRIES(own)
        :: else -> goto noted
        fi
    };
    atomic {
        OR_DIES;
#ifdef STAMP_OF_ITS_OWN
        last_stamp++;
        append(copy, last_stamp, REMOVE, REMOVED);
#else
        append(copy, record[victim].stamp, REMOVE, REMOVED);
#endif
        is_said = true;
        note_evicted(victim)
    };
noted:
    atomic { OR_DIES; ghost = true };
    atomic {
        OR_DIES;
        if
        :: index[own].slot == victim ->
            note_evicted(victim);
            index[own].slot = 0;
            printf("evictor: slot emptied\n")
        :: else
        fi
#ifdef VICTIM_FORGOTTEN
        ;
        index[own].victim = 0
#endif
    };
retire:
#if !defined(PLANNED_ONCE) && !defined(NONE_CARRIED)
    atomic {
        OR_DIES;
        if
        :: LEAVES_REMOVAL(victim) && !is_said && CARRIES(own) -> note_evicted(victim)
        :: else -> goto retire_now
        fi
    };
    atomic { OR_DIES; append(copy, record[victim].stamp, REMOVE, REMOVED) };
retire_now:
#endif
    atomic {
        OR_DIES;
        /* Its slot was lost. */
        if
        :: IS_ENTRY(victim) && (index[own].slot == 0 || index[own].after_start) ->
            note_evicted(victim)
        :: else
        fi;
        record[victim].state = GONE;
        printf("evictor: record %d is gone\n", victim)
    };
forget:
    atomic { OR_DIES; index[own].victim = 0 };
died:
    atomic {
        own = 0; victim = 0; copy = 0; is_kept = false; is_said = false;
        release_all(holds)
    }
}

/* ------------------------------------------------------------------------------------------------
 * Compressing
 */
#define IS_REMOVAL(id) (record[id].state == REMOVED && (record[id].given_up_in == 0 || IS_OF_THIS_START(id)))

#define LOCK_UNLESS_GONE                                                                         \
    !locked -> locked = true;                                                                    \
    holds = true;                                                                                \
    if                                                                                           \
    :: own != name || record[segment].state == GONE -> goto died                                 \
    :: else                                                                                      \
    fi
#define UNLOCK locked = false; holds = false

proctype compactor() {
    byte own, segment, copy;
    bool holds, is_kept;
    atomic {
        OR_DIES;
        !locked;
        own = name;
        if
        :: IS_DUE(own) -> goto died
        :: else
        fi;
        i_ = 1;
        do
        :: i_ <= records && MAY_GO(own, i_) && index[own].victim != i_ -> segment = i_; break
        :: i_ <= records -> i_++
        :: i_ > records -> break
        od;
        i_ = 0;
        if
        :: segment == 0 -> goto died
        :: else
        fi;
        record[segment].writer = _pid;
        printf("compactor: segment %d\n", segment)
    };
    atomic { /* copy_all */
        OR_DIES;
        if
        :: index[own].slot != segment -> finish_move(own, segment)
        :: else
        fi;
        if
        :: IS_REMOVAL(segment) -> goto removal
        :: !IS_REMOVAL(segment) && index[own].slot != segment ->
            if
            :: record[segment].state == LIVE && !IS_GIVEN_UP(segment) && index[own].unseen -> goto died
            :: else -> goto count
            fi
        :: !IS_REMOVAL(segment) && index[own].slot == segment && !IS_ENTRY(segment) -> goto count
        :: else
        fi
    };
    atomic {
        OR_DIES;
        LOCK_UNLESS_GONE;
        append(copy, record[segment].stamp, record[segment].value, LIVE);
        record[copy].unmoved = true
    };
    atomic {
        OR_DIES;
        if
        :: index[own].slot == segment ->
            index[own].slot = copy;
            printf("compactor: slot -> copy %d\n", copy)
        :: else -> UNLOCK; goto count
        fi
    };
    atomic { OR_DIES; record[copy].unmoved = false; UNLOCK; goto count };
removal:
    atomic {
        OR_DIES;
        LOCK_UNLESS_GONE;
#ifndef NONE_CARRIED
        append(copy, record[segment].stamp, REMOVE, REMOVED);
#endif
        is_kept = true;
        UNLOCK
    };
count:
    atomic {
        OR_DIES;
#ifndef COUNTED_ONCE
        if
        :: IS_REMOVAL(segment) != is_kept -> goto died
        :: else
        fi
#endif
    };
    atomic { /* finish */
        OR_DIES;
        LOCK_UNLESS_GONE;
#ifndef RETIRED_WHILE_DUE
        if
        :: IS_DUE(own) -> goto died
        :: else
        fi;
#endif
        record[segment].state = GONE;
        printf("compactor: record %d is gone\n", segment)
    };
died:
    atomic {
        own = 0; segment = 0; copy = 0; is_kept = false;
        release_all(holds)
    }
}

/* ------------------------------------------------------------------------------------------------
 * Damage that somebody notices at once, and that nobody notices
 */
proctype damage() {
    atomic {
        index[name].slot = 0;
        ask_for_rebuild(name);
        printf("damage: index %d\n", name);
        running--
    }
}

/* ------------------------------------------------------------------------------------------------
 * Rebuild
 */
#define IS_LISTED(id) ((listed & BIT(id)) != 0)
#define IS_LISTED_LIVE(id) ((listed_live & BIT(id)) != 0)
/* look_at */
#define LOOKS_DEAD(id) (IS_LISTED(id) && (!IS_LISTED_LIVE(id) || IS_DEAD(id)))
#define IS_DROPPED(id) (index[old].victim == id && index[old].slot != id)
#define LOOKS_GONE(id) (!LOOKS_DEAD(id) && (record[id].state == GONE || IS_DROPPED(id)))
#define LOOKS_WHOLE(id) \
    (!LOOKS_DEAD(id) && !LOOKS_GONE(id) && !IS_UNMOVED(id) && record[id].state == LIVE)

/* Adds what was appended after record `known`. */
inline list_newer() {
    i_ = known + 1;
    do
    :: i_ > records -> break
    :: i_ <= records && IS_IGNORED(i_) -> i_++
    :: i_ <= records && !IS_IGNORED(i_) ->
        listed = listed | BIT(i_);
        printf("process %d: lists record %d\n", _pid, i_);
        listed_live = listed_live | (IS_DEAD(i_) -> 0 : BIT(i_));
        listed_removed = listed_removed | (record[i_].state == REMOVED -> BIT(i_) : 0);
        written = written | (record[i_].writer != 0 -> BIT(i_) : 0);
        is_undecided = is_undecided || known != 0 || (IS_UNMOVED(i_) && !IS_DEAD(i_));
        i_++
    od;
    known = records;
    i_ = 0
}

/* note_if_undecided */
#define NOTE_IF_UNDECIDED                                                        \
    is_undecided = is_undecided || ((listed_live & (listed_live - 1)) != 0 &&    \
                                    (listed_live & written) != 0)

/* was_removed_after: sets is_dead_. */
inline ask_whether_removed_after(id) {
    is_dead_ = false;
    i_ = 1;
    do
    :: i_ > known -> break
    :: else ->
        is_dead_ = is_dead_ || (IS_LISTED(i_) && record[i_].value == REMOVE &&
                                record[i_].stamp > record[id].stamp);
        i_++
    od;
    i_ = 0
}

/* choose: sets choice, and is_entry: it is live. First the slot. */
inline choose_by_slot() {
    NOTE_IF_UNDECIDED;
    choice = index[old].slot;
    is_entry = false;
    if
    :: choice != 0 && !newest_first && IS_LISTED_LIVE(choice) && LOOKS_WHOLE(choice) ->
        ask_whether_removed_after(choice);
        is_entry = !is_dead_;
        is_dead_ = false
    :: else
    fi
}

#ifdef LIVE_COPY_COUNTS
#define COMES_FIRST(id, other) IS_LISTED_LIVE(id)
#else
#define COMES_FIRST(id, other) IS_LISTED_LIVE(other)
#endif

/* Sets best_ to the first one of `left_`: the newest, of one stamp a dead one. */
inline find_newest(left_) {
    best_ = 0;
    i_ = 1;
    do
    :: i_ > known -> break
    :: else ->
        if
        :: (left_ & BIT(i_)) != 0 &&
           (best_ == 0 || record[i_].stamp > record[best_].stamp ||
            (record[i_].stamp == record[best_].stamp && COMES_FIRST(i_, best_))) ->
            best_ = i_
        :: else
        fi;
        i_++
    od;
    i_ = 0
}

/* Then the records. */
inline choose_by_records() {
    if
    :: is_entry
    :: else ->
        choice = 0;
        rest = listed;
        do
        :: find_newest(rest);
            if
            :: best_ == 0 || record[best_].stamp < floor -> break
            :: else
            fi;
            if
            :: LOOKS_DEAD(best_) -> choice = best_; break
            :: LOOKS_WHOLE(best_) ->
                choice = best_;
                is_entry = true;
#ifndef LIVE_COPY_COUNTS
                j_ = 1;
                do
                :: j_ > known -> break
                :: else ->
                    if
                    :: j_ != best_ && record[j_].stamp == record[best_].stamp && LOOKS_DEAD(j_) ->
                        choice = j_;
                        is_entry = false
                    :: else
                    fi;
                    j_++
                od;
                j_ = 0;
#endif
                break
            :: LOOKS_GONE(best_) ->
                floor = record[best_].stamp;
                if
                :: index[old].slot == 0 -> note_evicted(best_)
                :: else
                fi
            :: else
            fi;
            rest = rest & ~BIT(best_)
        od;
        best_ = 0;
        rest = 0;
        floor = 0
    fi
}

#define IS_REMOVED_WINNER(id) \
    (record[id].state == REMOVED || (record[id].state == GONE && (listed_removed & BIT(id)) != 0))

/* How mark_losers is to mark a loser. `replaced` and `left` are the same bytes. */
inline note_loser(id, winner) {
    if
    :: !is_entry && IS_REMOVED_WINNER(winner) -> to_removed = to_removed | BIT(id)
    :: !(!is_entry && IS_REMOVED_WINNER(winner)) ->
        if
        :: record[id].stamp < record[winner].stamp ->
            to_replaced = to_replaced | BIT(id);
            to_left = to_left & ~BIT(id)
        :: record[id].stamp == record[winner].stamp ->
            to_left = to_left | BIT(id);
            to_replaced = to_replaced & ~BIT(id)
        :: else -> to_unused = to_unused | BIT(id)
        fi
    fi
}

inline note_losers() {
    i_ = 1;
    do
    :: i_ > known || choice == 0 -> break
    :: i_ <= known && IS_LISTED_LIVE(i_) && i_ != choice -> note_loser(i_, choice); i_++
    :: else -> i_++
    od;
    i_ = 0
}

inline publish_in_new(always) {
    find(new, found);
    if
    :: found == choice
    :: found != choice && found != 0 && !(always) && record[found].stamp > record[choice].stamp
    :: else ->
        index[new].slot = choice;
        if
        :: found != 0 -> note_loser(found, choice); is_undecided = true
        :: else
        fi
    fi;
    found = 0
}

/* update_key */
inline update_key() {
    find(old, choice);
    find_newest(listed);
    is_entry = choice != 0 && (!newest_first || record[choice].stamp >= record[best_].stamp);
    best_ = 0;
    ask_whether_removed_after(choice);
    if
    :: choice != 0 && is_dead_ -> mark_removed(choice); is_entry = false
    :: else
    fi;
    is_dead_ = false;
    if
    :: is_entry ->
        NOTE_IF_UNDECIDED;
        record[choice].unmoved = false;
        note_losers();
        publish_in_new(!newest_first)
    :: else ->
        choose_by_slot();
        choose_by_records();
        note_losers();
        if
        :: is_entry -> publish_in_new(false)
        :: !is_entry && choice != 0 -> /* take_away */
            find(new, found);
            if
            :: found != 0 && record[found].stamp <= record[choice].stamp ->
                mark_removed(found);
                index[new].slot = 0
            :: else
            fi;
            found = 0
        :: else
        fi
    fi;
    choice = 0;
    is_entry = false
}

inline take_newer() {
    list_newer();
    if
    :: is_undecided -> is_undecided = false; update_key()
    :: else
    fi
}

/* forget_winners */
inline forget_winners() {
    to_removed = to_removed & ~BIT(index[new].slot);
    to_replaced = to_replaced & ~BIT(index[new].slot);
    to_unused = to_unused & ~BIT(index[new].slot);
    to_left = to_left & ~BIT(index[new].slot);
    i_ = 1;
    do
    :: i_ > known -> break
    :: else ->
        to_left = to_left & ~(record[i_].stamp != record[index[new].slot].stamp -> BIT(i_) : 0);
        i_++
    od;
    i_ = 0
}

#define CLEAR_DUE                                                              \
    atomic {                                                                   \
        OR_DIES;                                                               \
        index[new].due = (index[new].due == AT_FIRST -> NONE : ANEW);          \
        printf("rebuilder %d: due %d\n", new, index[new].due)                  \
    }

proctype rebuilder() {
    byte old, new, known, choice, found, floor;
    short listed, listed_live, listed_removed, written, rest;
    short to_removed, to_replaced, to_unused, to_left;
    bool newest_first, is_undecided, is_entry, holds;
    atomic { /* begin, list_all */
        OR_DIES;
        old = name;
        if
        :: !IS_DUE(old) -> goto died
        :: else
        fi;
        ask_for_rebuild(old);
        newest_first = index[old].after_start;
        indexes++;
        assert(indexes < INDEXES);
        new = indexes;
        index[new].due = AT_FIRST;
        list_newer()
    };
    atomic { OR_DIES; d_step { choose_by_slot() } };
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
    atomic {
        OR_DIES;
        !locked -> locked = true;
        holds = true;
        if
        :: name != old || !IS_DUE(old) -> goto died
        :: else
        fi
    };
    atomic {
        OR_DIES;
        d_step {
            take_newer();
            index[new].slot = (record[index[new].slot].state == GONE -> 0 : index[new].slot)
        }
    };
    atomic {
        OR_DIES;
        if
        :: name != old -> goto died /* somebody has deleted it */
        :: else
        fi;
        d_step {
            take_newer();
            forget_winners();
            index[new].victim = index[old].victim;
            name = new;
            check_name()
        }
    };
#ifdef DUE_CLEARED_EARLY
    CLEAR_DUE;
#endif
    found = 0;
    do /* mark_losers */
    :: atomic {
            OR_DIES;
            found++;
            do
            :: found > known -> break
            :: found <= known &&
               ((to_removed | to_replaced | to_left | to_unused) & BIT(found)) != 0 -> break
            :: else -> found++
            od;
            if
            :: found > known -> break
            :: else
            fi;
            if
            :: (to_removed & BIT(found)) != 0 -> mark_removed(found)
            :: (to_removed & BIT(found)) == 0 && (to_replaced & BIT(found)) != 0 ->
                mark_given_up(found, false)
            :: (to_removed & BIT(found)) == 0 && (to_left & BIT(found)) != 0 ->
                mark_given_up(found, true)
            :: else -> record[found].state = (IS_ENTRY(found) -> UNUSED : record[found].state)
            fi
        }
    od;
    CLEAR_DUE;
died:
    atomic {
        old = 0; new = 0; known = 0; choice = 0; found = 0;
        listed = 0; listed_live = 0; listed_removed = 0; written = 0;
        to_removed = 0; to_replaced = 0; to_unused = 0; to_left = 0;
        newest_first = false; is_undecided = false; is_entry = false;
        release_all(holds)
    }
}

/* ------------------------------------------------------------------------------------------------
 * What happens between
 */

/* Another index without a slot takes the place. */
inline lose_index() {
    indexes++;
    assert(indexes < INDEXES);
    name = indexes;
    printf("the index is lost\n");
    ask_for_rebuild(name)
}

inline start_system() {
    boot++;
    index[name].after_start = true;
    ask_for_rebuild(name);
    printf("system start %d\n", boot)
}

/* All is quiet: nobody has an old index open. */
inline forget_old_indexes() {
    d_step {
        i_ = 0;
        do
        :: i_ > indexes -> break
        :: else ->
            if
            :: i_ != name ->
                index[i_].slot = 0;
                index[i_].due = NONE;
                index[i_].after_start = false;
                index[i_].unseen = false;
                index[i_].victim = 0
            :: else
            fi;
            i_++
        od;
        if
        :: name != 0 ->
            index[0].slot = index[name].slot;
            index[0].due = index[name].due;
            index[0].after_start = index[name].after_start;
            index[0].unseen = index[name].unseen;
            index[0].victim = index[name].victim;
            index[name].slot = 0;
            index[name].due = NONE;
            index[name].after_start = false;
            index[name].unseen = false;
            index[name].victim = 0;
            name = 0
        :: else
        fi;
        indexes = 0;
        i_ = 0
    }
}

#define PUBLISHED_BEFORE(value) returned = returned | BIT(value); begun = begun | BIT(value)
#define RUN(who) running++; run who()

init {
    byte id, round;
    atomic {
        boot = 2;
        last_stamp = 2;
        append(id, 1, OLDER, LIVE);
        append(id, 2, ENTRY, LIVE);
        record[1].writer = 0;
        record[2].writer = 0;
        id = 0;
        PUBLISHED_BEFORE(OLDER);
#ifdef PUT_KILLED
        /* It did not come to publish its record. */
        index[0].slot = 1;
        begun = begun | BIT(ENTRY);
        killed = BIT(ENTRY);
        before[ENTRY] = BIT(OLDER);
        if
        :: ask_for_rebuild(0)
        :: true
        fi;
#else
        PUBLISHED_BEFORE(ENTRY);
        overtaken = BIT(OLDER);
        index[0].slot = 2;
        if
        :: record[1].given_up_in = 1; /* the system has started anew since */
            index[0].after_start = true;
            ask_for_rebuild(0)
        :: ask_for_rebuild(0) /* its slot was lost when the other one was stored */
        :: record[1].given_up_in = boot
        :: record[1].given_up_in = boot; /* the index was lost later */
            index[0].slot = 0;
            ask_for_rebuild(0)
#ifdef UNSEEN
        :: index[0].unseen = true
#endif
#ifdef VOID_MARK
        :: record[1].given_up_in = 1; /* for a third one, which a power loss has taken */
            record[2].given_up_in = 1;
            index[0].after_start = true;
            ask_for_rebuild(0)
#endif
        fi;
#endif
        may_die = DIES;
        printf("slot -> record %d, due %d; the older one was given up in %d\n", index[0].slot,
               index[0].due, record[1].given_up_in)
    };
    do
    :: atomic {
            round++;
            if
            :: round == ROUNDS -> may_die = 0
            :: else
            fi;
#ifdef EVICTS
            if
            :: round != ROUNDS && round >= EVICTS -> RUN(evictor)
            :: else
            fi;
#endif
#ifdef COMPRESSES
            if
            :: round != ROUNDS -> RUN(compactor)
            :: else
            fi;
#endif
#ifdef REMOVES
            if
            :: round == 1 -> RUN(remover)
            :: true
            fi;
#endif
#ifdef PUTS
            if
            :: round == 1 -> running++; run putter(LATER)
            :: else
            fi;
#endif
#ifdef DAMAGE
            if
            :: round == 1 -> RUN(damage)
            :: else
            fi;
#endif
            RUN(rebuilder)
        };
        atomic {
            running == 0;
            check_name();
            forget_old_indexes();
            if
            :: round == ROUNDS -> break
            :: else
            fi;
            if
            :: index[name].unseen -> ask_for_rebuild(name); index[name].unseen = false
            :: else
            fi;
            if
#ifdef LOST_WHEN_WHOLE
            :: !IS_DUE(name) -> lose_index()
            :: IS_DUE(name)
#else
            :: lose_index()
#endif
#ifdef STARTS
            :: start_system()
#endif
            fi
        }
    od;
    true;
    d_step {
        find(name, id);
        printf("at the end: record %d, due %d\n", id, index[name].due);
        assert(index[name].due != NONE || id != 0 || NONE_IS_RIGHT)
    }
}
