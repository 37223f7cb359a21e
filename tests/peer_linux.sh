#!/bin/bash
# The same flows by the TCP of the Linux kernel (tests/peer/linux/boot): mean and p99 of completion times, and ECN marks
# of the experiment, as inasim over the kernel, flows of all arrangements together, four seeds of each here.
# A cell holds within its bounds; tests/peer/linux/README.md has the cause of each that is wider than 3 % of means
# and 5 % of p99.
# The kernel's side is kept in tests/peer/linux/kernel.txt, with a checksum of all that it follows from but the kernel's
# version. The kernel itself runs where that has changed (the test fails until --update has kept the new side), and with
# NIGHTLY set: two boots and two versions differ a little, so what it gives then has to hold within the same bounds.
# Skipped (77) where it should run and qemu is not installed.
# shellcheck disable=SC2317 # xargs calls here()
set -euo pipefail
shopt -s extglob
export LC_ALL=C

: "${SRC:?source directory}" "${INASIM:?the program}"
INASIM=$(realpath "$INASIM")
export SRC INASIM
peer=$SRC/tests/peer/linux
kept=$peer/kernel.txt
work=$(mktemp -d)
export work
trap 'rm -rf "$work"' EXIT
version=$(sed -n 2p "$kept")

# As init says it: control, what a full queue does, at how many waiting packets, SACK. Here the packet that is
# being sent counts, too.
dctcp="dctcp mark 20 1"
reno="reno drop 50 0"
sack="reno drop 50 1"
cubic="cubic drop 50 1"
# what is set here, by the name of the change
declare -A settings_of=(
	[linux]="/tcp/control/dctcp/rules=linux"
	[rack]="/tcp/recovery=rack /tcp/handshake_rtt=true /tcp/tlp_ack_delay=200ms /tcp/tlp_slack=8ms /tcp/control/cubic/slow_start=hystart"
)
arrangements="1 2 3 4 5"

# case | experiment | size of its flows, or all | of the kernel | changes here | bounds of mean | of p99 | of marks, or none
cases() {
	cat <<CASES
one flow                  |one   |       |$dctcp|      |0.97 1.03|0.95 1.05|
two flows                 |two   |       |$dctcp|      |0.97 1.03|0.95 1.05|0.60 0.90
four flows                |four  |       |$dctcp|      |0.97 1.03|0.95 1.05|0.60 0.90
eight flows               |eight |       |$dctcp|      |0.97 1.03|0.95 1.05|0.60 0.90
incast of 8               |incast|       |$dctcp|      |0.97 1.03|0.95 1.05|0.60 0.90
long beside short         |mixed |9000000|$dctcp|      |0.97 1.03|0.95 1.05|0.60 0.90
20 kB beside long         |mixed |20000  |$dctcp|      |0.95 1.03|0.95 1.05|
100 kB beside long        |mixed |100000 |$dctcp|      |0.97 1.08|0.95 1.05|
two long, one joins       |join  |5000000|$dctcp|      |0.97 1.03|0.95 1.05|0.60 0.90
joins them                |join  |2000000|$dctcp|      |1.02 1.25|1.02 1.25|
eight, Linux's rules      |eight |       |$dctcp|linux |0.97 1.03|0.95 1.05|0.90 1.10
incast, Linux's rules     |incast|       |$dctcp|linux |0.97 1.03|0.95 1.05|0.90 1.10
100 kB, Linux's rules     |mixed |100000 |$dctcp|linux |0.90 1.03|0.95 1.05|0.85 1.10
joins, Linux's rules      |join  |2000000|$dctcp|linux |0.97 1.10|0.95 1.12|0.90 1.10
NewReno, four             |four  |       |$reno|      |0.97 1.05|0.95 1.05|
NewReno, incast           |incast|       |$reno|      |0.78 0.90|0.68 0.82|
NewReno, four, SACK       |four  |       |$sack|rack  |0.97 1.08|0.95 1.05|
NewReno, incast, SACK     |incast|       |$sack|rack  |0.97 1.03|0.95 1.05|
NewReno, 20 kB, SACK      |mixed |20000  |$sack|rack  |0.97 1.20|0.95 1.70|
NewReno, 100 kB, SACK     |mixed |100000 |$sack|rack  |0.97 1.45|0.95 1.50|
CUBIC, four               |four  |       |$cubic|rack |0.97 1.09|0.95 1.05|
CUBIC, incast             |incast|       |$cubic|rack |0.97 1.08|0.95 1.40|
CUBIC, 20 kB              |mixed |20000  |$cubic|rack |0.97 1.10|0.90 1.30|
CUBIC, 100 kB             |mixed |100000 |$cubic|rack |0.97 1.18|0.70 1.05|
CASES
}

