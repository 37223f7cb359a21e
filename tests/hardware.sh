#!/bin/bash
# Public measurements of hardware beside what inasim gives (scenarios/hardware/rows.csv): with the defaults, and with one
# calibration a machine. Runs give what is written there, and the page's table is that of the file.
#   SRC=$PWD INASIM=$PWD/build/inasim tests/hardware.sh --update   writes both anew: read the difference
source "${SRC:?source directory}/tests/lib/shell.sh"
command -v python3 >/dev/null || exit 77
in_a_folder_of_its_own

python3 - "$SRC/scenarios/hardware" "$INASIM" "${1:-}" >out 2>err <<'PYTHON' || fail "$(cat out err)"
import csv, json, re, shlex, subprocess, sys

folder, inasim, update = sys.argv[1:]
table = list(csv.DictReader(open(folder + "/rows.csv")))
if table[0].get("ours") is None:
    for row in table:
        row["ours"] = row["ours_calibrated"] = ""

def value(row, options):
    command = [inasim, "run", "--quiet", "--json", folder + "/" + row["scenario"]] + options
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{row['row']}: {shlex.join(command)}: {done.stderr}")
    time = json.loads(done.stdout)["jobs"]["iteration_s"]["mean"]
    moved = float(row["moved"] or 0)
    return {"us": time * 1e6, "GB/s": moved / time / 1e9, "Gbps": 8 * moved / time / 1e9, "images/s": moved / time}[row["unit"]]

def short(number):
    return f"{number:.4g}" if number < 1000 else f"{number:.0f}"

def error(row, ours):
    if not row[ours] or row["measured"].startswith(">"):
        return ""
    return f"{round(100 * (float(row[ours]) / float(row['measured']) - 1)):+d}%"

def lines():
    for row in table:
        cells = [row["machine"], row["what"], (row["measured"] + " " + row["unit"]).removesuffix(" GB/s")]
        yield "|".join(["", *cells, row["ours"], error(row, "ours"), row["ours_calibrated"], error(row, "ours_calibrated"), ""])

differ = []
for row in table:
    options = shlex.split(row["options"])
    for column, more in (("ours", []), ("ours_calibrated", shlex.split(row["calibration"]))):
        if column == "ours_calibrated" and not more:
            continue
        now = short(value(row, options + more))
        if now != row[column]:
            differ.append(f"{row['row']}: {column} is {now}, not {row[column] or 'there'}")
        row[column] = now
page = open(folder + "/README.md").read()
head, rest = page.split("|---|---|---|---|---|---|---|\n")
tail = re.sub(r"\A(\|[^\n]*\n)*", "", rest)
new = head + "|---|---|---|---|---|---|---|\n" + "".join(line + "\n" for line in lines()) + tail
if update == "--update":
    with open(folder + "/rows.csv", "w") as file:
        out = csv.DictWriter(file, list(table[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(table)
    open(folder + "/README.md", "w").write(new)
elif new != page:
    differ.append("README.md does not have the numbers of rows.csv")
errors = sorted(abs(float(r["ours_calibrated"]) / float(r["measured"]) - 1) for r in table
                if r["ours_calibrated"] and not r["measured"].startswith(">"))
print(f"{len(table)} measurements; median error calibrated {100 * errors[len(errors) // 2]:.1f} %")
if differ and update != "--update":
    sys.exit("\n".join(differ))
PYTHON
checks=$((checks + $(sed -n 's/^\([0-9]*\) measurements.*/\1/p' out)))
((checks > 30)) || fail "only $checks measurements"
finish "$(<out)"
