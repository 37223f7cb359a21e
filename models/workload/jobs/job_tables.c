/* The results of jobs: jobs.csv, iterations.csv, and records for the summary. */
#include "workload/jobs/jobs_parts.h"

#include "base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define COLUMN(member, name, some, usual, words, head, since, help) { name, OUT_REAL, help, since },
static const struct out_column job_columns[] = {
	{ "job_id", OUT_COUNT, "Number of the job, in order of arrival." },
	{ "name", OUT_TEXT, "Name of its group in the scenario." },
	{ "scheme", OUT_TEXT,
	  "All-reduce scheme. For a job that shards and names them: scheme of its reduce-scatter, "
	  "a plus, scheme of its all-gather." },
	{ "model", OUT_TEXT, "Neural network." },
	{ "workers", OUT_COUNT, "Number of workers." },
	{ "iterations", OUT_COUNT, "Iterations asked for." },
	{ "iterations_done", OUT_COUNT, "Iterations finished." },
	{ "arrival_s", OUT_SECONDS, "Submission." },
	{ "start_s", OUT_SECONDS, "When the workers began; empty if they never did." },
	{ "finish_s", OUT_SECONDS, "When all workers held the last sums." },
	{ "jct_s", OUT_SECONDS, "finish_s - arrival_s." },
	{ "waiting_s", OUT_SECONDS,
	  "start_s - arrival_s: wait for hosts, for switch memory, and for the job controller." },
	{ "compute_s", OUT_SECONDS, "Computing time, mean over the workers." },
	{ "communication_s", OUT_SECONDS,
	  "jct_s - waiting_s - compute_s, including waits for stragglers." },
	{ "gradient_bytes", OUT_COUNT,
	  "Bytes of gradients that a worker hands over in an iteration; of a pipeline, a worker of "
	  "each stage together." },
	{ "slots", OUT_COUNT, "Aggregator slots of the job; empty where the scheme has none." },
	{ "retransmissions", OUT_COUNT,
	  "Packets that the job's workers (and servers over TCP) retransmitted." },
	{ "timeouts", OUT_COUNT,
	  "Retransmission timers of the job's workers (and servers over TCP) that expired." },
	{ "hosts", OUT_TEXT,
	  "Host (machine, where these have several NICs) of each rank, separated by spaces." },
	{ "server_hosts", OUT_TEXT,
	  "Host of each parameter server, separated by spaces; empty where the scheme has none." },
	{ "measured", OUT_FLAG,
	  "1 if it arrived in the measured window; only such jobs count in summary.json." },
	{ "finished", OUT_FLAG, "1 if the job finished, or its end is an estimate." },
	{ "refused", OUT_TEXT,
	  "Why the scheme refused the job, which then never ran, or when and why a failure ended "
	  "it; otherwise empty." },
	{ "exchange_s", OUT_SECONDS,
	  "Time from the first gradient of an iteration to its last sum (with \"sharding\": "
	  "\"optimizer\", to the last updated parameters): mean over workers, sum over finished "
	  "iterations. Empty for one GPU, and before the first iteration has finished." },
	{ "throughput_share", OUT_REAL,
	  "Aggregation throughput, gradient_bytes * iterations_done / exchange_s, as a share of "
	  "the lowest bit rate that all links of a worker have together (ESA section 7.3 "
	  "calls this switch memory utilisation). Empty for one worker, for jobs that shard or are "
	  "pipelines (a worker needs only a part of the sums), and before the first iteration has "
	  "finished." },
	{ "server_packets", OUT_COUNT, "Packets that the job's servers received from switches." },
	{ "server_bytes", OUT_COUNT, "Bytes of their frames." },
	{ "reminders", OUT_COUNT, "Reminders that the job's workers and servers sent." },
	{ "stands_for", OUT_REAL,
	  "Iterations of the job that each simulated iteration stands for: 1, or more with "
	  "max_steps." },
	{ "ran_as", OUT_TEXT,
	  "What the job ran as: its scheme, or another one (PANAMA and SwitchML* run as ring up to "
	  "aggregate_above). If it had less of something than it asked for or could use, this "
	  "follows, as in \"switchml with 2 of 512 slots\". Where some switches only forward, it "
	  "says how many switches on the way of its sums add up. \"none\" with one worker; empty "
	  "before the job began." },
	{ "trace_id", OUT_TEXT, "job_id of the job in its trace; empty without a trace." },
	{ "ideal_jct_s", OUT_SECONDS,
	  "The least time that the job can take from its arrival on: its computing, then what its "
	  "scheme has to send over the links of hosts, headers included, ACKs not, each way of it "
	  "as "
	  "short as between neighbours. A job alone on one switch takes that under schemes in "
	  "switches, 3 % more over TCP; several tiers and oversubscription come on top. Empty "
	  "where "
	  "no bound is known: with \"overlap\": \"layers\", for jobs that exchange more than "
	  "gradients, under double_tree and nvls, for a \"fraction\" of the workers, on machines "
	  "with several GPUs, for sums in switches where some switches only forward, with "
	  "failures, "
	  "in runs of streams, and for jobs that did not finish." },
	{ "jct_half_width_s", OUT_SECONDS,
	  "Half of the 95 % interval of jct_s, for jobs whose end is an estimate (stop.estimate); "
	  "empty for all others. For these jobs finish_s, jct_s, compute_s and communication_s are "
	  "estimates, too; the other columns are about the simulated iterations "
	  "(iterations_done)." },
	JOB_OTHER_METRICS(COLUMN){ 0 },
};
#undef COLUMN
const struct out_schema jobs_schema = {
	"jobs.csv", "One row for each job, in the order of completion; unfinished jobs last.",
	job_columns
};

