#include "cli/interrupt.h"

#include <stdlib.h>
#include <time.h>

volatile sig_atomic_t interrupted;
static time_t interrupted_at; /* read by the handler only */

/* Two signals within a second count as one: timeout(1) and batch systems signal the process, then
 * its group. The kernel repeats SIGXCPU each second, up to the hard limit, where it kills. */
static void on_interrupt(int number)
{
	time_t now = time(NULL);

	if (!interrupted) {
		interrupted = 1;
		interrupted_at = now;
	} else if (now - interrupted_at > 1 && number != SIGXCPU) {
		signal(number, SIG_DFL);
		raise(number);
	}
}

void catch_interrupts(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGQUIT, SIGXCPU };
	struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = SA_RESTART }, former;

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
	/* nohup ignores SIGHUP, so that the run outlives its terminal */
	if (!sigaction(SIGHUP, NULL, &former) && former.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
}
