/* Stands in for a Lustre client: files have the attribute lustre.lov in the layout (v1) that Lustre documents; by the
   beginning of their names another one: "v3", "short" (cut off), "pfl" (composite), "plain" (none). */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

struct __attribute__((packed)) object {
    uint64_t id[2];
    uint32_t generation, ost;
};

struct __attribute__((packed)) head {
    uint32_t magic, pattern;
    uint64_t id[2];
    uint32_t stripe_size;
    uint16_t stripe_count, generation;
};

ssize_t fgetxattr(int fd, const char* name, void* value, size_t room) {
    char link[64], path[4096] = "", data[1024];
    struct head head = {.magic = 0x0BD10BD0, .pattern = 1, .stripe_size = 1 << 20, .stripe_count = 3};
    size_t used = sizeof head;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (readlink(link, path, sizeof path - 1) < 0 || strcmp(name, "lustre.lov") != 0) return -1;
    const char* file = strrchr(path, '/') + 1;
    const int third = strncmp(file, "v3", 2) == 0, cut = strncmp(file, "short", 5) == 0;
    if (strncmp(file, "pfl", 3) == 0) head.magic = 0x0BD60BD0;
    if (third) head.magic = 0x0BD30BD0;
    if (strncmp(file, "plain", 5) == 0) {
        errno = ENODATA;
        return -1;
    }
    memcpy(data, &head, sizeof head);
    if (third) {
        memset(data + used, 0, 16);
        strcpy(data + used, "flash");
        used += 16;
    }
    for (uint32_t i = 0; i < 3; ++i, used += sizeof(struct object)) {
        const struct object object = {{i, 7}, 1, 10 + 5 * i};
        memcpy(data + used, &object, sizeof object);
    }
    if (cut) used -= 1;
    if (used > room) return -1;
    memcpy(value, data, used);
    return (ssize_t)used;
}
