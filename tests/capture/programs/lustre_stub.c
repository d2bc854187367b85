/* A substitute for a Lustre client. Files have the attribute lustre.lov in the layout (v1) that Lustre documents.
   Files whose names begin with one of these words have another attribute:

   v3     a layout of format v3
   short  cut off
   plain  none
   pfl    progressive; of three components, the second has no objects
   dom    the first component is stored with the metadata
   bad    a component that lies outside
   grown  plain for rank 0 and composite for the others, as if they had written after rank 0 closed the file

   With STUB_BLOCK in the environment, file systems have blocks of that many bytes, as those of Lustre have for capture. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/vfs.h>
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

struct __attribute__((packed)) entry {
    uint32_t id, flags;
    uint64_t start, end;
    uint32_t offset, size, generation;
    uint64_t timestamp;
    uint32_t padding;
};

struct __attribute__((packed)) composite {
    uint32_t magic, size, generation;
    uint16_t flags, entries, mirrors, padding[3];
    uint64_t more;
    struct entry entry[3];
};

static ssize_t give_composite(int on_mdt, int bad, unsigned char* value) {
    struct composite all = {.magic = 0x0BD60BD0, .entries = 3};
    size_t used = sizeof all;
    for (uint32_t i = 0; i < 3; ++i) {
        const int bare = on_mdt && i == 0, initialised = i != 1;
        const struct head head = {.magic = 0x0BD10BD0,
                                  .pattern = bare ? 0x100 : 1,
                                  .stripe_size = (i + 1) << 20,
                                  .stripe_count = (uint16_t)(bare ? 0 : i + 1)};
        const size_t objects = initialised && !bare ? i + 1 : 0;
        all.entry[i] = (struct entry){.id = 3u << 16 | (i + 1),
                                      .flags = initialised ? 0x10 : 0,
                                      .start = (uint64_t)i << 30,
                                      .end = i == 2 ? UINT64_MAX : (uint64_t)(i + 1) << 30,
                                      .offset = (uint32_t)(bad ? 100000 : used),
                                      .size = (uint32_t)(sizeof head + objects * sizeof(struct object))};
        memcpy(value + used, &head, sizeof head);
        used += sizeof head;
        for (uint32_t j = 0; j < objects; ++j, used += sizeof(struct object)) {
            const struct object object = {{j, 7}, 1, 100 * i + j};
            memcpy(value + used, &object, sizeof object);
        }
    }
    all.size = (uint32_t)used;
    memcpy(value, &all, sizeof all);
    return (ssize_t)used;
}

int statfs(const char* path, struct statfs* status) {
    const char* block = getenv("STUB_BLOCK");
    const int result = (int)syscall(SYS_statfs, path, status);
    if (result == 0 && block) status->f_bsize = atol(block);
    return result;
}

ssize_t fgetxattr(int fd, const char* name, void* value, size_t room) {
    char link[64], path[4096] = "", data[1024];
    struct head head = {.magic = 0x0BD10BD0, .pattern = 1, .stripe_size = 1 << 20, .stripe_count = 3};
    size_t used = sizeof head;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (readlink(link, path, sizeof path - 1) < 0 || strcmp(name, "lustre.lov") != 0) return -1;
    const char* file = strrchr(path, '/') + 1;
    const int third = strncmp(file, "v3", 2) == 0, cut = strncmp(file, "short", 5) == 0;
    if (strncmp(file, "pfl", 3) == 0) return give_composite(0, 0, value);
    const char* rank = getenv("OMPI_COMM_WORLD_RANK");
    if (strncmp(file, "grown", 5) == 0 && rank && strcmp(rank, "0") != 0) return give_composite(0, 0, value);
    if (strncmp(file, "dom", 3) == 0) return give_composite(1, 0, value);
    if (strncmp(file, "bad", 3) == 0) return give_composite(0, 1, value);
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
