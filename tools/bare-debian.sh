# For the checks that need a Debian on which nothing is installed. It is sourced, as root:
#   make_bare_debian SUITE PACKAGE,PACKAGE   makes one in a folder, $root, that is removed at the end; another
#                                            architecture than this machine's, such as arm64, in $architecture
#   in_bare_debian COMMAND...                runs a command there, with an empty environment
make_bare_debian() {
    command -v debootstrap >/dev/null || { echo "install first: debootstrap" >&2; exit 2; }
    root=$(mktemp -d "${TMPDIR:-/tmp}/bare-$1.XXXXXX")
    chmod 755 "$root"  # also for users other than root
    trap remove_bare_debian EXIT
    trap 'exit 130' INT TERM
    debootstrap ${architecture:+--arch="$architecture"} --variant=minbase --include="$2,ca-certificates" "$1" "$root" >"$root.log" 2>&1 ||
        { tail -5 "$root.log" >&2; exit 1; }
    rm -f "$root.log"
    mount -t proc proc "$root/proc"
    mount -t sysfs sysfs "$root/sys"
    mount --rbind /dev "$root/dev"
    mount --make-rslave "$root/dev"
    # The network is that of this machine: names (MPI waits for its own), certificates, settings of pip and apt.
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
    cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
    for file in /etc/apt/apt.conf.d/*proxy* /etc/pip.conf; do
        if [ -f "$file" ]; then cp "$file" "$root$file"; fi
    done
    if [ -f "$HOME/.config/pip/pip.conf" ] && [ ! -f /etc/pip.conf ]; then cp "$HOME/.config/pip/pip.conf" "$root/etc/pip.conf"; fi
}

remove_bare_debian() {
    for place in dev/shm dev/pts dev proc sys; do umount -l "$root/$place" 2>/dev/null || true; done
    rm -rf --one-file-system "$root"
}

in_bare_debian() {
    chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
        http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" no_proxy="${no_proxy:-}" "$@"
}