#define FIRST_CYCLE 2 /* the first iteration whose cycle counts */

static const struct out_column iteration_columns[] = {
	{ "job_id", OUT_COUNT, "The job." },
	{ "name", OUT_TEXT, "Name of its group." },
	{ "iteration", OUT_COUNT, "Number, from 0." },
	{ "start_s", OUT_SECONDS,
	  "End of the previous iteration; for the first one, start of the job." },
	{ "finish_s", OUT_SECONDS, "When all workers held all sums of this iteration." },
	{ "duration_s", OUT_SECONDS, "finish_s - start_s." },
	{ "compute_s", OUT_SECONDS, "Computing time in this iteration, mean over the workers." },
	{ "communication_s", OUT_SECONDS,
	  "duration_s - compute_s: communication that computation does not hide." },
	{ "cycle_s", OUT_SECONDS,
	  "Time from the first gradient handed over in the previous iteration to the end of the "
	  "last worker's forward pass in this one (the JCT of ESA section 7.2). Does not count the "
	  "smallest send_jitter of a worker, which passes before the first gradient. Empty for the "
	  "first two iterations, because windows still grow in the first cycle." },
	{ "measured", OUT_FLAG, "As in jobs.csv." },
	{ 0 },
};
const struct out_schema iterations_schema = { "iterations.csv",
					      "One row for each iteration of a job.",
					      iteration_columns };

/* --- accounts --- */

static sim_time busy_until_now(const struct job_worker *worker, sim_time now)
{
	return worker->busy + (worker->busy_since == SIM_TIME_MAX ? 0 : now - worker->busy_since);
}

/* Computing time of all workers so far. */
static sim_time busy_sum(const struct job *job)
{
	sim_time now = job->jobs->env.sim->now, sum = 0;

	for (uint32_t w = 0; w < job->ranks; w++)
		sum += busy_until_now(&job->worker[w], now);
	return sum;
}

void job_sends(struct job *job, int64_t iteration)
{
	if (iteration < job->sending)
		return;
	job->sending = iteration + 1;
	job->first_send[KEPT(iteration)] = job->jobs->env.sim->now;
}

static void keep(double **list, size_t *count, size_t *capacity, double value)
{
	*list = array_reserve(*list, *count, capacity, sizeof(**list));
	(*list)[(*count)++] = value;
}

