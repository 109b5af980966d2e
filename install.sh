#!/bin/sh
# Installs Gateway from the files beside this script, with no network; run it again to upgrade. "./install.sh --help" tells more.
set -eu

usage() {
  cat <<'TEXT'
usage: ./install.sh [options]

Installs the executable that lies beside this script (gateway, gateway-linux-x64 or gateway-linux-arm64, also in dist/), after
checking it against the SHA256SUMS beside it. In a clone without one it runs "npm run build" first. Where systemd runs, it also
sets up and starts the service "gateway". Running it again changes only what differs.

  --prefix DIR     where bin/gateway goes (default /usr/local)
  --data-dir DIR   the data directory, made with mode 0700 (default /var/lib/gateway)
  --no-service     no user and no systemd service
  --uninstall      stop and remove the service and the executable; the data stays
  --purge          with --uninstall: remove the data directory and the user, too
  --help           show this
TEXT
}

say() { printf '%s\n' "$*"; }
die() { say "install.sh: $*" >&2; exit 1; }
misuse() { say "install.sh: $*" >&2; usage >&2; exit 2; }

UNIT=/etc/systemd/system/gateway.service
DEFAULT_DATA_DIR=/var/lib/gateway
prefix=/usr/local
data_dir=
service=yes
action=install
purge=no

while [ $# -gt 0 ]; do
  case $1 in
    --prefix | --data-dir)
      [ $# -ge 2 ] && [ -n "$2" ] || misuse "$1 needs a directory"
      if [ "$1" = --prefix ]; then prefix=$2; else data_dir=$2; fi
      shift ;;
    --prefix=?*) prefix=${1#*=} ;;
    --data-dir=?*) data_dir=${1#*=} ;;
    --no-service) service=no ;;
    --uninstall) action=uninstall ;;
    --purge) purge=yes ;;
    --help | -h) usage; exit 0 ;;
    *) misuse "unknown option: $1" ;;
  esac
  shift
