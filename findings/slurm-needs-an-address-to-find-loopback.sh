#!/usr/bin/env bash
# Slurm 22.05.8 (Debian 12, slurm-client 22.05.8-4+deb12u3): on a machine, or in a container, whose
# only address is that of loopback, no command and no daemon of Slurm finds a controller at
# 127.0.0.1: 'Unable to resolve "127.0.0.1"', after tries for 10 s. (A controller that does not run
# takes 9 s, so the delay says nothing.) Any second address on the loopback interface helps. Slurm
# asks getaddrinfo for IPv4 with AI_ADDRCONFIG, for which glibc does not count loopback; without the
# flag, or with AF_UNSPEC, the address is found. So a cluster in a network namespace needs
# `ip address add 10.0.0.1/32 dev lo`. Seen on 2026-11-30. Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/archives/partial" "$folder/root"
apt-get install --yes --quiet=2 --download-only --no-install-recommends --reinstall \
    -o Debug::NoLocking=1 -o APT::Sandbox::User=root \
    -o Dir::Cache::archives="$folder/archives" \
    slurm-client=22.05.8-4+deb12u3 slurm-wlm-basic-plugins=22.05.8-4+deb12u3 > "$folder/apt.log"
for package in "$folder"/archives/*.deb; do dpkg -x "$package" "$folder/root"; done
libraries=$folder/root/usr/lib/$(uname -m)-linux-gnu
cat > "$folder/slurm.conf" <<CONF
ClusterName=one
SlurmctldHost=control(127.0.0.1)
PluginDir=$libraries/slurm-wlm
NodeName=n1
PartitionName=all Nodes=n1
CONF
cat > "$folder/ask.sh" <<'SH'
ip link set lo up
ask() { sinfo 2>&1 | grep -oE 'Unable to resolve|Unable to contact' | head -n 1; }
echo "loopback alone: $(ask)"
ip address add 10.0.0.1/32 dev lo
echo "with 10.0.0.1: $(ask)"
SH
found=$(SLURM_CONF="$folder/slurm.conf" LD_LIBRARY_PATH="$libraries:$libraries/slurm-wlm" \
    PATH="$folder/root/usr/bin:$PATH" unshare --map-root-user --net bash "$folder/ask.sh")
echo "$found"
[ "$found" = "loopback alone: Unable to resolve
with 10.0.0.1: Unable to contact" ] || { echo "the behaviour has changed"; exit 1; }
