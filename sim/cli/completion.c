/* Completions for shells, from the tables of verbs and options. A verb is one word, or two ("sweep
 * run"). What is no option is completed as a file. */
#include "cli/options.h"

#include <string.h>

/* For single quotes of all three shells; a backslash before the characters of `special`. */
static void put(FILE *to, const char *text, const char *special)
{
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", to);
		else
			fprintf(to, "%s%c", strchr(special, *text) ? "\\" : "", *text);
}

static size_t first_length(const struct verb *verb)
{
	return strcspn(verb->name, " ");
}

/* Verbs of one family stand together: the first of them stands for their first word. */
static bool is_first(size_t i)
{
	const struct verb *verb = verb_at(i), *former = i ? verb_at(i - 1) : NULL;

	return !former || first_length(verb) != first_length(former) ||
	       strncmp(verb->name, former->name, first_length(verb)) != 0;
}

/* NULL for a verb of one word. */
static const char *second_word(const struct verb *verb)
{
	const char *rest = verb->name + first_length(verb);

	return *rest ? rest + 1 : NULL;
}

/* --- bash --- */

static void bash(FILE *to)
{
	struct option_text option;
	const struct verb *verb;

	fputs("# bash completion of inasim\n_inasim()\n{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} words=\n"
	      "\t[[ $COMP_CWORD -le 2 || $verb != sweep ]] || verb+=\" ${COMP_WORDS[2]}\"\n"
	      "\t((COMP_CWORD > 1)) || verb=\n\tcase $verb in\n\t'') words='",
	      to);
	for (size_t i = 0; (verb = verb_at(i)) != NULL; i++)
		if (is_first(i))
			fprintf(to, "%.*s ", (int)first_length(verb), verb->name);
	fputs("--help --version' ;;\n\tsweep) words='", to);
	for (size_t i = 0; (verb = verb_at(i)) != NULL; i++)
		if (second_word(verb))
			fprintf(to, "%s ", second_word(verb));
	fputs("--help' ;;\n", to);
	for (size_t i = 0; (verb = verb_at(i)) != NULL; i++) {
		fprintf(to, "\t'%s') [[ $cur != -* ]] || words='", verb->name);
		for (size_t at = 0; options_next(verb, &at, &option);)
			fprintf(to, "--%s ", option.name);
		fputs("--help' ;;\n", to);
	}
	fputs("\tesac\n\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n}\n"
	      "complete -o default -F _inasim inasim\n",
	      to);
}

/* --- zsh --- */

static void zsh_verbs(FILE *to, bool first)
{
	const struct verb *verb;

	fputs("\t\twords_here=(", to);
	for (size_t i = 0; (verb = verb_at(i)) != NULL; i++) {
		const char *second = second_word(verb);

		if (first ? !is_first(i) : !second)
			continue;
		fprintf(to, " '%.*s:", first ? (int)first_length(verb) : 32,
			first ? verb->name : second);
		put(to, first && second ? "sweeps" : verb->help, "");
		putc('\'', to);
	}
	fputs(" )\n\t\t_describe verb words_here\n", to);
}

static void zsh(FILE *to)
{
	struct option_text option;
	const struct verb *verb;

	fputs("#compdef inasim\n_inasim() {\n\tlocal verb=$words[2]\n\tlocal -a words_here\n"
	      "\tif (( CURRENT == 2 )); then\n",
	      to);
	zsh_verbs(to, true);
	fputs("\t\treturn\n\tfi\n\tshift words; (( CURRENT-- ))\n"
	      "\tif [[ $verb == sweep && $CURRENT -eq 2 ]]; then\n",
	      to);
	zsh_verbs(to, false);
	fputs("\t\treturn\n\tfi\n\tif [[ $verb == sweep ]]; then\n\t\tverb+=\" $words[2]\"\n"
	      "\t\tshift words; (( CURRENT-- ))\n\tfi\n\tcase $verb in\n",
	      to);
	for (size_t i = 0; (verb = verb_at(i)) != NULL; i++) {
		fprintf(to, "\t'%s') _arguments", verb->name);
		for (size_t at = 0; options_next(verb, &at, &option);) {
			fprintf(to, " '*--%s[", option.name);
			put(to, option.help, "[]:");
			fputs("]", to);
			if (option.value) {
				putc(':', to);
				put(to, option.value, ":");
				fputs(":_files", to);
			}
			putc('\'', to);
		}
		fputs(" '*:file:_files' ;;\n", to);
	}
	fputs("\tesac\n}\n_inasim \"$@\"\n", to);
}

/* --- fish --- */

static void fish_verb(FILE *to, size_t i)
{
	const struct verb *verb = verb_at(i);
	const char *second = second_word(verb);
	struct option_text option;

	if (is_first(i)) {
		fprintf(to, "complete -c inasim -n __fish_use_subcommand -f -a %.*s -d '",
			(int)first_length(verb), verb->name);
		put(to, second ? "sweeps" : verb->help, "\\");
		fputs("'\n", to);
	}
	if (second) {
		fprintf(to,
			"complete -c inasim -n '__fish_seen_subcommand_from %.*s' -f -a %s -d '",
			(int)first_length(verb), verb->name, second);
		put(to, verb->help, "\\");
		fputs("'\n", to);
	}
	for (size_t at = 0; options_next(verb, &at, &option);) {
		fprintf(to, "complete -c inasim -n '%s__fish_seen_subcommand_from %s' -l %s%s -d '",
			second ? "__fish_seen_subcommand_from sweep; and "
			       : "not __fish_seen_subcommand_from sweep; and ",
			second ? second : verb->name, option.name, option.value ? " -r" : "");
		put(to, option.help, "\\");
		fputs("'\n", to);
	}
}

static void fish(FILE *to)
{
	for (size_t i = 0; verb_at(i); i++)
		fish_verb(to, i);
}

bool print_completion(const char *shell, FILE *to)
{
	static const struct {
		const char *name;
		void (*print)(FILE *to);
	} shells[] = { { "bash", bash }, { "zsh", zsh }, { "fish", fish } };

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (!strcmp(shells[i].name, shell)) {
			shells[i].print(to);
			return true;
		}
	return false;
}