done
[ "$purge" = no ] || [ "$action" = uninstall ] || misuse '--purge goes with --uninstall'

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
# Paths go into a unit file, where spaces, quotes, % and $ mean something else.
plain_path() {
  case $2 in
    *[!A-Za-z0-9_./@+-]*) misuse "$1 $2: only letters, digits and _ . / @ + - can stand in this path" ;;
    /) misuse "$1 /: name a directory of its own" ;;
    /*) printf '%s\n' "${2%/}" ;;
    *) printf '%s/%s\n' "$(pwd)" "${2%/}" ;;
  esac
}
prefix=$(plain_path --prefix "$prefix") || exit 2
[ -z "$data_dir" ] || data_dir=$(plain_path --data-dir "$data_dir") || exit 2
target=$prefix/bin/gateway

is_root() { [ "$(id -u)" -eq 0 ]; }
systemd_runs() { [ -d /run/systemd/system ] && command -v systemctl >/dev/null 2>&1; }

# The data directory of the service as it is installed now; nothing when there is none.
served_data_dir() { [ ! -f "$UNIT" ] || sed -n 's/^ExecStart=.* --data-dir \([^ ]*\)$/\1/p' "$UNIT"; }

find_binary() {
  for folder in "$here" "$here/dist"; do
    for name in "gateway-linux-$arch" gateway; do
      if [ -f "$folder/$name" ]; then printf '%s\n' "$folder/$name"; return; fi
    done
  done
}

sha256_of() {
  if command -v sha256sum >/dev/null 2>&1; then sha256sum -- "$1" | cut -d ' ' -f 1
  elif command -v openssl >/dev/null 2>&1; then openssl dgst -sha256 -r -- "$1" | cut -d ' ' -f 1
  else die 'neither sha256sum nor openssl is there to check the executable with'
  fi
}

verify() {
  sums=$(dirname -- "$1")/SHA256SUMS
  name=$(basename -- "$1")
  [ -f "$sums" ] || die "$sums is missing, so $name cannot be checked; nothing was installed"
  wanted=$(awk -v name="$name" '$2 == name || $2 == "*" name {print $1; exit}' "$sums")
  [ -n "$wanted" ] || die "$sums does not name $name; nothing was installed"
  found=$(sha256_of "$1")
  [ "$found" = "$wanted" ] || die "$name has the SHA-256 $found, but $sums says $wanted; nothing was installed"
}

# Tells commands of other users where the data of this machine's gateway is, and whose it is; no secrets.
CLIENT_FILE=${GATEWAY_CLIENT_FILE:-/etc/gateway/client.yaml}
write_client() {
  # a trial in a folder of somebody's own is not the gateway of this machine
  [ -n "${GATEWAY_CLIENT_FILE:-}" ] || { is_root && { [ "$service" = yes ] && systemd_runs || [ "$prefix" = /usr/local ]; }; } || return 0
  client_new=$(mktemp)
  printf '# Written by install.sh: where the gateway of this machine is.\ndata_dir: %s\n' "$data_dir" >"$client_new"
  [ -z "$1" ] || printf 'user: %s\n' "$1" >>"$client_new"
  printf 'url: http://127.0.0.1:8787\n' >>"$client_new"
  cmp -s "$client_new" "$CLIENT_FILE" || { place "$client_new" "$CLIENT_FILE" 0644; say "wrote $CLIENT_FILE"; }
  rm -f -- "$client_new"
}

# Puts a file in place in one step, so that a running gateway keeps its own and nobody sees half a file.
place() {
  mkdir -p -- "$(dirname -- "$2")"
  cp -- "$1" "$2.new.$$" && chmod "$3" "$2.new.$$" && mv -f -- "$2.new.$$" "$2" || { rm -f -- "$2.new.$$"; die "$2 cannot be written"; }
}

write_unit() {
  # The default directory is systemd's to make; any other has to be opened up in a read-only file system.
  if [ "$data_dir" = "$DEFAULT_DATA_DIR" ]; then place_of_data='StateDirectory=gateway
StateDirectoryMode=0700'
  else place_of_data="ReadWritePaths=$data_dir"
  fi
  case $data_dir/ in /home/* | /root/* | /run/user/*) protect_home=no ;; *) protect_home=yes ;; esac
  cat <<UNIT_FILE
# Written by install.sh, which writes it anew when run again. Put changes of your own into "systemctl edit gateway".
[Unit]
Description=Gateway, a self-hosted AI gateway
After=network-online.target
Wants=network-online.target

[Service]
Type=notify
# The word that it is ready comes from systemd-notify, a child of the gateway.
NotifyAccess=all
ExecStart=$target serve --data-dir $data_dir
ExecReload=/bin/kill -HUP \$MAINPID
# Settings and secrets, NAME=value a line; the file may be absent.
EnvironmentFile=-/etc/gateway/gateway.env
User=gateway
Group=gateway
$place_of_data
WorkingDirectory=$data_dir
UMask=0077
LimitNOFILE=65536
Restart=on-failure
RestartSec=2
TimeoutStartSec=300
# Longer than the 30 s in which open streams may end.
TimeoutStopSec=60
KillMode=mixed

NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=$protect_home
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
RemoveIPC=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
CapabilityBoundingSet=
SystemCallArchitectures=native
SystemCallFilter=@system-service
# No MemoryDenyWriteExecute: V8 compiles while it runs.

[Install]
WantedBy=multi-user.target
UNIT_FILE
}

make_user() {
  id gateway >/dev/null 2>&1 && return
  if command -v useradd >/dev/null 2>&1; then
    useradd --system --user-group --no-create-home --home-dir "$data_dir" --shell /usr/sbin/nologin gateway
  else die 'useradd is missing, so the user "gateway" cannot be made; make it yourself, or use --no-service'
  fi
  say 'made the user "gateway"'
}

install_service() {
  make_user
  chown gateway:gateway "$data_dir"
  write_client gateway
  unit_new=$(mktemp)
  write_unit >"$unit_new"
  if cmp -s "$unit_new" "$UNIT"; then say "unchanged: $UNIT"
  else
    place "$unit_new" "$UNIT" 0644
    systemctl daemon-reload
    changed=yes
    say "wrote $UNIT"
  fi
  rm -f -- "$unit_new"
  systemctl enable --quiet gateway.service
  if [ "$changed" = yes ] && systemctl --quiet is-active gateway.service; then
    systemctl restart gateway.service || die 'the service did not restart: "journalctl -u gateway" says why'
    say 'restarted the service'
  else
    systemctl start gateway.service || die 'the service did not start: "journalctl -u gateway" says why'
    say 'the service runs: systemctl status gateway'
  fi
  say "On the first start the keys are written to $data_dir/first-run.txt."
  say "Commands on its data run as its user: sudo -u gateway $target keys list --data-dir $data_dir"
}

install_all() {
  [ "$(uname -s)" = Linux ] || die 'the executable is for Linux; elsewhere run it from the sources with "npm start"'
  case $(uname -m) in
    x86_64 | amd64) arch=x64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) die "there is no executable for $(uname -m); expected x86_64 or aarch64" ;;
  esac
  data_dir=${data_dir:-$(served_data_dir)}
  data_dir=${data_dir:-$DEFAULT_DATA_DIR}
  source=$(find_binary)
  if [ -z "$source" ]; then
    { [ -f "$here/package.json" ] && command -v npm >/dev/null 2>&1; } || die "no executable lies beside $0, and there are no sources with npm to build it from"
    say 'no executable beside this script: building it from the sources'
    (cd "$here" && npm run build) || die 'the build failed; the reason stands above'
    source=$(find_binary)
  fi
  verify "$source"
  version=$("$source" version) || die "$source does not run on this machine"

  mkdir -p -- "$prefix/bin" 2>/dev/null && [ -w "$prefix/bin" ] || die "$prefix/bin cannot be written: run this as root, or choose another --prefix"
  changed=no
  if cmp -s "$source" "$target"; then say "unchanged: $target (version $version)"
  else
    place "$source" "$target" 0755
    changed=yes
    say "installed $target (version $version)"
  fi
  [ -d "$data_dir" ] || (umask 077 && mkdir -p -- "$data_dir") 2>/dev/null || die "$data_dir cannot be made: run this as root, or choose another --data-dir"
  chmod 0700 "$data_dir" || die "$data_dir belongs to somebody else: choose another --data-dir"

  if [ "$service" = no ]; then reason='no service was asked for'
  elif ! systemd_runs; then reason='systemd does not run here'
  elif ! is_root; then reason='a service needs root'
  else install_service; return
  fi
  write_client "$(id -un)"
  say "$reason; start the gateway with: $target serve --data-dir $data_dir"
}

# Only what is a data directory goes, so that a mistyped path costs nothing.
remove_data() {
  [ -d "$data_dir" ] || { say "no data directory at $data_dir"; return; }
  [ ! -L "$data_dir" ] || die "$data_dir is a link: remove what it points to yourself"
  if [ -f "$data_dir/gateway.db" ] || [ -z "$(ls -A -- "$data_dir")" ]; then
    rm -rf -- "$data_dir"
    say "removed $data_dir"
  else die "$data_dir holds no gateway.db, so it is not taken for a data directory; it was left alone"
  fi
}

# A trial that goes leaves the file of the gateway of this machine, whose service is still there.
remove_client() {
  [ ! -f "$UNIT" ] && [ -f "$CLIENT_FILE" ] && [ -w "$CLIENT_FILE" ] && [ -w "$(dirname -- "$CLIENT_FILE")" ] || return 0
  ! grep -q "^data_dir: $data_dir\$" "$CLIENT_FILE" || rm -f -- "$CLIENT_FILE" || say "$CLIENT_FILE cannot be removed"
}

uninstall() {
  served=$(served_data_dir)
  data_dir=${data_dir:-${served:-$DEFAULT_DATA_DIR}}
  if [ "$service" = yes ] && [ -f "$UNIT" ] && grep -q "^ExecStart=$target " "$UNIT"; then
    is_root || die 'the service can be removed by root only'
    if systemd_runs; then systemctl disable --now --quiet gateway.service || die 'the service could not be stopped'; fi
    rm -f -- "$UNIT"
    if systemd_runs; then systemctl daemon-reload; fi
    say "removed the service"
    had_service=yes
  fi
  remove_client
  if [ -e "$target" ]; then
    rm -f -- "$target" || die "$target cannot be removed: run this as root"
    say "removed $target"
  else say "nothing installed at $target"
  fi
  if [ "$purge" = no ]; then
    [ ! -d "$data_dir" ] || say "kept the data in $data_dir (--purge removes it)"
    return
  fi
  remove_data
  if [ "${had_service:-no}" = yes ] && id gateway >/dev/null 2>&1 && command -v userdel >/dev/null 2>&1; then
    userdel gateway && say 'removed the user "gateway"'
  fi
}

if [ "$action" = install ]; then install_all; else uninstall; fi