# here EXPERIMENT CONTROL WHAT PACKETS NAME ARRANGEMENT SEED CHANGES: lines "flow start size FCT" (us), and the marks
here() {
	local out="$work/$1.$2.$5.$6.$7" flows=$work/$1.$6.csv settings=() change
	for change in $8; do
		settings+=(--set "$change")
	done
	if [[ $3 == mark ]]; then
		settings+=(--set "/topology/switch/ecn/threshold=$(($4 + 1))pkt")
	else
		settings+=(--set /topology/switch/ecn=false --set "/topology/switch/buffer=$((($4 + 1) * 1518 + 100))B")
	fi
	"$INASIM" run "$peer/star.json" --seed "$7" --set "/flows/0/transport=$2" "${settings[@]}" \
		--set "/flows/0/arrival/trace=$flows" --quiet --out "$out"
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ printf "flow %d %d %.1f\n", $at["start_s"] * 1e6, $at["size_bytes"], $at["fct_s"] * 1e6 }' "$out/flows.csv" >"$out.here"
	jq -r '"marks \(.network.ecn_marks)"' "$out/summary.json" >>"$out.here"
}
export -f here
export peer

# statistics SIZE FILE...: mean and p99 (nearest rank) of FCTs in us, how many flows, marks a file
statistics() {
	local size=$1 files=$(($# - 1))
	shift
	cat "$@" | awk -v size="$size" '$1 == "flow" && (size == "" || $3 == size) { print $4 }' | sort -g >"$work/sorted"
	cat "$@" | awk -v files="$files" '
		{ marks += $1 == "marks" ? $2 : $5 }
		END {
			while ((getline v < "'"$work"'/sorted") > 0) { sum += v; fct[++n] = v }
			rank = int(0.99 * n)
			printf "%.1f %.1f %d %.1f\n", sum / n, fct[rank < 0.99 * n ? rank + 1 : rank], n, marks / files
		}'
}

mkdir "$work/job"
for experiment in $(cases | cut -d '|' -f2 | sort -u); do
	for arrangement in $arrangements; do
		"$peer/flows" "$experiment" "$arrangement" >"$work/job/$experiment.$arrangement"
		awk 'BEGIN { print "start_s,src,dst,size_bytes" }
			{ printf "%.6f,%d,%d,%d\n", $1 / 1e6, $3 - 1, $4 - 1, $2 }' "$work/job/$experiment.$arrangement" \
			>"$work/$experiment.$arrangement.csv"
	done
done
cases | awk -F '|' '{ split($4, s, " "); gsub(/^ +| +$/, "", $5); gsub(/ /, "", $2); print $2 "|" s[1] "|" s[2] "|" s[3] "|" $5 }' |
	sort -u | while IFS='|' read -r experiment control what packets changes; do
		for arrangement in $arrangements; do
			for seed in 1 2 3 4; do
				printf '%s\0' "$experiment" "$control" "$what" "$packets" "$changes" "$arrangement" "$seed" \
					"${changes:+${settings_of[$changes]}}"
			done
		done
	done | xargs -0 -n 8 -P "$(nproc)" bash -euo pipefail -c 'here "$@"' here

# inputs EXPERIMENT SIZE SETTINGS: checksum of what the kernel's side follows from
inputs() {
	{
		echo "$2" "$3"
		cat "$peer/guest.c" "$peer/init" "$work/job/$1".*
		sed -n '/^qemu-system/,$p' "$peer/boot"
	} | sha256sum | cut -c1-16
}

# is_kept EXPERIMENT SIZE SETTINGS: whether the kernel need not run for it
is_kept() {
	[[ -z ${NIGHTLY:-} ]] && grep -q "^$(inputs "$@") " "$kept"
}

# boot: the kernel's side of what is not kept, as files EXPERIMENT.ARRANGEMENT.CONTROL.SACK.there
boot() {
	local settings experiment size arrangement
	while IFS='|' read -r _ experiment size settings _; do
		is_kept "${experiment// /}" "${size// /}" "$settings" && continue
		for arrangement in $arrangements; do
			echo "${experiment%%+( )}.$arrangement $settings"
		done
	done < <(cases) | sort -u >"$work/cases"
	mv "$work/cases" "$work/job/cases"
	"$peer/boot" "$work/job" >"$work/booted"
	awk -v work="$work" '$1 == "case" { out = work "/" $2 "." $3 "." $6 ".there" }
		$1 == "flow" { print >out }' "$work/booted"
}

stale=
while IFS='|' read -r _ experiment size settings _; do
	is_kept "${experiment// /}" "${size// /}" "$settings" || stale=1
done < <(cases)
if [[ -n $stale ]]; then
	if ! command -v qemu-system-x86_64 >/dev/null; then
		echo "peer_linux: the kernel has to run, and qemu is not installed (scripts/setup --qemu), skipped"
		exit 77
	fi
	version=$("$peer/boot")
	boot
fi

bad=0
{
	echo "# The kernel's side, which tests/peer_linux.sh --update writes: checksum of its inputs; mean and p99 of FCTs in us; flows; marks; case"
	echo "$version"
} >"$work/kernel.txt"
printf '%-28s %5s  %-24s %-24s %s\n' case flows "mean (bounds)" "p99 (bounds)" "marks (bounds)"
while IFS='|' read -r name experiment size settings changes mean p99 marks; do
	experiment=${experiment// /} size=${size// /} control=${settings%% *} changes=${changes%%+( )}
	sum=$(inputs "$experiment" "$size" "$settings")
	if ! is_kept "$experiment" "$size" "$settings"; then
		theirs=$(statistics "$size" "$work/$experiment".*."$control.${settings##* }.there")
	else
		theirs=$(grep "^$sum " "$kept" | cut -d ' ' -f2-5)
	fi
	grep -q "^$sum " "$work/kernel.txt" || echo "$sum $theirs ${name%%+( )}" >>"$work/kernel.txt"
	line=$(echo "$(statistics "$size" "$work/$experiment.$control.$changes".*.here) $theirs $mean $p99 $marks" |
		awk -v name="$name" '
			function cell(here, there, low, high,    ratio) {
				ratio = here / there
				wrong += !(ratio >= low && ratio <= high)
				return sprintf("%.3f (%.2f to %.2f)", ratio, low, high)
			}
			{ printf "%-28s %5d  %-24s %-24s %s", name, $7, cell($1, $5, $9, $10), cell($2, $6, $11, $12),
				(NF > 12 ? cell($4, $8, $13, $14) : "")
				if ($3 != 4 * $7) wrong = 1
				if (wrong) printf "  OUTSIDE" }')
	echo "$line"
	[[ $line != *OUTSIDE ]] || bad=1
done < <(cases)
if [[ ${1:-} == --update ]]; then
	cp "$work/kernel.txt" "$kept"
elif ! diff <(cut -d ' ' -f1 "$kept") <(cut -d ' ' -f1 "$work/kernel.txt") >"$work/diff"; then
	echo "peer_linux: tests/peer/linux/kernel.txt is of other inputs; tests/peer_linux.sh --update keeps the new side"
	bad=1
elif [[ -n $stale ]]; then
	diff "$kept" "$work/kernel.txt" || true # two boots differ
fi
exit "$bad"
