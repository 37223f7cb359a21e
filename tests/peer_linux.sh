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

# As init says it: control, what a full queue does, at how many waiting packets, SACK; and the rate in Mbit/s and the
# delay of wires, where they are not 10 and 5 ms. Here the packet that is being sent counts, too.
# In the kernel's virtual machine nothing is random. Where packets are lost, it has delays of up to a frame more, since
# who arrives just behind a departure would lose nothing, time after time; here NICs have such delays, and hosts get them.
dctcp="dctcp mark 20 1"
fast="dctcp mark 40 1 20 5ms"
random="10 5600us 600us"
newreno="reno drop 50 0 $random"
sack="reno drop 50 1 $random"
cubic="cubic drop 50 1 $random"
# what is set here, by the name of the change
declare -A settings_of=(
	[linux]="/tcp/control/dctcp/rules=linux"
	[rto]="/tcp/handshake_rtt=true /tcp/rto_floor=variance"
	[rack]="/tcp/handshake_rtt=true /tcp/rto_floor=variance /tcp/recovery=rack /tcp/tlp_ack_delay=200ms /tcp/tlp_slack=8ms \
		/tcp/control/cubic/slow_start=hystart /tcp/control/cubic/rules=linux"
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
20 Mbps, one              |one   |       |$fast|      |0.97 1.03|0.95 1.05|
20 Mbps, two              |two   |       |$fast|      |0.97 1.03|0.95 1.05|0.60 0.90
20 Mbps, four             |four  |       |$fast|      |0.97 1.06|0.95 1.05|0.60 1.00
20 Mbps, eight            |eight |       |$fast|      |0.97 1.03|0.95 1.05|0.60 0.90
20 Mbps, incast           |incast|       |$fast|      |0.97 1.04|0.95 1.05|0.60 0.90
20 Mbps, long             |mixed |9000000|$fast|      |0.97 1.03|0.95 1.05|0.60 1.00
20 Mbps, 20 kB            |mixed |20000  |$fast|      |0.94 1.03|0.95 1.08|
20 Mbps, 100 kB           |mixed |100000 |$fast|      |0.97 1.05|0.93 1.05|
20 Mbps, two long         |join  |5000000|$fast|      |0.93 1.03|0.93 1.05|0.60 0.90
20 Mbps, joins them       |join  |2000000|$fast|      |0.97 1.05|0.95 1.10|
20 Mbps, four, Linux's    |four  |       |$fast|linux |0.97 1.05|0.95 1.05|0.90 1.15
20 Mbps, incast, Linux's  |incast|       |$fast|linux |0.97 1.03|0.95 1.05|0.90 1.10
20 Mbps, 100 kB, Linux's  |mixed |100000 |$fast|linux |0.93 1.03|0.95 1.05|0.90 1.10
20 Mbps, two long, Linux's|join  |5000000|$fast|linux |0.97 1.03|0.95 1.05|0.90 1.10
20 Mbps, joins, Linux's   |join  |2000000|$fast|linux |0.97 1.05|0.95 1.10|0.90 1.10
NewReno, four             |four  |       |$newreno|rto|0.97 1.03|0.95 1.05|
NewReno, incast           |incast|       |$newreno|rto|0.78 0.95|0.68 0.85|
NewReno, four, SACK       |four  |       |$sack|rack  |0.97 1.03|0.95 1.05|
NewReno, incast, SACK     |incast|       |$sack|rack  |0.95 1.03|0.95 1.05|
NewReno, 20 kB, SACK      |mixed |20000  |$sack|rack  |0.97 1.13|0.95 1.60|
NewReno, 100 kB, SACK     |mixed |100000 |$sack|rack  |0.97 1.12|0.90 1.25|
CUBIC, four               |four  |       |$cubic|rack |0.97 1.03|0.95 1.05|
CUBIC, incast             |incast|       |$cubic|rack |0.95 1.03|0.85 1.25|
CUBIC, 20 kB              |mixed |20000  |$cubic|rack |0.97 1.10|0.95 1.75|
CUBIC, 100 kB             |mixed |100000 |$cubic|rack |0.88 1.05|0.40 1.10|
CUBIC, incast, in phase   |incast|       |cubic drop 50 1|rack|0.97 1.08|0.95 1.40|
CASES
}

# network_of SETTINGS: rate and delay
network_of() {
	local words
	read -ra words <<<"$1"
	[[ -n ${words[4]:-} ]] || words+=(10 5ms)
	echo "${words[@]:4}"
}

# job_of NETWORK: directory of its flows
job_of() {
	echo "$work/job.${1// /_}"
}

