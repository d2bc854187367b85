#include "hdf5/api.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "core/spin.h"
#include "log/libraries.h"

enum { LIBRARIES = 8 };

static const struct hdf5_api none;
static struct hdf5_api libraries[LIBRARIES];
static int library_count;
static spin_lock libraries_lock;

/* The only library in the process, valid while the number of loaded objects is `only_as_of`. */
static _Atomic(const struct hdf5_api*) only;
static _Atomic(unsigned long long) only_as_of;

static int first_object(struct dl_phdr_info* object, size_t size, void* data) {
    (void)size;
    *(unsigned long long*)data = object->dlpi_adds;
    return 1;
}

static void fill(struct hdf5_api* api, void* handle, void* base) {
    unsigned version[3] = {0};
    api->base = base;
#define HDF5_FIND(name, result, parameters) api->name = (result(*) parameters)dlsym(handle, "H5" #name);
    HDF5_FUNCTIONS(HDF5_FIND)
#undef HDF5_FIND
    if (api->get_libversion && api->get_libversion(&version[0], &version[1], &version[2]) >= 0)
        libraries_note_hdf5(version);
    api->counted = hdf5_is_counted(version);
}

/* The library that contains this function. */
static const struct hdf5_api* library_of(void* function) {
    Dl_info info;
    if (!dladdr(function, &info)) return NULL;
    for (int i = 0; i < library_count; ++i) {
        if (libraries[i].base == info.dli_fbase) return &libraries[i];
    }
    void* handle = library_count < LIBRARIES ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (!handle) return NULL;
    fill(&libraries[library_count], handle, info.dli_fbase);
    dlclose(handle);
    return &libraries[library_count++];
}

struct search {
    const struct hdf5_api* found;
    int count;
};

static int look_into(struct dl_phdr_info* object, size_t size, void* data) {
    (void)size;
    struct search* search = data;
    const char* slash = strrchr(object->dlpi_name, '/');
    if (strncmp(slash ? slash + 1 : object->dlpi_name, "libhdf5", 7) != 0) return 0;
    void* handle = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    void* function = handle ? dlsym(handle, "H5Fopen") : NULL;
    const struct hdf5_api* api = function ? library_of(function) : NULL;
    if (handle) dlclose(handle);
    if (!api || api == search->found) return 0;
    search->found = api;
    ++search->count;
    return 0;
}

/* The library among the dependencies of the caller. For the program itself, it is the one that is visible
   to all. */
static const struct hdf5_api* linked_with(const void* caller) {
    Dl_info info;
    void* function = NULL;
    if (caller && dladdr(caller, &info)) {
        void* handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        function = handle ? dlsym(handle, "H5Fopen") : NULL;
        if (handle) dlclose(handle);
    }
    if (!function) function = dlsym(RTLD_NEXT, "H5Fopen");
    return function ? library_of(function) : NULL;
}

static const struct hdf5_api* find(const void* caller, unsigned long long now) {
    struct search search = {0};
    dl_iterate_phdr(look_into, &search);
    const struct hdf5_api* api = search.count == 1 ? search.found : linked_with(caller);
    if (search.count == 1) {
        atomic_store(&only, api);
        atomic_store(&only_as_of, now);
    }
    return api ? api : search.found ? search.found : &none;
}

const struct hdf5_api* hdf5_api(const void* caller) {
    unsigned long long now = 0;
    dl_iterate_phdr(first_object, &now);
    const struct hdf5_api* api = atomic_load(&only);
    if (api && atomic_load(&only_as_of) == now) return api;
    atomic_store(&only, NULL);
    spin_acquire(&libraries_lock);
    api = find(caller, now);
    spin_release(&libraries_lock);
    return api;
}
