#include "core/loaded.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

struct search {
    const char *stem, *symbol;
    void* found;
};

static int look_into(struct dl_phdr_info* library, size_t size, void* data) {
    (void)size;
    struct search* search = data;
    const char* slash = strrchr(library->dlpi_name, '/');
    const char* file = slash ? slash + 1 : library->dlpi_name;
    if (strncmp(file, search->stem, strlen(search->stem)) != 0) return 0;
    void* handle = dlopen(library->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) return 0;
    search->found = dlsym(handle, search->symbol);
    dlclose(handle); /* the application's own reference remains */
    return search->found != NULL;
}

static void* search_private(const char* stem, const char* symbol) {
    struct search search = {stem, symbol, NULL};
    dl_iterate_phdr(look_into, &search);
    return search.found;
}

void* loaded_symbol(const char* stem, const char* symbol) {
    void* found = dlsym(RTLD_NEXT, symbol);
    return found ? found : search_private(stem, symbol);
}

void* loaded_variable(const char* stem, const char* symbol) {
    void* found = dlsym(RTLD_DEFAULT, symbol);
    return found ? found : search_private(stem, symbol);
}
