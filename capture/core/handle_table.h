/* Data for the handles of a library (an MPI_File, an hid_t). Lookups take no lock. */
#ifndef WORKALIKE_CAPTURE_HANDLE_TABLE_H
#define WORKALIKE_CAPTURE_HANDLE_TABLE_H

#include <stdatomic.h>
#include <stdint.h>

#include "core/spin.h"

struct handle_slot {
    _Atomic(intptr_t) handle; /* 0 free, -1 removed */
    _Atomic(void*) value;
};

struct handle_slots {
    uint32_t room, used;
    int epoch; /* of the process: the child of a fork does not find the parent's handles */
    struct handle_slot slot[];
};

struct handle_table {
    _Atomic(struct handle_slots*) slots;
    spin_lock lock;
    struct handle_table* next; /* links all tables in use */
};

void* handle_find(struct handle_table* table, intptr_t handle);
void handle_enter(struct handle_table* table, intptr_t handle, void* value);
/* Removes a handle and returns its data. */
void* handle_remove(struct handle_table* table, intptr_t handle);

/* In the child of a fork: empties the tables, and releases locks that other threads of the parent held. */
void handle_tables_after_fork(void);

#endif
