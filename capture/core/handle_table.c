#include "core/handle_table.h"

#include <stddef.h>

#include "core/memory.h"

enum { FIRST_ROOM = 256, GONE = -1 };

static _Atomic(int) handle_epoch;
static _Atomic(struct handle_table*) tables;

/* The slots, if they belong to this process. */
static struct handle_slots* slots_of(struct handle_table* table) {
    struct handle_slots* slots = atomic_load_explicit(&table->slots, memory_order_acquire);
    return slots && slots->epoch == atomic_load_explicit(&handle_epoch, memory_order_relaxed) ? slots : NULL;
}

static uint32_t first_place(const struct handle_slots* slots, intptr_t handle) {
    return (uint32_t)(((uint64_t)handle * 0x9e3779b97f4a7c13u) >> 32) & (slots->room - 1);
}

static struct handle_slot* locate(struct handle_slots* slots, intptr_t handle) {
    uint32_t at = first_place(slots, handle);
    for (uint32_t i = 0; i < slots->room; ++i, at = (at + 1) & (slots->room - 1)) {
        const intptr_t stored = atomic_load_explicit(&slots->slot[at].handle, memory_order_acquire);
        if (stored == handle) return &slots->slot[at];
        if (stored == 0) return NULL;
    }
    return NULL;
}

void* handle_find(struct handle_table* table, intptr_t handle) {
    struct handle_slots* slots = slots_of(table);
    struct handle_slot* slot = slots && handle > 0 ? locate(slots, handle) : NULL;
    return slot ? atomic_load_explicit(&slot->value, memory_order_acquire) : NULL;
}

static void put(struct handle_slots* slots, intptr_t handle, void* value) {
    uint32_t at = first_place(slots, handle);
    intptr_t stored;
    while ((stored = atomic_load(&slots->slot[at].handle)) != 0 && stored != GONE)
        at = (at + 1) & (slots->room - 1);
    if (stored == 0) ++slots->used;
    atomic_store(&slots->slot[at].value, value);
    atomic_store_explicit(&slots->slot[at].handle, handle, memory_order_release);
}

/* Readers may still use the old slots, so these are not freed. There are few handles. */
static struct handle_slots* grow(struct handle_table* table, struct handle_slots* old) {
    const uint32_t room = old ? old->room * 2 : FIRST_ROOM;
    struct handle_slots* slots = memory_pages(sizeof *slots + room * sizeof(struct handle_slot));
    if (!slots) return NULL;
    slots->room = room;
    slots->epoch = atomic_load(&handle_epoch);
    for (uint32_t i = 0; old && i < old->room; ++i) {
        const intptr_t handle = atomic_load(&old->slot[i].handle);
        if (handle != 0 && handle != GONE) put(slots, handle, atomic_load(&old->slot[i].value));
    }
    if (!atomic_load(&table->slots)) {
        table->next = atomic_load(&tables);
        while (!atomic_compare_exchange_weak(&tables, &table->next, table)) continue;
    }
    atomic_store_explicit(&table->slots, slots, memory_order_release);
    return slots;
}

void handle_enter(struct handle_table* table, intptr_t handle, void* value) {
    if (handle <= 0) return;
    spin_acquire(&table->lock);
    struct handle_slots* slots = slots_of(table);
    struct handle_slot* known = slots ? locate(slots, handle) : NULL;
    if (known) {
        atomic_store(&known->value, value);
    } else {
        if (!slots || slots->used * 2 >= slots->room) slots = grow(table, slots);
        if (slots) put(slots, handle, value);
    }
    spin_release(&table->lock);
}

void* handle_remove(struct handle_table* table, intptr_t handle) {
    void* value = NULL;
    spin_acquire(&table->lock);
    struct handle_slots* slots = slots_of(table);
    struct handle_slot* slot = slots && handle > 0 ? locate(slots, handle) : NULL;
    if (slot) {
        value = atomic_load(&slot->value);
        atomic_store(&slot->handle, GONE);
    }
    spin_release(&table->lock);
    return value;
}

void handle_tables_after_fork(void) {
    atomic_fetch_add(&handle_epoch, 1);
    for (struct handle_table* table = atomic_load(&tables); table; table = table->next) {
        atomic_store(&table->lock, 0);
    }
}
