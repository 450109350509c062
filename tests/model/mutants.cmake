# SPDX-License-Identifier: BSD-3-Clause
# Steps of the ring, the doors, the sleeper, the stores and their readers, each broken in one way.  Left:
# what src has; below it: what it becomes.  A semicolon is written @semicolon@, since it separates the elements of CMake's lists.

# ---- the ring: R0, R1, R2, R3 of the writer, A0 to A3 of the reader ---------------------------------

# R0: the tail announces words that are not visible yet
shmix_mutant(tail-relaxed ring
  ring/ring.c "atomic_store_explicit(&header->tail, end, memory_order_release)"
         "atomic_store_explicit(&header->tail, end, memory_order_relaxed)")
shmix_mutant(tail-before-words ring
  ring/ring.c "    write_record(ring, &record, iov, iov_count)"
         "    atomic_store_explicit(&header->tail, end, memory_order_release)@semicolon@
    write_record(ring, &record, iov, iov_count)")
# A0
shmix_mutant(tail-read-relaxed ring
  ring/ring.c "atomic_load_explicit(&cursor->ring->header->tail, memory_order_acquire)"
         "atomic_load_explicit(&cursor->ring->header->tail, memory_order_relaxed)")
# R1: what is overwritten is given up only afterwards, or with too little room, or never
shmix_mutant(room-after-words ring
  ring/ring.c "    make_room(ring, end)@semicolon@\n" " "
  ring/ring.c "    write_record(ring, &record, iov, iov_count)"
         "    write_record(ring, &record, iov, iov_count)@semicolon@
    make_room(ring, end)")
shmix_mutant(room-too-small ring
  ring/ring.c "want = end + SX_RING_RECORD_MAX - data_bytes"
         "want = end - SX_WORD_BYTES - data_bytes")
shmix_mutant(oldest-relaxed ring
  ring/ring.c "atomic_store_explicit(&ring->header->oldest, oldest, memory_order_release)"
         "atomic_store_explicit(&ring->header->oldest, oldest, memory_order_relaxed)")
# R2: a word that does not bring along that its place was given up
shmix_mutant(words-relaxed ring
  ring/words.h "atomic_store_explicit(out->at, out->partial, memory_order_release)"
          "atomic_store_explicit(out->at, out->partial, memory_order_relaxed)"
  ring/words.h "atomic_store_explicit(&at[i], word, memory_order_release)"
          "atomic_store_explicit(&at[i], word, memory_order_relaxed)")
# A2
shmix_mutant(words-read-relaxed ring
  ring/words.h "atomic_load_explicit(&at[i], memory_order_acquire)"
          "atomic_load_explicit(&at[i], memory_order_relaxed)")
# A1: the question whether the record stayed, asked before the copy, or not at all
shmix_mutant(stayed-asked-first ring
  ring/ring.c "    if (wanted) {\n        sx_words_load_acquire(buf"
         "    const bool stayed = record_stayed(ring, cursor->position)@semicolon@
    if (wanted) {\n        sx_words_load_acquire(buf"
  ring/ring.c "if (!record_stayed(ring, cursor->position))" "if (!stayed)")
shmix_mutant(stayed-not-asked ring
  ring/ring.c "if (!record_stayed(ring, cursor->position))" "if (false)")
# R3: the last record is named before it is there
shmix_mutant(last-relaxed ring
  ring/ring.c "atomic_store_explicit(&header->last, record.position, memory_order_release)"
         "atomic_store_explicit(&header->last, record.position, memory_order_relaxed)")
# the skipped end says nothing
shmix_mutant(no-filler ring
  ring/ring.c "write_filler(ring, tail, room)" "(void)write_filler")
# a loss is counted wrongly: the record before the oldest one was taken for the last one lost
shmix_mutant(loss-too-small ring
  ring/ring.c "*ret_lost = cursor->seq_next - seq_next@semicolon@"
         "*ret_lost = cursor->seq_next - seq_next - 1@semicolon@")

# ---- the doors ----------------------------------------------------------------------------------------

# R0: woken before there is anything to see; announced before it is visible
shmix_mutant(wake-before-change bell
  ring/bell.c "    atomic_store_explicit(word, odd + 1, memory_order_release)@semicolon@
    return wake(word, fan_out ? SX_BELL_FANOUT_FIRST : INT_MAX, mask)@semicolon@"
         "    const unsigned woken = wake(word, fan_out ? SX_BELL_FANOUT_FIRST : INT_MAX, mask)@semicolon@
    atomic_store_explicit(word, odd + 1, memory_order_release)@semicolon@
    return woken@semicolon@")
shmix_mutant(turn-relaxed bell
  ring/bell.c "atomic_store_explicit(word, odd + 1, memory_order_release)"
         "atomic_store_explicit(word, odd + 1, memory_order_relaxed)")
# A0
shmix_mutant(turn-read-relaxed bell
  ring/bell.c "atomic_load_explicit(&door->turn[0], memory_order_acquire)"
         "atomic_load_explicit(&door->turn[0], memory_order_relaxed)"
  ring/bell.c "atomic_load_explicit(&door->turn[1], memory_order_acquire)"
         "atomic_load_explicit(&door->turn[1], memory_order_relaxed)")
# two words of two different times
shmix_mutant(turns-torn bell
  ring/bell.c "if (even - odd <= 1)" "if (true)")
# asleep on the word that the next ring does not change
shmix_mutant(wrong-word bell
  ring/bell.c ".word = &door->turn[even != odd]" ".word = &door->turn[even == odd]")
# the wake is not passed on, or the order to do so comes too late
shmix_mutant(not-passed-on bell
  ring/bell.c "if (now != watch->seen && count != 0)"
         "if (now != watch->seen && count > 9)")
shmix_mutant(pass-on-late bell
  ring/bell.c "atomic_store_explicit(&door->pass_on[turn], fan_out ? SX_BELL_FANOUT_NEXT : 0,
                          memory_order_relaxed)@semicolon@"
         "const uint32_t next = fan_out ? SX_BELL_FANOUT_NEXT : 0@semicolon@"
  ring/bell.c "    return wake(word, fan_out ? SX_BELL_FANOUT_FIRST : INT_MAX, mask)@semicolon@"
         "    const unsigned woken = wake(word, fan_out ? SX_BELL_FANOUT_FIRST : INT_MAX, mask)@semicolon@
    atomic_store_explicit(&door->pass_on[turn], next, memory_order_relaxed)@semicolon@
    return woken@semicolon@")
# how the ring and its doors are used: rung first, published after; looked first, watched after
shmix_mutant(wake-first bell)
target_compile_definitions(model-wake-first PRIVATE MODEL_WAKE_FIRST)
shmix_mutant(watch-late bell)
target_compile_definitions(model-watch-late PRIVATE MODEL_WATCH_LATE)

# ---- the sleeper: who polls, and who writes to it -----------------------------------------------------

# F: either side alone, and when a sleeper changes what it sleeps for
shmix_mutant(sleeper-no-fence sleeper
  base/util.h "atomic_thread_fence(memory_order_seq_cst)" "(void)0")
shmix_mutant(sleeper-no-fence-to-sleep sleeper
  ring/sleeper.c "    sx_barrier()@semicolon@\n    return got == 0" "    return got == 0")
shmix_mutant(sleeper-no-fence-of-classes sleeper
  ring/sleeper.c "memory_order_relaxed)@semicolon@\n        sx_barrier()@semicolon@" "memory_order_relaxed)@semicolon@")
shmix_mutant(sleeper-no-fence-to-ring sleeper
  ring/sleeper.c "    sx_barrier()@semicolon@\n    const uint32_t wanted" "    const uint32_t wanted")
# B0: the byte before the word
shmix_mutant(sleeper-byte-first sleeper
  ring/sleeper.c "    atomic_store_explicit(&slot->wake_rung, wanted, memory_order_release)@semicolon@ /* B0 -> B1 */\n"
            "    if (byte_send(fd)) {
        atomic_store_explicit(&slot->wake_rung, wanted, memory_order_release)@semicolon@
        return true@semicolon@
    }
    return false@semicolon@\n")
# B2: asleep again before the byte has come, or beside it
shmix_mutant(sleeper-byte-not-awaited sleeper
  ring/sleeper.c "if (got < 0)" "if (false)")
shmix_mutant(sleeper-byte-not-taken sleeper
  ring/sleeper.c "got = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT)" "got = (ssize_t)sizeof(bytes) + 0 * fd")
# a refused byte counts as sent
shmix_mutant(sleeper-refusal-is-answer sleeper
  ring/sleeper.c "return sent >= 0 || (errno != ENOBUFS && errno != ENOMEM)" "return true")
shmix_mutant(sleeper-refusal-kept sleeper
  ring/sleeper.c "atomic_store_explicit(&slot->wake_rung, rung, memory_order_release)" "(void)rung")
# how it is used: looked first, asleep after
shmix_mutant(sleeper-looks-late sleeper)
target_compile_definitions(model-sleeper-looks-late PRIVATE MODEL_LOOK_ONCE)

# ---- a store: each part complete before one release store makes it reachable --------------------------

# R-cell: the cell is there before its body, or without saying that the body is
shmix_mutant(cell-relaxed store
  shmem/column.c "atomic_store_explicit(&words->word0, word0, memory_order_release)"
                 "atomic_store_explicit(&words->word0, word0, memory_order_relaxed)")
shmix_mutant(cell-before-body store
  shmem/column.c "        word1 = off + head@semicolon@\n"
                 "        word1 = off + head@semicolon@
        if (fresh) {
            atomic_store_explicit(&words->word1, word1, memory_order_relaxed)@semicolon@
            atomic_store_explicit(&words->word0, word0, memory_order_release)@semicolon@
        }\n")
shmix_mutant(cell-before-offset store
  shmem/column.c "        atomic_store_explicit(&words->word1, word1, memory_order_relaxed)@semicolon@"
                 "        atomic_store_explicit(&words->word0, word0, memory_order_release)@semicolon@
        atomic_store_explicit(&words->word1, word1, memory_order_relaxed)@semicolon@")
shmix_mutant(moved-before-record store
  shmem/column.c "        memcpy(sx_writer_at(writer, off), moved, sizeof(moved))@semicolon@"
                 "        atomic_store_explicit(&words->word0, SX_CELL_MOVED | (off / 8) << 16,
                              memory_order_release)@semicolon@
        memcpy(sx_writer_at(writer, off), moved, sizeof(moved))@semicolon@")
# A-cell
shmix_mutant(cell-read-relaxed store
  shmem/store.c "uint64_t word0 = atomic_load_explicit(&words->word0, memory_order_acquire)"
                "uint64_t word0 = atomic_load_explicit(&words->word0, memory_order_relaxed)"
  shmem/store.c "atomic_load_explicit(&record->single.word0, memory_order_acquire)"
                "atomic_load_explicit(&record->single.word0, memory_order_relaxed)")
# a changed value is written over the old one
shmix_mutant(cell-overwritten store
  shmem/column.c "const bool fresh = sx_load(&words->word0) == 0"
                 "const bool fresh = true")
# R-tag, A-tag
shmix_mutant(store-tag-relaxed store
  shmem/column.c "atomic_store_explicit(&slot->tag, tag, memory_order_release)"
                 "atomic_store_explicit(&slot->tag, tag, memory_order_relaxed)")
shmix_mutant(tag-before-column store
  shmem/column.c "            atomic_store_explicit(&slot->column, column, memory_order_relaxed)@semicolon@"
                 "            atomic_store_explicit(&slot->tag, tag, memory_order_release)@semicolon@
            atomic_store_explicit(&slot->column, column, memory_order_relaxed)@semicolon@")
shmix_mutant(tag-read-relaxed store
  shmem/store.c "atomic_load_explicit(&slot->tag, memory_order_acquire)"
                "atomic_load_explicit(&slot->tag, memory_order_relaxed)")
# R-dir, R-chunk: the offset of what lies beyond the end that the reader knows
shmix_mutant(directory-relaxed store
  shmem/column.c "atomic_store_explicit(&record->directory, off, memory_order_release)"
                 "atomic_store_explicit(&record->directory, off, memory_order_relaxed)")
shmix_mutant(chunk-relaxed store
  shmem/column.c "atomic_store_explicit(entry, off, memory_order_release)"
                 "atomic_store_explicit(entry, off, memory_order_relaxed)")
# R-used: the end is moved when the bytes are in use already
shmix_mutant(end-not-moved store
  shmem/heap.c "    heap->next_off = off + padded@semicolon@"
               "    heap->next_off = off + padded@semicolon@
    if (size > 8) {
        *ret_off = off@semicolon@
        return PMIX_SUCCESS@semicolon@
    }")

# ---- what readers may stand in --------------------------------------------------------------------------

# it is over at once, or one epoch too early
shmix_mutant(grace-not-waited grace
  client/data/epoch.c "end_before(oldest_inside())" "end_before(oldest_inside() | UINT64_MAX)")
shmix_mutant(grace-too-early grace
  client/data/epoch.c "if (retired->epoch < epoch)" "if (retired->epoch <= epoch)")
# no barrier in the readers
shmix_mutant(grace-no-barrier grace
  client/data/epoch.c "(epoch & SX_GRACE_FENCE) != 0 || membarrier_make()"
                 "epoch != 0 || membarrier_make()")
shmix_mutant(grace-no-fence grace
  client/data/epoch.c "    sx_barrier()@semicolon@
}

/* ---- the barrier" "}

/* ---- the barrier")
shmix_mutant(grace-collector-no-fence grace
  client/data/epoch.c "    sx_barrier()@semicolon@
    const uint32_t count" "    const uint32_t count")
# A-epoch: inside since an epoch whose beginning is not seen
shmix_mutant(grace-epoch-relaxed grace
  client/data/epoch.h "atomic_load_explicit(&sx_grace_epoch, memory_order_acquire)"
                 "atomic_load_explicit(&sx_grace_epoch, memory_order_relaxed)")
# who enters twice has left when he leaves once
shmix_mutant(grace-left-too-early grace
  client/data/epoch.h "atomic_store_explicit(&grace->reader->epoch, grace->before, memory_order_release)"
                 "atomic_store_explicit(&grace->reader->epoch, 0, memory_order_release)")
shmix_mutant(grace-entered-anew grace
  client/data/epoch.h "before != 0 ? before : epoch" "epoch")
# how it is used: retired first, and only then something else is shown
shmix_mutant(retire-first grace)
target_compile_definitions(model-retire-first PRIVATE MODEL_RETIRE_FIRST)

# ---- the seqlock: R0, R1 of the writer, A0, A1 of the reader ---------------------------------------

shmix_mutant(seqlock-end-relaxed seqlock
  ring/words.h "atomic_store_explicit(seq, before + 2, memory_order_release)"
            "atomic_store_explicit(seq, before + 2, memory_order_relaxed)")
shmix_mutant(seqlock-begin-relaxed seqlock
  ring/words.h "atomic_load_explicit(seq, memory_order_acquire)"
            "atomic_load_explicit(seq, memory_order_relaxed)")
shmix_mutant(seqlock-words-relaxed seqlock
  ring/words.h "atomic_store_explicit(&at[i], word, memory_order_release)"
          "atomic_store_explicit(&at[i], word, memory_order_relaxed)")
shmix_mutant(seqlock-words-read-relaxed seqlock
  ring/words.h "atomic_load_explicit(&at[i], memory_order_acquire)"
          "atomic_load_explicit(&at[i], memory_order_relaxed)")
# the number is never odd, is not looked at before, or not afterwards
shmix_mutant(seqlock-never-odd seqlock
  ring/words.h "atomic_store_explicit(seq, before + 1, memory_order_relaxed)" "(void)before")
shmix_mutant(seqlock-odd-taken seqlock
  ring/words.h "if (before % 2 != 0)" "if (false)")
shmix_mutant(seqlock-not-asked-again seqlock
  ring/words.h "atomic_load_explicit(seq, memory_order_relaxed) == before@semicolon@\n}\n\n#endif"
            "true@semicolon@\n}\n\n#endif")
