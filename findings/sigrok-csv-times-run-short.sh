#!/usr/bin/env bash
# sigrok-cli 0.7.2 with libsigrok 0.5.2 (Debian 12): the times in its CSV (`-O csv:time=true`) are
# multiples of the sample's period cut to a whole nanosecond, microsecond or millisecond. At 24 MHz
# sample 24 is at 984 ns instead of 1,000 (1.6 % short), at 192 kHz sample 192 at 960 us instead of
# 1,000 (4 %), and the first sample is at one period, not at 0. Intervals between the times of such
# a file are that much too short, the number of samples over `; Samplerate:` is right. (libsigrok's
# main branch has cut each time by itself since 2020.) Fails if that changes.
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
head -c 200 /dev/zero > "$folder/samples"
seen=$(for case in 24000000:24 192000:192; do
    rate=${case%:*} sample=${case#*:}
    sigrok -I "binary:numchannels=1:samplerate=$rate" -i "$folder/samples" \
        -O srzip -o "$folder/session.sr"
    sigrok -i "$folder/session.sr" -O csv:time=true |
        awk -F, -v rate="$rate" -v sample="$sample" '
            /^[a-z]/ { unit = $1 }
            /^[0-9]/ { at[++n] = $1 }
            END { print rate " Hz, " unit ": sample 1 at " at[1] ", " sample " at " at[sample] }'
    rm "$folder/session.sr"
done)
echo "$seen"
diff <(echo "$seen") - <<'TEXT' || { echo 'the behaviour has changed' >&2; exit 1; }
24000000 Hz, nanoseconds: sample 1 at 41, 24 at 984
192000 Hz, microseconds: sample 1 at 5, 192 at 960
TEXT