void job_iteration_over(struct job *job)
{
	struct jobs *jobs = job->jobs;
	int64_t number = job->iterations_done;
	sim_time now = jobs->env.sim->now, busy = busy_sum(job),
		 compute = (busy - job->busy_mark) / job->ranks,
		 cycle = job->forward_end[KEPT(number)] - job->first_send[KEPT(number - 1)];
	struct out_cell cells[] = {
		{ .count = job->number },
		{ .text = job->conf->name },
		{ .count = (uint64_t)number },
		{ .time = job->mark },
		{ .time = now },
		{ .time = now - job->mark },
		{ .time = compute },
		{ .time = now - job->mark - compute },
		{ .none = number < FIRST_CYCLE || job->conf->program, .time = cycle },
		{ .flag = job->measured },
	};

	if (jobs->tables.iterations)
		out_table_row(jobs->tables.iterations, cells);
	if (job->measured)
		keep(&jobs->report.durations, &jobs->report.duration_count,
		     &jobs->duration_capacity, seconds_of(now - job->mark));
	if (job->measured && number >= FIRST_CYCLE && !job->conf->program)
		keep(&jobs->report.cycles, &jobs->report.cycle_count, &jobs->cycle_capacity,
		     seconds_of(cycle));
	job->busy_mark = busy;
	job->mark = now;
}

/* Computing time until the job's end, or until now, as the mean over the workers. */
static sim_time compute_mean(const struct job *job)
{
	return (job->estimated ? job->busy_estimate : busy_sum(job)) / job->ranks;
}

/* Numbers of hosts as a text, "0 1 2". Caller frees. */
static char *host_list(const uint32_t *hosts, uint32_t count)
{
	char *text = xmalloc((size_t)count * 11 + 1), *end = text; /* a blank and 10 digits each */

	*end = '\0';
	for (uint32_t i = 0; i < count; i++)
		end += snprintf(end, 12, "%s%" PRIu32, i ? " " : "", hosts[i]);
	return text;
}

/* Time of exchanges in finished iterations, as the mean over workers; 0 before the job begins. */
static sim_time exchange_mean(const struct job *job)
{
	sim_time sum = 0;

	for (uint32_t w = 0; job->worker && w < job->ranks; w++)
		sum += job->worker[w].exchange;
	return sum / job->ranks;
}

/* The lowest total rate that a worker's NICs have. Rates may differ in a graph. */
static bps slowest_worker(const struct job *job)
{
	const struct network *net = &job->jobs->env.topo->net;
	const struct machine_conf *machine = job->jobs->env.machine;
	bps slowest = UINT64_MAX;

	for (uint32_t w = 0; w < job->workers; w++) {
		bps rate = 0;

		for (uint32_t nic = 0; nic < machine_nics(machine); nic++) {
			uint32_t host = machine_nic(machine, net->hosts, job->hosts[w], nic);

			for (uint32_t i = 0; i < network_links(net, host); i++)
				rate += port_class(
						net,
						&net->ports[network_port(net, host, (uint16_t)i)])
						->rate;
		}
		slowest = rate < slowest ? rate : slowest;
	}
	return slowest;
}

/* Whether the gradients of the whole network are no sum that each worker gets. */
static bool sums_divided(const struct job *job)
{
	return job->conf->sharding != SHARDING_NONE || job->conf->pipeline.stages > 1 ||
	       job->conf->program;
}

static double job_throughput_share(const struct job *job)
{
	double bits = (double)job->dnn->gradient_total * 8 * (double)job->iterations_done;
	sim_time time = exchange_mean(job);

	if (job->workers == 1 || !time || sums_divided(job))
		return NAN;
	return bits / (seconds_of(time) * (double)slowest_worker(job));
}

/* The algorithm bandwidth as PERFORMANCE.md of NCCL's tests defines it, in bytes per second; NAN
 * without an exchange, and in a pipeline, whose stages exchange each a part, at times of their own.
 */
static double job_algbw(const struct job *job)
{
	sim_time time = exchange_mean(job);

	if (job_is_alone(job) || !time || job->conf->pipeline.stages > 1 || job->conf->program)
		return NAN;
	return (double)job->dnn->gradient_total * (double)job->iterations_done / seconds_of(time);
}

/* The bus bandwidth, as PERFORMANCE.md defines it: each GPU is a rank. */
static double job_busbw(const struct job *job)
{
	double ranks = (double)job->workers * job->gpus;

	if (sums_divided(job))
		return NAN;
	return job_algbw(job) * 2 * (ranks - 1) / ranks;
}

