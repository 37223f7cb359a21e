#!/bin/bash
# Are the files in traces/ what their README says?
#   cdf/      header; sizes and fractions never fall; from 0 to exactly 1
#   models/   layer parameters sum to the totals below; profiles name existing layers
#   jobs/     header; submissions in order; positive GPUs
# shellcheck disable=SC2016 # the single quotes hold awk programs
set -euo pipefail

: "${SRC:?source directory}"
cd "$SRC/traces"
failures=0

fail() {
	printf 'traces: %s\n' "$*" >&2
	failures=$((failures + 1))
}

# check FILE HEADER AWK-PROGRAM: the program prints what is wrong
check() {
	local file=$1 header=$2 program=$3 found
	if [[ $(head -n 1 "$file") != "$header" ]]; then
		fail "$file: header is not $header"
		return
	fi
	found=$(awk -F, -v columns="$(awk -F, '{ print NF; exit }' "$file")" '
		function bad(what) { printf "line %d: %s; ", NR, what }
		/\r/ { bad("carriage return") }
		NF != columns { bad(NF " columns") }
		NR == 1 { next }
		'"$program" "$file")
	[[ -z $found ]] || fail "$file: $found"
}

number='^[0-9]+(\.[0-9]+)?$'

cdfs=0
for file in cdf/*.csv; do
	check "$file" "size_bytes,cdf" '
		$1 !~ /^[0-9]+$/ || $2 !~ /'"$number"'/ { bad("not a number") }
		NR == 2 && $2 != 0 { bad("does not start at 0") }
		NR > 2 && ($1 + 0 < size || $2 + 0 < cdf) { bad("falls") }
		NR > 2 && $1 == size && $2 == cdf { bad("twice the same point") }
		{ size = $1 + 0; cdf = $2 + 0 }
		END { if (cdf != 1) bad("ends at " cdf); if (NR < 3) bad("too short") }'
	cdfs=$((cdfs + 1))
done
((cdfs >= 10)) || fail "cdf/: only $cdfs files"

# panama_short and panama_long are the mixture of websearch and datamining in equal parts, cut at
# 40 MB: their means, weighted by the fractions of flows, give its mean (trapezoids are exact).
mean() {
	awk -F, 'NR > 2 { sum += ($2 - cdf) * ($1 + size) / 2 } { size = $1; cdf = $2 } END { printf "%.6f", sum }' "cdf/$1.csv"
}
awk -v short="$(mean panama_short)" -v long="$(mean panama_long)" -v web="$(mean websearch)" \
	-v mining="$(mean datamining)" 'BEGIN {
		below = (1 + 0.95 + 0.04 * (40000000 - 3076220) / (97333820 - 3076220)) / 2
		ratio = (below * short + (1 - below) * long) / ((web + mining) / 2)
		exit !(ratio > 1 - 1e-9 && ratio < 1 + 1e-9)
	}' || fail "cdf/: panama_short and panama_long are not the mixture"

# Model, modules, parameters. "=" the total equals a published integer
# (torchvision num_params; for *_tfcnn plus one class; the papers' code for the
# others), "~" there is no published integer.
totals() {
	cat <<'TOTALS'
alexnet_torchvision 8 61100840 =
alexnet_tfcnn 8 61842345 ~
alexnet_caffe_grouped 8 60965224 =
vgg11 11 132863336 =
vgg16 16 138357544 =
vgg16_tfcnn 16 138361641 =
vgg19 19 143667240 =
resnet50 107 25557032 =
resnet50_tfcnn 107 25559081 =
resnet101 209 44549160 =
resnet152 311 60192808 =
resnet152_tfcnn 311 60194857 =
inceptionv3 189 23834568 =
inceptionv3_aux 194 27161264 =
inceptionv3_tfcnn 189 23819401 ~
googlenet 115 6624904 =
googlenet_aux 123 13004888 =
googlenet_paper 58 6998552 =
googlenet_tfcnn 58 6999577 =
bert_base 113 109482240 =
bert_base_pretrain 117 110106428 =
bert_large 221 335141888 =
bert_large_pretrain 225 336226108 =
bert_large_qa 221 334094338 =
gpt2_small 88 124439808 =
gpt2_medium 172 354823168 =
gpt2_large 256 774030080 =
gpt2_xl 340 1557611200 =
gpt3_13b 43 12853386240 ~
llama2_7b 34 6738415616 =
llama2_70b 82 68976648192 =
mixtral_8x7b_ep8 66 1605636096 =
deeplight_inferred 7 607911930 ~
lstm_gbw 7 426465919 ~
ncf_ml20m 8 31832577 ~
ugatit_light 114 134021248 ~
ssd300_resnet50 118 22894902 ~
TOTALS
}

models=0
while read -r model rows params _; do
	file=models/layers/$model.csv
	if [[ ! -f $file ]]; then
		fail "$file is missing"
		continue
	fi
	columns="index,layer,kind,params,macs,tensors"
	[[ $model != mixtral* ]] || columns+=,all_to_all
	check "$file" "$columns" '
		$1 != NR - 2 { bad("index " $1) }
		$2 == "" || $3 == "" { bad("no name") }
		$4 !~ /^[0-9]+$/ || $5 !~ /^[0-9]+$/ || $6 !~ /^[0-9]+$/ || $7 !~ /^[0-9]*$/ { bad("not a number") }
		($4 == 0) != ($6 == 0) { bad("parameters without tensor or the reverse") }
		{ sum += $4 }
		END { if (sum != '"$params"') bad("sum " sum ", published '"$params"'")
		      if (NR - 1 != '"$rows"') bad(NR - 1 " modules, not '"$rows"'") }'
	models=$((models + 1))
done < <(totals)
present=$(find models/layers -name '*.csv' | wc -l)
((present == models)) || fail "models/layers: $present files, totals for $models"

check models/profiles.csv "model,layers,gpu,batch,compute_ms,quality,source" '
	$3 !~ /^(p100|v100|a100|h100|b200)$/ { bad("gpu " $3) }
	$4 !~ /^[1-9][0-9]*$/ || $5 !~ /'"$number"'/ || $5 <= 0 { bad("not a number") }
	$6 !~ /^(published|derived|estimate)$/ { bad("quality " $6) }
	$7 == "" { bad("no source") }
	seen[$1, $3]++ { bad("second row for " $1 " on " $3) }
	($1 in layers) && layers[$1] != $2 { bad("two layer files for " $1) }
	{ layers[$1] = $2 }'
while IFS=, read -r model layers _; do
	[[ -f models/layers/$layers.csv ]] || fail "models/profiles.csv: $model: no layers/$layers.csv"
done < <(tail -n +2 models/profiles.csv)
for model in alexnet vgg16 vgg19 resnet50 resnet152 inceptionv3 googlenet bert bert_base gpt2; do
	for gpu in p100 v100 a100; do
		grep -q "^$model,[^,]*,$gpu," models/profiles.csv ||
			fail "models/profiles.csv: no $model on $gpu"
	done
done

check models/resnet50_ddp_buckets.csv "node_id,collective,bytes,kernel_us" '
	$2 == "ALL_REDUCE" { sum += $3 }
	END { if (sum != 4 * 25557032) bad("all-reduces sum to " sum) }'

for file in jobs/*.csv; do
	check "$file" "job_id,submit_s,gpus,duration_s" '
		$1 != NR - 2 { bad("job_id " $1) }
		$2 !~ /^[0-9]+$/ || $3 !~ /^[1-9][0-9]*$/ || $4 !~ /^[0-9]+$/ { bad("not a number") }
		NR == 2 && $2 != 0 { bad("does not start at 0") }
		$2 + 0 < before { bad("out of order") }
		{ before = $2 + 0 }'
done

while IFS= read -r file; do
	name=${file##*/}
	[[ $file == models/layers/* ]] && continue
	grep -q "$name" README.md || fail "README.md does not mention $file"
done < <(find . -name '*.csv' -printf '%P\n')

# The text of a GPT's step is what its generator writes. Its gradients, of 4 bytes over
# 4 ranks, are those of all parameters but the last norm's.
"$SRC"/scripts/simai-gpt | cmp -s - "$SRC/scenarios/traces/gpt3-13b.txt" || fail "scripts/simai-gpt writes another gpt3-13b.txt"
awk 'NF > 9 && $1 != "HYBRID_TRANSFORMER_FWD_IN_BCKWD" { bytes += $11 } END { exit bytes != 12853386240 - 2 * 5120 }' \
	"$SRC/scenarios/traces/gpt3-13b.txt" || fail "gpt3-13b.txt has not the gradients of GPT-3 13B"

if ((failures > 0)); then
	echo "traces: $failures mistakes" >&2
	exit 1
fi
echo "traces: $cdfs size distributions, $models models, $(tail -n +2 models/profiles.csv | wc -l) profiles"
