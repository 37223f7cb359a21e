#include "base/child.h"

#include <signal.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

pid_t child_fork(void)
{
	pid_t parent = getpid(), child = fork();

	if (child)
		return child;
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	if (getppid() != parent) /* the parent died before prctl() */
		_exit(1);
	return 0;
}