/* Fills in only the members of JOB_OTHER_METRICS. The job may still be under way. */
static struct job_record metrics_of(const struct job *job)
{
	double jct = (double)(job->finish - job->arrival);

	return (struct job_record){
		.slowdown = job->ideal ? jct / (double)job->ideal : NAN,
		.algbw = job_algbw(job),
		.busbw = job_busbw(job),
	};
}

#define CELL(member, ...) { .real = metrics.member },
void job_write(struct job *job)
{
	const char *reduces = scheme_names[job_group_reduces(job->conf)];
	const char *gathers = scheme_names[job_group_gathers(job->conf)];
	double share = job_throughput_share(job);
	char scheme[JOB_SCHEME_SIZE];
	bool fluid = job->jobs->env.fluid; /* there are no packets to count */
	bool over = job->state == JOB_OVER || job->estimated;
	bool begun = job->state == JOB_RUNNING || over;
	sim_time compute = begun ? compute_mean(job) : 0;
	sim_time until = over ? job->finish : job->jobs->env.sim->now;
	char *hosts = begun ? host_list(job->hosts, job->workers) : NULL;
	char *servers = begun ? host_list(job->hosts + job->workers, job->servers) : NULL;
	struct job_record metrics = metrics_of(job);
	struct out_cell cells[] = {
		{ .count = job->number },
		{ .text = job->conf->name },
		{ .text = job_group_scheme(job->conf, reduces, gathers, scheme) },
		{ .text = job->dnn->name },
		{ .count = job->workers },
		{ .count = (uint64_t)job->iterations },
		{ .count = (uint64_t)job->iterations_done },
		{ .time = job->arrival },
		{ .none = !begun, .time = job->start },
		{ .none = !over, .time = job->finish },
		{ .none = !over, .time = job->finish - job->arrival },
		{ .none = !begun, .time = job->start - job->arrival },
		{ .none = !begun, .time = compute },
		{ .none = !begun, .time = until > job->start ? until - job->start - compute : 0 },
		{ .count = job->dnn->gradient_total },
		{ .none = !job->slots, .count = job->slots },
		{ .none = fluid, .count = job->stats.retransmissions },
		{ .none = fluid, .count = job->stats.timeouts },
		{ .none = !begun, .text = hosts },
		{ .none = !begun || !job->servers, .text = servers },
		{ .flag = job->measured },
		{ .flag = over },
		{ .none = !job->reason, .text = job->reason },
		{ .none = job_is_alone(job) || !exchange_mean(job), .time = exchange_mean(job) },
		{ .real = share },
		{ .none = fluid, .count = job->stats.server_packets },
		{ .none = fluid, .count = job->stats.server_bytes },
		{ .none = fluid, .count = job->stats.reminders },
		{ .real = job->stands_for },
		{ .none = !job->ran_as, .text = job->ran_as },
		{ .none = !job->trace_id, .text = job->trace_id },
		{ .none = !job->ideal, .time = job->ideal },
		{ .none = !job->estimated, .time = job->half_width },
		JOB_OTHER_METRICS(CELL)
	};

	if (job->jobs->tables.jobs)
		out_table_row(job->jobs->tables.jobs, cells);
	free(hosts);
	free(servers);
}
#undef CELL

void job_record(struct job *job)
{
	struct jobs *jobs = job->jobs;
	double compute = seconds_of(compute_mean(job));
	struct job_record record = metrics_of(job);

	record.group = job->conf;
	record.jct = seconds_of(job->finish - job->arrival);
	record.waiting = seconds_of(job->start - job->arrival);
	record.compute = compute;
	record.communication = seconds_of(job->finish - job->start) - compute;
	record.throughput_share = job_throughput_share(job);
	record.rate = (double)job->dnn->gradient_total * (double)job->iterations /
		      seconds_of(job->finish - job->start);
	jobs->report.records = array_reserve(jobs->report.records, jobs->report.measured.finished,
					     &jobs->record_capacity, sizeof(*jobs->report.records));
	jobs->report.records[jobs->report.measured.finished++] = record;
}
