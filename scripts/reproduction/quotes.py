"""Holds the quotes of rows against texts of the papers, which the project does not have.

FOLDER/*.txt: those of a paper begin as its file in scenarios/papers does, up to the first "-". What a text from a PDF loses or
adds does not count: blanks, hyphens, marks of LaTeX and Markdown. " ... " leaves something out, "[...]" is ours."""
import re
import unicodedata

SAME = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "×": "x"})


def plain(text):
    text = unicodedata.normalize("NFKC", text).translate(SAME).replace("\\times", "x")
    return re.sub(r"[\s$*_^{}\\‐-―−-]", "", text)


def missing(quote, text):
    """The parts of a quote that a text (a plain one) does not have."""
    return [part for part in re.split(r" \.\.\. |\[[^]]*\]", quote) if plain(part) not in text]


def main(papers, folder, say):
    rows, wrong = 0, 0
    for paper in papers:
        texts = sorted(folder.glob(f"{paper.path.stem.split('-')[0]}*.txt"))
        if not texts:
            say(f"{folder} has no text of {paper.title}")
            return 2
        text = plain("\n".join(t.read_text() for t in texts))
        for row in paper.rows:
            rows += 1
            for part in missing(row.given["quote"], text):
                wrong += 1
                say(f"row {row.id}: not in {paper.title}: \"{part}\"")
    say(f"{rows} rows, {wrong} parts of quotes are not the papers'")
    return 1 if wrong else 0
