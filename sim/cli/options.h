/* The options of all verbs: one row each in options.c, which says what it is
 * called, which verbs take it, and where in struct cli it goes. */
#ifndef INASIM_CLI_OPTIONS_H
#define INASIM_CLI_OPTIONS_H

#include "cli/cli.h"

/* Reads the options of a verb from argv (argv[0] is the verb) into *cli and
 * leaves the rest in cli->argv. Returns an exit code when there is nothing to go
 * on with (a mistake, told on stderr; --help, --version), else -1. */
int options_parse(struct cli *cli, const struct verb *verb, int argc, char **argv);

/* Frees what options_parse() allocated. */
void options_release(struct cli *cli);

/* Tells each option of a verb: its form, "--out DIR", and what it does. */
void options_tell(const struct verb *verb, void (*tell)(const char *form, const char *help));

#endif
