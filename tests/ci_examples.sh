#!/bin/bash
# The examples in scripts/ci do what their README says. Each is read with a YAML parser and its commands
# are executed, as GitHub and GitLab would, in a repository with a scenario and a reference: all well, a
# wrong scenario, one that differs. Not executed: apt-get, and the build, for which the clone holds
# scripts that put the program under test in place. Skipped (77) without yq.
set -euo pipefail

: "${SRC:?source directory}" "${INASIM:?the program}"
if ! command -v yq >/dev/null; then
	echo "ci_examples: yq is not installed (scripts/setup --yaml), skipped"
	exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failures=0

fail() {
	printf 'ci_examples: %s\n' "$*" >&2
	failures=$((failures + 1))
}

# holds FILTER FILE [OPTION...]: of jq
holds() {
	jq -e "${@:3}" "$1" "$2" >/dev/null || fail "$2: not $1"
}

# What the examples clone.
make_upstream() {
	local name
	mkdir -p upstream/scripts
	for name in setup build; do
		[[ -x $SRC/scripts/$name ]] || fail "there is no scripts/$name"
	done
	printf '#!/bin/sh\n' >upstream/scripts/setup
	# shellcheck disable=SC2016 # for that script
	printf '#!/bin/sh\nmkdir -p "${0%%/*}/../build"\nln -sf "$INASIM" "${0%%/*}/../build/inasim"\n' \
		>upstream/scripts/build
	chmod +x upstream/scripts/*
	git -C upstream init -q -b somewhere
	git -C upstream add .
	git -C upstream -c user.name=test -c user.email=test@localhost commit -qm "as released"
	git -C upstream branch "$1"
}

# A repository of scenarios, in the folder mine.
make_mine() {
	rm -rf mine
	mkdir -p mine/scenarios mine/reference
	cp "$SRC/tests/sweep/base.json" mine/scenarios/tiny.json
	echo '{ "folders": ["../scenarios"] }' >mine/reference/regress.json
	(cd mine && "$INASIM" regress reference --update "first references") >update 2>&1 ||
		fail "no reference: $(tail -n 3 update)"
}

# The commands of a job, but for apt-get; each file is one step.
steps_of_github() {
	local number=0 step
	jq -r '.jobs.scenarios.steps[] | .run // empty | @base64' github.json |
		while IFS= read -r step; do
			number=$((number + 1))
			base64 -d <<<"$step" | sed '/^apt-get /d' >"$1/$number.sh"
		done
}

steps_of_gitlab() {
	jq -r '.scenarios | .before_script[], .script[]' gitlab.json | sed '/^apt-get /d' >"$1/1.sh"
}

# job EXAMPLE CODE [CACHED]: its steps in the folder mine, up to the first that fails, end so; with CACHED beside the .inasim of
# the job before
job() {
	local example=$1 expected=$2 code=0 step
	[[ -n ${3-} ]] || rm -rf mine/.inasim
	rm -rf steps mine/results
	mkdir steps
	"steps_of_$example" steps
	for step in steps/*.sh; do
		(cd mine && INASIM_REPOSITORY=file://$work/upstream INASIM_REVISION=$revision \
			bash --noprofile --norc -eo pipefail "../$step") >said 2>&1 </dev/null || code=$?
		((code == 0)) || break
	done
	((code == expected)) || fail "$example: exit code $code, not $expected: $(tail -n 5 said)"
}

yq . "$SRC/scripts/ci/github-actions.yml" >github.json
yq . "$SRC/scripts/ci/gitlab-ci.yml" >gitlab.json
holds '.jobs.scenarios.steps | length > 5 and all(has("run") != has("uses"))' github.json
holds '.jobs.scenarios.steps[-1] | .uses[:24] == "actions/upload-artifact@" and .if == "always()" and
	.with.path == "results/"' github.json
holds '.scenarios.artifacts | .when == "always" and .paths == ["results/"]' gitlab.json
# shellcheck disable=SC2016 # a variable of jq
holds '.variables == $github[0].env' gitlab.json --slurpfile github github.json
revision=$(jq -r .env.INASIM_REVISION github.json)
make_upstream "$revision"

for example in github gitlab; do
	make_mine
	job "$example" 0
	[[ -s mine/results/manifest.json || -s $(echo mine/results/*/manifest.json) ]] ||
		fail "$example: no results: $(ls mine/results)"
	sed -i 's/"20KB"/"30KB"/' mine/scenarios/tiny.json
	job "$example" 1
	[[ -d mine/results ]] || fail "$example: no results of a job that differs"
	sed -i 's/"30KB"/"30 apples"/' mine/scenarios/tiny.json
	job "$example" 3
done
# From the cache: nothing is cloned, and a branch is followed.
holds '[.jobs.scenarios.steps[] | .with.path // empty] | index(".inasim") != null' github.json
holds '.scenarios.cache.paths == [".inasim/"]' gitlab.json
for example in github gitlab; do
	make_mine
	job "$example" 0
	touch mine/.inasim/kept
	git -C upstream checkout -q "$revision"
	git -C upstream -c user.name=test -c user.email=test@localhost commit -q --allow-empty -m "goes on"
	job "$example" 0 cached
	[[ -e mine/.inasim/kept ]] || fail "$example: cloned again"
	[[ $(git -C mine/.inasim rev-parse HEAD) == "$(git -C upstream rev-parse HEAD)" ]] || fail "$example: the cache is stale"
done
revision=$(git -C upstream rev-parse HEAD) # or a commit
make_mine
job github 0
git -C upstream tag as-tested
revision=as-tested # or a tag
job github 0 cached
((failures == 0)) || exit 1
echo "ci_examples: both pass, and fail where they should"
