/* What belongs to a library's handle (an MPI_File, an hid_t). Found without a lock. */
#ifndef WORKALIKE_CAPTURE_HANDLE_TABLE_H
#define WORKALIKE_CAPTURE_HANDLE_TABLE_H

#include <stdatomic.h>
#include <stdint.h>

#include "core/spin.h"

struct handle_slot {
    _Atomic(intptr_t) handle; /* 0 free, -1 given up */
    _Atomic(void*) value;
};

struct handle_slots {
    uint32_t room, used;
    int epoch; /* of the process: a fork's child finds nothing of its parent's */
    struct handle_slot slot[];
};

struct handle_table {
    _Atomic(struct handle_slots*) slots;
    spin_lock lock;
    struct handle_table* next; /* of all tables in use */
};

void* handle_find(struct handle_table* table, intptr_t handle);
void handle_enter(struct handle_table* table, intptr_t handle, void* value);
/* Forgets a handle; gives what belonged to it. */
void* handle_remove(struct handle_table* table, intptr_t handle);

/* In a fork's child: its tables are empty, and no thread of the parent holds their locks. */
void handle_tables_after_fork(void);

#endif
