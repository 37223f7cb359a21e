/* The end of a job as an estimate (stop.estimate): once the iterations of a lone job are steady,
 * the run ends. The iterations that are left are assumed to be like the last ones.
 *
 * The first half of the iterations is left out, as windows still grow and workers fall out of step.
 * The second half is cut into BATCHES batches of consecutive iterations. The estimate of the time
 * left is the mean of the batch means times the number of iterations left. Its 95 % interval is
 * that of the sum of the iterations to come, by Student's t over the batch means (Law, Simulation
 * Modeling and Analysis, 5th ed., section 9.5.3). It covers the error of the mean and the scatter
 * of the iterations to come. Iterations are steady if the interval is within the bound, and the
 * batch means have no trend that would lead out of it.
 *
 * Losses, and the timeouts that may follow them, are rare and dear: a sample without any says
 * little of the rest, and Student's t takes it for certain. So the sample has to show them: each
 * iteration does, or ENOUGH of them do, so that a batch has three on average and its mean is not
 * far from normal. Where fewer do, it is enough that the iterations left are expected to have less
 * than FEW_LEFT: with 95 % certainty they have none then. The expectation is that of the rate so
 * far or, if higher, of the probability that links lose a packet, which no sample has to show.
 *
 * The method cannot see what changes only later in the run. Jobs that share links drift against
 * each other for hundreds of iterations: with two jobs under ESA, 63 iterations were alike to 0.2
 * %, and the next 117 were 5 % shorter. So nothing is estimated in runs with several jobs. */
#include "workload/jobs/jobs_parts.h"

#include "base/mem.h"

#include <math.h>

#define BATCHES  (ESTIMATE_FROM / 2)
#define ENOUGH   30 /* iterations */
#define FEW_LEFT 0.05
/* Student's t, two-sided 95 %: for the mean of 10 values, and for the slope through 10 values. */
#define T_MEAN  2.262
#define T_SLOPE 2.306

/* Times of the iterations that a job has left, in ps. */
struct rest {
	double mean, half_width; /* of the 95 % interval */
	double drift;            /* what the trend would add if it went on; 0 = there is no trend */
	double busy;             /* computing time of all workers */
};

/* The slope per batch of a least-squares line through the batch means; 0 if not significant. */
static double slope_of(const double *means, double mean)
{
	double middle = (BATCHES - 1) / 2.0, squares = 0, slope = 0, residue = 0;

	for (unsigned b = 0; b < BATCHES; b++) {
		squares += (b - middle) * (b - middle);
		slope += (b - middle) * (means[b] - mean);
	}
	slope /= squares;
	for (unsigned b = 0; b < BATCHES; b++)
		residue += pow(means[b] - mean - slope * (b - middle), 2);
	return fabs(slope) > T_SLOPE * sqrt(residue / (BATCHES - 2) / squares) ? slope : 0;
}

/* How many packets were to be lost by now, at most: by the link that loses most. */
static double losses_expected(const struct network *net)
{
	uint64_t threshold = 0;

	for (unsigned i = 0; i < net->class_count; i++)
		if (net->classes[i].loss_threshold > threshold)
			threshold = net->classes[i].loss_threshold;
	return ldexp((double)threshold, -64) * (double)net->hops;
}

/* Whether the sample shows how often this happens, or it is not to be expected in the rest. */
static bool sample_shows(const struct job *job, enum rare rare)
{
	size_t count = BATCHES * ((job->past_count - 1) / (2 * BATCHES)), with = 0;
	const struct job_mark *end = &job->past[job->past_count - 1], *from = end - count;
	double left = (double)(job->iterations - job->iterations_done);
	double expected = losses_expected(&job->jobs->env.topo->net);

	for (const struct job_mark *mark = from; mark < end; mark++)
		with += mark[0].rare[rare] != mark[1].rare[rare];
	if ((double)end->rare[rare] > expected)
		expected = (double)end->rare[rare];
	return with == count || with >= ENOUGH ||
	       expected * left / (double)job->iterations_done < FEW_LEFT;
}

static struct rest rest_of(const struct job *job)
{
	size_t each = (job->past_count - 1) / (2 * BATCHES); /* iterations of a batch */
	const struct job_mark *end = &job->past[job->past_count - 1], *from = end - BATCHES * each;
	double left = (double)(job->iterations - job->iterations_done), n = (double)each;
	double mean = (double)(end->at - from->at) / (BATCHES * n), squares = 0;
	double means[BATCHES];

	for (unsigned b = 0; b < BATCHES; b++) {
		means[b] = (double)(from[(b + 1) * each].at - from[b * each].at) / n;
		squares += pow(means[b] - mean, 2);
	}
	/* .drift: from the middle of the batches to the middle of the iterations left are (left +
	 * BATCHES * n) / 2 iterations */
	return (struct rest){
		.mean = left * mean,
		.half_width = T_MEAN * sqrt(squares / (BATCHES - 1)) * left *
			      sqrt(1.0 / BATCHES + n / left),
		.drift = fabs(slope_of(means, mean)) / n * left * (left + BATCHES * n) / 2,
		.busy = (double)(end->busy - from->busy) / (BATCHES * n) * left,
	};
}

/* Computing time of all workers in the iterations that have ended. Those that had the last sum
 * early already compute in the next one. */
static sim_time busy_of_past(const struct job *job)
{
	sim_time sum = 0;

	for (uint32_t w = 0; w < job->ranks; w++)
		sum += job->worker[w].busy_mark;
	return sum;
}

static struct job_mark mark_of(const struct job *job)
{
	const struct network *net = &job->jobs->env.topo->net;
	struct collective_stats stats = job->stats;

	job_exchange_stats(job, &stats);
	return (struct job_mark){ .at = job->mark,
				  .busy = busy_of_past(job),
				  .rare = { [RARE_LOSSES] = net->dropped + net->lost,
					    [RARE_TIMEOUTS] = stats.timeouts } };
}

void job_estimate(struct job *job)
{
	struct jobs *jobs = job->jobs;
	struct rest rest;

	if (!jobs->estimate)
		return;
	job->past =
		array_reserve(job->past, job->past_count, &job->past_capacity, sizeof(*job->past));
	job->past[job->past_count++] = mark_of(job);
	if (job->past_count <= job->look_at || job->iterations_done == job->iterations)
		return;
	/* check rarely: the more checks, the more likely one of them is steady by chance */
	job->look_at += job->look_at / 2;
	if (!sample_shows(job, RARE_LOSSES) || !sample_shows(job, RARE_TIMEOUTS))
		return;
	rest = rest_of(job);
	if (rest.half_width > jobs->estimate * rest.mean || rest.drift > jobs->estimate * rest.mean)
		return;
	job->estimated = true;
	job->finish = job->mark + (sim_time)llround(rest.mean);
	job->half_width = (sim_time)llround(rest.half_width);
	job->busy_estimate = job->past[job->past_count - 1].busy + (sim_time)llround(rest.busy);
	jobs->report.estimated++;
	if (job->measured)
		job_record(job);
	sim_stop(jobs->env.sim);
}
