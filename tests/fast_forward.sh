#!/bin/bash
# What repeats is skipped, and nothing of the result changes: digest, events and tables are those of
# the same run without. Scenarios are drawn from a fixed seed: schemes, networks, numbers of jobs,
# formats, slots, trees, windows, memory, layers, stragglers, spreads; an eighth of each scheme's, rounded down, must
# skip something (most do), and one that draws a random number for every packet must skip nothing.
# By hand: SRC=$PWD INASIM=$PWD/build/inasim tests/fast_forward.sh SEED SCENARIOS [SCHEME...]
source "${SRC:?source directory}/tests/lib/shell.sh"
in_a_folder_of_its_own
RANDOM=${1:-11}
number=${2:-$(sample 36 108)} # of scenarios
schemes=(switchml panama switchml_star ring halving_doubling esa atp netreduce sharp ring_roce
	halving_doubling_roce ps ps_roce)
(($# < 3)) || schemes=("${@:3}")

# In $one; no $(), as a subshell has random numbers of its own.
one_of() {
	shift $((RANDOM % $#))
	one=$1
}

# settings SCHEME: members of its object, in $settings, and of its jobs, in $members
settings() {
	one_of '' '' '' ',"sharding":"full"' ',"sharding":"optimizer"' ',"overlap":"layers","fusion_cycle":"1ms"'
	members=$one
	case $1 in
	switchml)
		one_of '"slots":128' '"slots":512' '"slots":384' '"format":"rdma"' '"timeout_rule":"adaptive"'
		settings=$one
		;;
	panama | switchml_star)
		settings='"aggregate_above":"0B","elements_per_packet":'$((30 + RANDOM % 60))
		one_of '"trees":4' '"trees":3' '"trees":1' '"order":"strict"'
		settings+=,$one
		one_of '"memory":"64MB"' '"memory":"200kB"' '"memory":"40kB"'
		settings+=,$one
		one_of '{}' '{"bus":64}' '"0s"'
		settings+=',"accelerator_latency":'$one
		;;
	esa | atp)
		one_of '"memory":"1MB"' '"memory":"5MB"' '"index":"hash"' '"halve_on":"loss"' '"min_timeout":"200us"'
		settings='"elements_per_packet":'$((30 + RANDOM % 230)),$one
		one_of '' '' ',"max_window":"60kB"' ',"initial_window":"2MB"'
		settings+=$one
		one_of '' '' ',"servers":2'
		members+=$one
		;;
	sharp)
		one_of '"window":"40kB"' '"window":"100kB"' '"window":"256kB"' '"window":"1MB"'
		settings=$one
		one_of '' '' ',"results":"hop"' ',"trees":1,"lock":"operation"' ',"elements_per_packet":64' ',"threshold":"1MB"'
		settings+=$one
		;;
	netreduce)
		one_of '"message":40' '"message":100' '"message":170' '"message":17'
		settings=$one
		settings+=',"memory":"100MB"'
		one_of '' ',"rings":2' ',"window":3' ',"latency":"5us"' ',"ack_every":8' ',"transport":"roce"'
		settings+=$one
		one_of '' '' ',"roce":{"mtu":4096}' ',"roce":{"first_psn":16776000}' ',"roce":{"window":"64kB"}'
		settings+=$one
		;;
	ps*) # a block ends with a full packet
		one_of '"credit":4' '"credit":4' '"credit":16' '"credit":1'
		settings=$one
		one_of 1 1 2 3
		settings+=",\"ack_every\":$one"
		one_of 12 24 48
		[[ $1 == *_roce ]] || settings+=",\"ps_block\":\"$((mss * one))B\""
		[[ $1 != *_roce ]] || settings+=",\"ps_block\":\"$((one * 4096))B\",\"transport\":\"roce\""
		one_of ',"servers":2' ',"servers":{"placement":"workers"}' ',"servers":{"placement":"workers"}'
		members=$one
		megabytes=$((4 * megabytes))
		;;
	*)
		one_of '"transport":"dctcp"' '"transport":"reno"' '"transport":"swift"' '"step_latency":"10us"'
		settings=$one
		one_of '"ack_every":1' '"ack_every":2' '"ack_every":3'
		settings+=,$one
		[[ $members != *full* ]] || one_of '' ',"reduce_scatter":"shards"'
		[[ $members != *full* ]] || members+=$one
		[[ $1 != *_roce ]] || one_of roce roce dcqcn
		[[ $1 != *_roce ]] || settings="\"transport\":\"$one\",${settings#*,}"
		;;
	esac
}

