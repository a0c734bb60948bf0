#!/usr/bin/env bash
# GHDL 2.0.0 with mcode, GTKWave 3.3.118 (Debian 12): a VHDL integer has 32 bits in GHDL's VCD and
# one bit in its FST (`--fst`). Of the values 3, 7 and 12 the FST of the same run keeps 1, 1 and 0:
# the lowest bit. A counter in such a file counts 0 and 1, and the change from 3 to 7 looks like
# none. The VCD of the same run, or a signal of type unsigned, has all bits. Seen by fst2vcd. Fails
# if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/archives/partial" "$folder/root"
apt-get install --yes --quiet=2 --download-only --no-install-recommends --reinstall \
    -o Debug::NoLocking=1 -o APT::Sandbox::User=root \
    -o Dir::Cache::archives="$folder/archives" \
    ghdl-mcode=2.0.0+dfsg-6.2+b2 gtkwave=3.3.118-0.1~deb12u1 > "$folder/apt.log"
for package in "$folder"/archives/*.deb; do dpkg -x "$package" "$folder/root"; done
export GHDL_PREFIX=$folder/root/usr/lib/ghdl/mcode
LD_LIBRARY_PATH=$folder/root/usr/lib/$(uname -m)-linux-gnu
export LD_LIBRARY_PATH
cd "$folder"
cat > count.vhd <<'VHDL'
entity count is end;
architecture run of count is
  signal number : integer range 0 to 15 := 0;
begin
  process begin
    wait for 10 ns; number <= 3;
    wait for 10 ns; number <= 7;
    wait for 10 ns; number <= 12;
    wait for 10 ns; wait;
  end process;
end;
VHDL
ghdl=root/usr/bin/ghdl-mcode
"$ghdl" -a count.vhd
"$ghdl" --elab-run count --vcd=count.vcd --fst=count.fst
root/usr/bin/fst2vcd count.fst > from-fst.vcd
changes() { awk '/^[$]var/ { print $3 " bits" } /^b?[01]/ { print $1 }' "$1" | tr -d '!' |
    tr '\n' ' '; }
vcd=$(changes count.vcd) fst=$(changes from-fst.vcd)
printf 'VCD: %s\nFST: %s\n' "$vcd" "$fst"
[ "$vcd" = '32 bits b0 b11 b111 b1100 ' ] || { echo 'the VCD has changed' >&2; exit 1; }
[ "$fst" = '1 bits 0 1 1 0 ' ] || { echo 'the FST has changed' >&2; exit 1; }