# here EXPERIMENT SETTINGS NAME ARRANGEMENT SEED CHANGES: lines "flow start size FCT" (us), and the marks
here() {
	local out="$work/$1.${2// /_}.$3.$4.$5" settings=() change control what packets rate jitter network
	network=$(network_of "$2")
	read -r control what packets _ <<<"$2"
	read -r rate _ jitter <<<"$network"
	for change in $6; do
		settings+=(--set "$change")
	done
	[[ -z $jitter ]] || settings+=(--set "/topology/host/jitter=$((2 * ${jitter%us}))us") # from 0, there from below the mean
	if [[ $what == mark ]]; then
		settings+=(--set "/topology/switch/ecn/threshold=$((packets + 1))pkt")
	else
		settings+=(--set /topology/switch/ecn=false --set "/topology/switch/buffer=$(((packets + 1) * 1518 + 100))B")
	fi
	"$INASIM" run "$peer/star.json" --seed "$5" --set "/flows/0/transport=$control" "${settings[@]}" \
		--set "/topology/link/rate=${rate}Mbps" --set "/flows/0/arrival/trace=$(job_of "$network").csv/$1.$4" \
		--quiet --out "$out"
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ printf "flow %d %d %.1f\n", $at["start_s"] * 1e6, $at["size_bytes"], $at["fct_s"] * 1e6 }' "$out/flows.csv" >"$out.here"
	jq -r '"marks \(.network.ecn_marks)"' "$out/summary.json" >>"$out.here"
}
export -f here network_of job_of
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

cases | while IFS='|' read -r _ experiment _ settings _; do
	echo "${experiment%%+( )} $(network_of "$settings")"
done | sort -u | while read -r experiment network; do
	job=$(job_of "$network")
	mkdir -p "$job" "$job.csv" "$job.there"
	for arrangement in $arrangements; do
		"$peer/flows" "$experiment" "$arrangement" "${network%% *}" >"$job/$experiment.$arrangement"
		awk 'BEGIN { print "start_s,src,dst,size_bytes" }
			{ printf "%.6f,%d,%d,%d\n", $1 / 1e6, $3 - 1, $4 - 1, $2 }' "$job/$experiment.$arrangement" \
			>"$job.csv/$experiment.$arrangement"
	done
done
cases | awk -F '|' '{ gsub(/^ +| +$/, "", $5); gsub(/ /, "", $2); print $2 "|" $4 "|" $5 }' |
	sort -u | while IFS='|' read -r experiment settings changes; do
		for arrangement in $arrangements; do
			for seed in 1 2 3 4; do
				printf '%s\0' "$experiment" "$settings" "$changes" "$arrangement" "$seed" \
					"${changes:+${settings_of[$changes]}}"
			done
		done
	done | xargs -0 -n 6 -P "$(nproc)" bash -euo pipefail -c 'here "$@"' here

# inputs EXPERIMENT SIZE SETTINGS: checksum of what the kernel's side follows from
inputs() {
	local network
	network=$(network_of "$3")
	{
		echo "$2" "$3"
		cat "$peer/guest.c"
		sed "s/rate 10mbit/rate ${network%% *}mbit/; s/delay 5ms/delay ${network#* }/" "$peer/init"
		cat "$(job_of "$network")/$1".*
		sed -n '/^qemu-system/,$p' "$peer/boot"
	} | sha256sum | cut -c1-16
}

# is_kept EXPERIMENT SIZE SETTINGS: whether the kernel need not run for it
is_kept() {
	[[ -z ${NIGHTLY:-} ]] && grep -q "^$(inputs "$@") " "$kept"
}

# boot NETWORK: its experiments by the kernel, as files EXPERIMENT.ARRANGEMENT.CONTROL.SACK
boot() {
	local job
	job=$(job_of "$1")
	sort -u "$job/all" >"$job/cases"
	rm "$job/all"
	"$peer/boot" "$job" "${1%% *}" "${1#* }" |
		awk -v job="$job" '$1 == "case" { out = job ".there/" $2 "." $3 "." $6 } $1 == "flow" { print >out }'
}

# boot_all: the kernel's side of what is not kept, a boot for each network
boot_all() {
	local settings experiment size arrangement job network boots=()
	while IFS='|' read -r _ experiment size settings _; do
		is_kept "${experiment// /}" "${size// /}" "$settings" && continue
		for arrangement in $arrangements; do
			echo "${experiment%%+( )}.$arrangement $(cut -d ' ' -f1-4 <<<"$settings")" \
				>>"$(job_of "$(network_of "$settings")")/all"
		done
	done < <(cases)
	for job in "$work"/job.*; do
		[[ -e $job/all ]] || continue
		network=${job#"$work"/job.}
		boot "${network//_/ }" &
		boots+=($!)
	done
	for job in "${boots[@]}"; do
		wait "$job"
	done
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
	boot_all
fi

bad=0
{
	echo "# The kernel's side, which tests/peer_linux.sh --update writes: checksum of its inputs; mean and p99 of FCTs in us; flows; marks; case"
	echo "$version"
} >"$work/kernel.txt"
printf '%-28s %5s  %-24s %-24s %s\n' case flows "mean (bounds)" "p99 (bounds)" "marks (bounds)"
while IFS='|' read -r name experiment size settings changes mean p99 marks; do
	experiment=${experiment// /} size=${size// /} changes=${changes%%+( )}
	read -r control _ _ with_sack _ <<<"$settings"
	sum=$(inputs "$experiment" "$size" "$settings")
	if ! is_kept "$experiment" "$size" "$settings"; then
		theirs=$(statistics "$size" "$(job_of "$(network_of "$settings")").there/$experiment".*."$control.$with_sack")
	else
		theirs=$(grep "^$sum " "$kept" | cut -d ' ' -f2-5)
	fi
	grep -q "^$sum " "$work/kernel.txt" || echo "$sum $theirs ${name%%+( )}" >>"$work/kernel.txt"
	line=$(echo "$(statistics "$size" "$work/$experiment.${settings// /_}.$changes".*.here) $theirs $mean $p99 $marks" |
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