# scenario NUMBER SCHEME
scenario() {
	local scheme=${2%_roce} topology rate jitter nics window roce j separator= mss megabytes
	one_of '"kind":"star","hosts":16' '"kind":"leaf-spine","leaves":4,"spines":2,"hosts_per_leaf":4' \
		'"kind":"fat-tree","k":4'
	topology=$one
	one_of 10Gbps 40Gbps 100Gbps
	rate=$one
	one_of 0ns 121ns 1us
	jitter=$one
	one_of 1 1 1 2
	nics=$one
	mss=$((200 + RANDOM % 1300))
	megabytes=$((2 + RANDOM % 4))
	settings "$2"
	((nics == 1)) || members=${members/,\"sharding\":*/} # one GPU a worker there
	one_of '' ',"max_window":"60kB"' ',"max_window":"1MB"'
	window=$one
	one_of 256 1024 1024 4096
	roce=$one
	one_of '' '' ',"switch":{"pause":{"mtu":"9000B"}}'
	[[ $settings == *bus* ]] || topology+=$one # a slow bus would need more headroom
	printf '{"name":"repeats","seed":%d,"topology":{%s,"link":{"rate":"%s"},"host":{"nic_jitter":"%s","gpus":{"count":%d},"nics":{"count":%d}}},
		"tcp":{"mss":%d%s},"roce":{"mtu":%d},"schemes":{"%s":{%s}},"jobs":[' "$RANDOM" "$topology" "$rate" "$jitter" "$nics" "$nics" \
		"$mss" "$window" "$roce" "$scheme" "$settings"
	for ((j = 0; j < 1 + $1 / ${#schemes[@]} % 3; j++)); do
		one_of 0 0 0.1
		printf '%s{"all_reduce":"%s","workers":%d,"iterations":%d,"compute_jitter":%s,
			"arrival":{"at":"%dus"},"model":{"layers":[{"gradient":"%dMB","backward":"%dus"},
			{"gradient":"%dkB","forward":"20us"}]}%s}' "$separator" "$scheme" $((2 + RANDOM % 4)) \
			$((1 + RANDOM % 2)) "$one" $((j * (RANDOM % 2000))) "$megabytes" \
			$((RANDOM % 300)) $((1 + RANDOM % 3000)) "$members"
		separator=,
	done
	printf ']}\n'
}

# both_ways NAME: runs NAME.json with and without; `skipped` is what was skipped
both_ways() {
	local what='[.digest, .events, .packet_hops]' table
	ends 0 run "$1.json" --out "$1.skips" --quiet
	ends 0 run "$1.json" --out "$1.full" --quiet --no-fast-forward
	for table in jobs iterations links aggregators; do
		[[ -e $1.skips/$table.csv || -e $1.full/$table.csv ]] || continue # no switch adds anything
		same "$1.skips/$table.csv" "$1.full/$table.csv"
	done
	[[ $(jq -c "$what" "$1.skips/manifest.json") == "$(jq -c "$what" "$1.full/manifest.json")" ]] ||
		fail "another digest: $(cat "$1.json")"
	[[ $(jq .packet_hops_skipped "$1.full/manifest.json") == 0 ]] || fail "--no-fast-forward skips"
	skipped=$(jq .packet_hops_skipped "$1.skips/manifest.json")
}

declare -A skipping
for ((i = 0; i < number; i++)); do
	scheme=${schemes[i % ${#schemes[@]}]}
	scenario "$i" "$scheme" >"$i.json"
	both_ways "$i"
	((skipped == 0)) || skipping[$scheme]=$((${skipping[$scheme]:-0} + 1))
done
for scheme in "${schemes[@]}"; do
	((${skipping[$scheme]:-0} >= number / ${#schemes[@]} / 8)) ||
		fail "only ${skipping[$scheme]:-0} scenarios with $scheme skip something"
done

# rule NAME RATE JITTER TOPOLOGY SCHEMES JOBS: a scenario in which the rule above it decides
rule() {
	printf '{"name":"%s","topology":{%s,"link":{"rate":"%s"},"host":{"nic_jitter":"%s"}},
		"schemes":{%s},"jobs":[%s]}' "$1" "$4" "$2" "$3" "$5" "$6" >"$1.json"
	both_ways "$1"
	((skipped > 0)) || fail "$1 skips nothing"
}
star='"kind":"star","hosts":16'
model='"model":{"layers":[{"gradient":"6MB","backward":"200us"}]}'
# a worker is late: more is under way than what any tensor keeps to be simulated, and many rows of
# an accelerator are in use
rule sending 100Gbps 121ns "$star" '"switchml_star":{"aggregate_above":"0B","elements_per_packet":40}' \
	'{"all_reduce":"switchml_star","workers":5,"compute_jitter":0.5,'"$model}"
# ports of accelerators are slow
rule ports 40Gbps 0s "$star" '"switchml_star":{"memory":"100kB","accelerator_latency":{"bus":64},
	"aggregate_above":"0B","elements_per_packet":40}' '{"all_reduce":"switchml_star","workers":5,'"$model}"
# windows grow while they are skipped, and are cut when others come
rule windows 10Gbps 121ns '"kind":"leaf-spine","leaves":4,"spines":2,"hosts_per_leaf":4' \
	'"panama":{"aggregate_above":"0B","elements_per_packet":40}' \
	'{"all_reduce":"panama","workers":5,'"$model"'},
	{"all_reduce":"panama","workers":5,"count":2,"arrival":{"at":"3ms"},'"$model}"

# PAUSE: sums are charged once for all copies
rule pause 100Gbps 121ns "$star"',"switch":{"pause":true}' '"netreduce":{}' \
	'{"all_reduce":"netreduce","workers":8,"model":{"layers":[{"gradient":"20MB"}]}}'

# two jobs: messages in flight are at any place of the lookup tables
rule places 10Gbps 121ns "$star" '"netreduce":{"message":40}' \
	'{"all_reduce":"netreduce","workers":5,"model":{"layers":[{"gradient":"5MB"}]}},
	{"all_reduce":"netreduce","workers":3,"model":{"layers":[{"gradient":"5MB"},{"gradient":"1919kB","forward":"20us"}]}}'

# sums of racks meet in ties, and none depends on which packet came last
rule merged 100Gbps 0s '"kind":"leaf-spine","leaves":2,"spines":2,"hosts_per_leaf":8' '"netreduce":{}' \
	'{"all_reduce":"netreduce","workers":10,"model":{"layers":[{"gradient":"30MB"}]}}'
holds '.packet_hops_skipped > 0.5 * .packet_hops' merged.skips/manifest.json

# a scheme in switches adds up, then rings over TCP tell of it
rule sharded 100Gbps 0s "$star" '"switchml":{}' \
	'{"all_reduce":"switchml","workers":5,"sharding":"optimizer",'"$model}"

# jobs alone on their links, each at its own pace
rule apart 10Gbps 121ns '"kind":"star","hosts":24' '"switchml":{"slots":128}' \
	'{"all_reduce":"switchml","workers":8,"count":3,"iterations":2,"start_jitter":"1ms","compute_jitter":0.1,"model":{"layers":[
	{"gradient":"5MB","backward":"1ms"},{"gradient":"5MB","backward":"1ms"}]}}'
holds '.packet_hops_skipped > 0.8 * .packet_hops' apart.skips/manifest.json

# few ties decide here: four periods are equal by chance
cat >ties.json <<'JSON'
{"name":"ties","seed":23910,"topology":{"kind":"star","hosts":11,"link":{"rate":"40Gbps","delay":"100ns"},"host":{"nic_jitter":"100ns"}},
 "tcp":{"mss":1240},"schemes":{"ring":{"ack_every":2}},"jobs":[{"all_reduce":"ring","workers":11,"model":{"layers":[{"gradient":"30MB","backward":"1ms"}]}}]}
JSON
both_ways ties
((skipped > 0)) || fail "ties skips nothing"

cat >draws.json <<'JSON'
{"name":"draws","topology":{"kind":"star","hosts":4,"host":{"jitter":"100ns"}},
 "jobs":[{"all_reduce":"switchml","workers":4,"model":{"layers":[{"gradient":"4MB"}]}}]}
JSON
both_ways draws
((skipped == 0)) || fail "a run that draws for every packet skips"

told=
for scheme in "${schemes[@]}"; do
	told+="$scheme ${skipping[$scheme]:-0}, "
done
finish "$number scenarios, all with the same results; some skip something: ${told%, }"
