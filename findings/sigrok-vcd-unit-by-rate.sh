#!/usr/bin/env bash
# sigrok-cli 0.7.2 with libsigrok 0.5.2 (Debian 12): the unit of the stamps in its VCD depends on
# the sample rate, and not in order: 10 ns at 100 MHz, 100 ps at 24 and 12 MHz, 1 ns at 7.3728 and
# 3 MHz, 10 ns at 333,333 Hz. At most rates a sample is no multiple of the unit, so that equally
# spaced samples have unequal stamps, each rounded on its own (136, 135, 136 ns at 7.3728 MHz). The
# unit of the file therefore says nothing about how finely an edge is known, which is one sample. At
# 1 PHz, the rate of a converted dump in fs, the file says `$timescale 0.001 ps`; IEEE 1364 allows
# 1, 10 and 100 of a unit only. The rate itself is in the comment. Fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/archives/partial" "$folder/root"
apt-get install --yes --quiet=2 --download-only --no-install-recommends --reinstall \
    -o Debug::NoLocking=1 -o APT::Sandbox::User=root \
    -o Dir::Cache::archives="$folder/archives" \
    sigrok-cli=0.7.2-1+b1 libsigrok4=0.5.2-4 > "$folder/apt.log"
for package in "$folder"/archives/*.deb; do dpkg -x "$package" "$folder/root"; done
sigrok() { LD_LIBRARY_PATH=$folder/root/usr/lib/$(uname -m)-linux-gnu \
    "$folder/root/usr/bin/sigrok-cli" "$@"; }
printf '\0\1\0\1\0\1' > "$folder/samples"
seen=$(for rate in 100000000 24000000 12000000 7372800 3000000 333333 1000000000000000; do
    sigrok -I "binary:numchannels=1:samplerate=$rate" -i "$folder/samples" -O vcd |
        awk -v rate=$rate '/^[$]timescale/ { unit = $2 " " $3 } /^#.* / { stamps = stamps " " $1 }
            END { print rate ": " unit stamps }'
done)
echo "$seen"
diff <(echo "$seen") - <<'TEXT' || { echo 'the behaviour has changed' >&2; exit 1; }
100000000: 10 ns #0 #1 #2 #3 #4 #5
24000000: 100 ps #0 #417 #833 #1250 #1667 #2083
12000000: 100 ps #0 #833 #1667 #2500 #3333 #4167
7372800: 1 ns #0 #136 #271 #407 #543 #678
3000000: 1 ns #0 #333 #667 #1000 #1333 #1667
333333: 10 ns #0 #300 #600 #900 #1200 #1500
1000000000000000: 0.001 ps #0 #1 #2 #3 #4 #5
TEXT
