/* The same experiment in ns-3: bulk flows under DCTCP or Reno on a star or a fat tree.
 *
 * Why: a second, independent packet-level simulator to compare inasim with, in
 * flow completion times and in packet-hops per CPU second. README.md beside this
 * file says what is equal in both programs and what cannot be.
 *
 * ns-3 gives: TCP with DCTCP and ECN, IPv4, point-to-point links, queue discs,
 * the event queue. Own here: the topology, routing (ns-3.37 has ECMP per packet
 * only; here a hash of the flow chooses among equal paths), and two queue discs:
 * a FIFO that marks at a threshold of its instantaneous length (switches), and a
 * round robin over the flows without marking (hosts; --nic fifo: one queue). */
#include "ns3/core-module.h"
#include "ns3/drop-tail-queue.h"
#include "ns3/internet-module.h"
#include "ns3/ipv4-queue-disc-item.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/queue-disc.h"
#include "ns3/tcp-dctcp.h"
#include "ns3/tcp-linux-reno.h"
#include "ns3/traffic-control-layer.h"

#include <cinttypes>
#include <cstdio>
#include <deque>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <vector>

using namespace ns3;

namespace
{

const uint32_t FIRST_ADDRESS = 0x0a000001; // host h has 10.0.0.1 + h
const uint16_t SERVER_PORT = 9;
const uint16_t FIRST_CLIENT_PORT = 10000; // flow i comes from port 10000 + i
const uint32_t MAX_FLOWS = 55000;
const uint32_t SEGMENT_BYTES = 1460;

struct Options {
	std::string topology = "star";
	uint32_t hosts = 16;
	uint32_t k = 8;
	std::string rate = "10Gbps";
	std::string delay = "1us";
	uint32_t ecnPackets = 85;
	uint32_t bufferBytes = 1000000; // IP bytes
	uint32_t wireExtra = 36;        // 2 bytes of PPP + 36 = Ethernet with preamble and gap
	uint32_t maxWindow = 16 << 20;  // what a receiver offers
	std::string control = "dctcp";
	std::string nic = "turns";
	bool timestamps = false;
	uint32_t segment = SEGMENT_BYTES;
	uint32_t initialWindow = 10;
	std::string minRto = "10ms";
	bool sack = false;
	double handshakes = 0.02; // seconds before time 0 of the flows
	double until = 60;
	uint64_t seed = 1;
	std::string flows;
	std::string out = "-";
};

Options options;
uint64_t packetHops;

uint64_t Mix(uint64_t x) // splitmix64
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

/* Source and destination port, the first four bytes of a TCP segment. */
uint32_t Ports(Ptr<const Packet> segment)
{
	uint8_t b[4] = { 0 };
	segment->CopyData(b, sizeof b);
	return uint32_t(b[0]) << 24 | uint32_t(b[1]) << 16 | uint32_t(b[2]) << 8 | b[3];
}

/* FIFO; marks a packet that finds more than `ecnPackets` at its port. The port
 * holds this queue, one packet in the device queue and one being sent. */
class MarkingFifo : public QueueDisc
{
      public:
	static TypeId GetTypeId()
	{
		static TypeId tid = TypeId("peer::MarkingFifo")
					    .SetParent<QueueDisc>()
					    .AddConstructor<MarkingFifo>();
		return tid;
	}

	MarkingFifo() : QueueDisc(QueueDiscSizePolicy::NO_LIMITS)
	{
	}

      private:
	bool DoEnqueue(Ptr<QueueDiscItem> item) override
	{
		uint32_t before = GetNPackets() + 2;
		if (GetNBytes() + 2 * (SEGMENT_BYTES + 40) + item->GetSize() >
		    options.bufferBytes) {
			DropBeforeEnqueue(item, "buffer full");
			return false;
		}
		if (before > options.ecnPackets)
			Mark(item, "threshold");
		return GetInternalQueue(0)->Enqueue(item);
	}

	Ptr<QueueDiscItem> DoDequeue() override
	{
		return GetInternalQueue(0)->Dequeue();
	}

	bool CheckConfig() override
	{
		if (GetNInternalQueues() == 0)
			AddInternalQueue(CreateObjectWithAttributes<DropTailQueue<QueueDiscItem>>(
				"MaxSize", StringValue("1000000p")));
		return true;
	}

	void InitializeParams() override
	{
	}
};

/* Flows of a host take turns packet by packet. A socket sends its whole window here at once: what
 * waits for its turn is in flight for its sender. */
class RoundRobin : public QueueDisc
{
      public:
	static TypeId GetTypeId()
	{
		static TypeId tid = TypeId("peer::RoundRobin")
					    .SetParent<QueueDisc>()
					    .AddConstructor<RoundRobin>();
		return tid;
	}

	RoundRobin() : QueueDisc(QueueDiscSizePolicy::NO_LIMITS)
	{
	}

      private:
	bool DoEnqueue(Ptr<QueueDiscItem> item) override
	{
		uint32_t owner = options.nic == "fifo" ? 0 : Ports(item->GetPacket());
		auto place = m_queueOf.emplace(owner, GetNInternalQueues());
		std::size_t queue = place.first->second;
		if (place.second)
			AddInternalQueue(CreateObjectWithAttributes<DropTailQueue<QueueDiscItem>>(
				"MaxSize", StringValue("1000000p")));
		if (GetInternalQueue(queue)->GetNPackets() == 0)
			m_turns.push_back(queue);
		return GetInternalQueue(queue)->Enqueue(item);
	}

	Ptr<QueueDiscItem> DoDequeue() override
	{
		if (m_turns.empty())
			return nullptr;
		std::size_t queue = m_turns.front();
		m_turns.pop_front();
		Ptr<QueueDiscItem> item = GetInternalQueue(queue)->Dequeue();
		if (GetInternalQueue(queue)->GetNPackets() > 0)
			m_turns.push_back(queue);
		return item;
	}

	bool CheckConfig() override
	{
		return true;
	}

	void InitializeParams() override
	{
	}

	std::map<uint32_t, std::size_t> m_queueOf; // by ports
	std::deque<std::size_t> m_turns;           // queues that are not empty
};

struct Flow {
	uint32_t src = 0, dst = 0; // hosts
	uint64_t bytes = 0;
	double start = 0;
	int up[4] = { -1, -1, -1,
		      -1 }; // of its data at the edge and above, of its ACKs; -1: by hash
	Ptr<Socket> socket;
	bool connected = false;
	uint64_t sent = 0, received = 0;
	uint32_t timeouts = 0; // without those in a row
	Time finish;
};

std::vector<Flow> flows;

/* The up-port that was given for a segment with these ports; else -1. */
int UpOf(uint32_t ports, unsigned tier)
{
	bool data = (ports & 0xffff) == SERVER_PORT;
	uint32_t client = data ? ports >> 16 : ports & 0xffff;
	return flows[client - FIRST_CLIENT_PORT].up[data ? tier : 2 + tier];
}

/* Interface 0 is the loopback. A host sends everything by interface 1. A switch
 * has one way down for the hosts below it and any way up for the others. */
class PeerRouting : public Ipv4RoutingProtocol
{
      public:
	void SetHost(Ipv4Address address)
	{
		m_address = address;
	}

	void SetDown(uint32_t host, uint32_t interface)
	{
		if (m_down.size() <= host)
			m_down.resize(host + 1, 0);
		m_down[host] = interface;
	}

	void AddUp(uint32_t interface)
	{
		m_up.push_back(interface);
	}

	Ptr<Ipv4Route> RouteOutput(Ptr<Packet>, const Ipv4Header &, Ptr<NetDevice>,
				   Socket::SocketErrno &error) override
	{
		error = Socket::ERROR_NOTERROR;
		return Route(1);
	}

	bool RouteInput(Ptr<const Packet> p, const Ipv4Header &header, Ptr<const NetDevice> device,
			UnicastForwardCallback forward, MulticastForwardCallback,
			LocalDeliverCallback deliver, ErrorCallback) override
	{
		if (header.GetDestination() == m_address) {
			deliver(p, header, m_ipv4->GetInterfaceForDevice(device));
			return true;
		}
		uint32_t host = header.GetDestination().Get() - FIRST_ADDRESS;
		uint32_t interface = host < m_down.size() ? m_down[host] : 0;
		if (interface == 0) {
			if (m_up.empty())
				return false;
			uint64_t flow = uint64_t(header.GetSource().Get()) << 32 |
					header.GetDestination().Get();
			flow = Mix(flow ^ Mix(Ports(p) ^ Mix(options.seed)));
			int up = UpOf(Ports(p), m_tier);
			interface =
				m_up[(up < 0 ? Mix(flow ^ m_salt) : uint64_t(up)) % m_up.size()];
		}
		forward(Route(interface), p, header);
		return true;
	}

	void SetTier(unsigned tier)
	{
		m_tier = tier;
	}

	void SetIpv4(Ptr<Ipv4> ipv4) override
	{
		m_ipv4 = ipv4;
		m_salt = ipv4->GetObject<Node>()->GetId();
	}

	void NotifyInterfaceUp(uint32_t) override
	{
	}

	void NotifyInterfaceDown(uint32_t) override
	{
	}

	void NotifyAddAddress(uint32_t, Ipv4InterfaceAddress) override
	{
	}

	void NotifyRemoveAddress(uint32_t, Ipv4InterfaceAddress) override
	{
	}

	void PrintRoutingTable(Ptr<OutputStreamWrapper>, Time::Unit) const override
	{
	}

      private:
	Ptr<Ipv4Route> Route(uint32_t interface)
	{
		if (m_routes.size() <= interface)
			m_routes.resize(interface + 1);
		Ptr<Ipv4Route> &route = m_routes[interface];
		if (!route) {
			route = Create<Ipv4Route>();
			route->SetOutputDevice(m_ipv4->GetNetDevice(interface));
			route->SetSource(m_address);
			route->SetGateway(Ipv4Address::GetZero());
		}
		return route;
	}

	Ptr<Ipv4> m_ipv4;
	Ipv4Address m_address = Ipv4Address::GetAny();
	unsigned m_tier = 0;
	uint64_t m_salt = 0; // the choice of one switch says nothing about the next one's
	std::vector<uint32_t> m_down, m_up;
	std::vector<Ptr<Ipv4Route>> m_routes;
};

class Network
{
      public:
	std::vector<Ptr<Node>> hosts, switches;

	void BuildStar()
	{
		switches.push_back(AddNode());
		for (uint32_t h = 0; h < options.hosts; h++)
			AddHost(h, switches[0]);
	}

	/* Host h: pod h / (k*k/4), edge switch (h / (k/2)) mod k/2 of the pod. */
	void BuildFatTree()
	{
		uint32_t k = options.k, half = k / 2;
		std::vector<Ptr<Node>> core;
		for (uint32_t c = 0; c < half * half; c++)
			core.push_back(AddNode());
		for (uint32_t pod = 0; pod < k; pod++) {
			std::vector<Ptr<Node>> edge, aggregation;
			for (uint32_t i = 0; i < half; i++) {
				edge.push_back(AddNode());
				aggregation.push_back(AddNode());
			}
			uint32_t first = pod * half * half;
			for (uint32_t i = 0; i < half; i++)
				for (uint32_t j = 0; j < half; j++)
					AddHost(first + i * half + j, edge[i]);
			for (uint32_t i = 0; i < half; i++) {
				for (uint32_t j = 0; j < half; j++)
					Uplink(0, edge[i], aggregation[j], first + i * half, half);
				for (uint32_t j = 0; j < half; j++)
					Uplink(1, aggregation[i], core[i * half + j], first,
					       half * half);
			}
			switches.insert(switches.end(), edge.begin(), edge.end());
			switches.insert(switches.end(), aggregation.begin(), aggregation.end());
		}
		switches.insert(switches.end(), core.begin(), core.end());
	}

	void CountPacketHops()
	{
		for (auto &device : m_devices)
			device->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&Count));
	}

	uint64_t Drops() const
	{
		uint64_t n = 0;
		for (auto &queue : m_queues)
			n += queue->GetStats().nTotalDroppedPackets;
		return n;
	}

	uint64_t Marks() const
	{
		uint64_t n = 0;
		for (auto &queue : m_queues)
			n += queue->GetStats().nTotalMarkedPackets;
		return n;
	}

      private:
	static void Count(Ptr<const Packet>)
	{
		packetHops++;
	}

	static Ptr<PeerRouting> RoutingOf(Ptr<Node> node)
	{
		return DynamicCast<PeerRouting>(node->GetObject<Ipv4>()->GetRoutingProtocol());
	}

	Ptr<Node> AddNode()
	{
		Ptr<Node> node = CreateObject<Node>();
		InternetStackHelper stack;
		stack.SetIpv6StackInstall(false);
		stack.Install(node);
		node->GetObject<Ipv4>()->SetRoutingProtocol(CreateObject<PeerRouting>());
		return node;
	}

	uint32_t AddPort(Ptr<Node> node, Ptr<NetDevice> device, Ptr<QueueDisc> queue)
	{
		node->GetObject<TrafficControlLayer>()->SetRootQueueDiscOnDevice(device, queue);
		m_queues.push_back(queue);
		m_devices.push_back(device);
		return node->GetObject<Ipv4>()->AddInterface(device);
	}

	std::pair<uint32_t, uint32_t> Link(Ptr<Node> lower, Ptr<Node> upper,
					   Ptr<QueueDisc> lowerQueue)
	{
		DataRate rate(options.rate);
		PointToPointHelper helper;
		helper.SetDeviceAttribute("DataRate", DataRateValue(rate));
		helper.SetDeviceAttribute("InterframeGap",
					  TimeValue(rate.CalculateBytesTxTime(options.wireExtra)));
		helper.SetChannelAttribute("Delay", StringValue(options.delay));
		helper.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
		NetDeviceContainer ends = helper.Install(lower, upper);
		uint32_t low = AddPort(lower, ends.Get(0), lowerQueue);
		uint32_t up = AddPort(upper, ends.Get(1), CreateObject<MarkingFifo>());
		lower->GetObject<Ipv4>()->SetUp(low);
		upper->GetObject<Ipv4>()->SetUp(up);
		return { low, up };
	}

	void AddHost(uint32_t h, Ptr<Node> below)
	{
		Ptr<Node> host = AddNode();
		Ipv4Address address(FIRST_ADDRESS + h);
		auto ends = Link(host, below, CreateObject<RoundRobin>());
		host->GetObject<Ipv4>()->AddAddress(
			ends.first, Ipv4InterfaceAddress(address, Ipv4Mask::GetOnes()));
		RoutingOf(host)->SetHost(address);
		RoutingOf(below)->SetDown(h, ends.second);
		NS_ABORT_UNLESS(hosts.size() == h);
		hosts.push_back(host);
	}

	void Uplink(unsigned tier, Ptr<Node> lower, Ptr<Node> upper, uint32_t firstHost,
		    uint32_t count)
	{
		auto ends = Link(lower, upper, CreateObject<MarkingFifo>());
		RoutingOf(lower)->AddUp(ends.first);
		RoutingOf(lower)->SetTier(tier);
		for (uint32_t h = firstHost; h < firstHost + count; h++)
			RoutingOf(upper)->SetDown(h, ends.second);
	}

	std::vector<Ptr<NetDevice>> m_devices;
	std::vector<Ptr<QueueDisc>> m_queues;
};

uint32_t unfinished;

void Send(uint32_t i)
{
	Flow &flow = flows[i];
	while (flow.sent < flow.bytes && flow.socket->GetTxAvailable() > 0) {
		uint64_t left = flow.bytes - flow.sent;
		uint32_t room = flow.socket->GetTxAvailable();
		uint32_t size = uint32_t(std::min<uint64_t>({ left, room, 1460 * 256 }));
		int sent = flow.socket->Send(Create<Packet>(size));
		if (sent <= 0)
			return;
		flow.sent += uint64_t(sent);
	}
}

void Start(uint32_t i)
{
	NS_ABORT_MSG_UNLESS(flows[i].connected,
			    "flow " << i << ": handshake not finished at time 0");
	flows[i].socket->SetSendCallback(
		Callback<void, Ptr<Socket>, uint32_t>([i](Ptr<Socket>, uint32_t) { Send(i); }));
	Send(i);
}

void Lost(uint32_t i, TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t now)
{
	flows[i].timeouts += now == TcpSocketState::CA_LOSS;
}

void Connect(const Network &network, uint32_t i)
{
	Flow &flow = flows[i];
	flow.socket = Socket::CreateSocket(network.hosts[flow.src], TcpSocketFactory::GetTypeId());
	flow.socket->Bind(
		InetSocketAddress(Ipv4Address::GetAny(), uint16_t(FIRST_CLIENT_PORT + i)));
	flow.socket->SetConnectCallback(
		Callback<void, Ptr<Socket>>([i](Ptr<Socket>) { flows[i].connected = true; }),
		Callback<void, Ptr<Socket>>([](Ptr<Socket>) { NS_FATAL_ERROR("no connection"); }));
	flow.socket->TraceConnectWithoutContext("CongState", MakeBoundCallback(&Lost, i));
	flow.socket->Connect(InetSocketAddress(Ipv4Address(FIRST_ADDRESS + flow.dst), SERVER_PORT));
}

void Receive(uint32_t i, Ptr<Socket> socket)
{
	Flow &flow = flows[i];
	while (Ptr<Packet> packet = socket->Recv())
		flow.received += packet->GetSize();
	NS_ABORT_MSG_IF(flow.received > flow.bytes, "flow " << i << " received too much");
	if (flow.received == flow.bytes && flow.finish.IsZero()) {
		flow.finish = Simulator::Now();
		if (--unfinished == 0)
			Simulator::Stop();
	}
}

void Listen(Ptr<Node> host)
{
	Ptr<Socket> socket = Socket::CreateSocket(host, TcpSocketFactory::GetTypeId());
	socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), SERVER_PORT));
	socket->Listen();
	socket->SetAcceptCallback(
		MakeNullCallback<bool, Ptr<Socket>, const Address &>(),
		Callback<void, Ptr<Socket>, const Address &>([](Ptr<Socket> s,
								const Address &from) {
			uint32_t i =
				InetSocketAddress::ConvertFrom(from).GetPort() - FIRST_CLIENT_PORT;
			s->SetRecvCallback(
				Callback<void, Ptr<Socket>>([i](Ptr<Socket> r) { Receive(i, r); }));
		}));
}

void Fail(const std::string &message)
{
	std::cerr << "peer: " << message << "\n";
	exit(2);
}

void ReadFlows(uint32_t hosts)
{
	std::ifstream file(options.flows);
	if (!file)
		Fail("cannot read the flows '" + options.flows + "'");
	std::string line;
	for (uint32_t number = 1; std::getline(file, line); number++) {
		if (line.empty() || line[0] == '#')
			continue;
		Flow flow;
		std::istringstream fields(line);
		if (!(fields >> flow.src >> flow.dst >> flow.bytes >> flow.start))
			Fail(options.flows + ":" + std::to_string(number) +
			     ": want src dst bytes start_s [up-ports of data and of ACKs, at the "
			     "edge and above]");
		for (int &up : flow.up)
			if (!(fields >> up))
				up = -1;
		if (flow.src >= hosts || flow.dst >= hosts || flow.src == flow.dst ||
		    flow.bytes == 0 || flow.start < 0)
			Fail(options.flows + ":" + std::to_string(number) + ": value out of range");
		flows.push_back(flow);
	}
	if (flows.empty() || flows.size() > MAX_FLOWS)
		Fail("need 1 to " + std::to_string(MAX_FLOWS) + " flows");
}

void WriteFlows()
{
	FILE *out = options.out == "-" ? stdout : fopen(options.out.c_str(), "w");
	if (!out)
		Fail("cannot write '" + options.out + "'");
	fprintf(out, "flow,src,dst,bytes,start_s,timeouts,fct_s\n");
	for (size_t i = 0; i < flows.size(); i++) {
		const Flow &flow = flows[i];
		fprintf(out, "%zu,%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%.12g,%" PRIu32 ",", i,
			flow.src, flow.dst, flow.bytes, flow.start, flow.timeouts);
		if (!flow.finish.IsZero()) {
			Time fct = flow.finish - Seconds(options.handshakes) - Seconds(flow.start);
			fprintf(out, "%.12f", double(fct.GetPicoSeconds()) * 1e-12);
		}
		fprintf(out, "\n");
	}
	if (fflush(out) != 0 || (out != stdout && fclose(out) != 0))
		Fail("cannot write '" + options.out + "'");
}

double CpuSeconds()
{
	rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       1e-6 * double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

void SetDefaults()
{
	bool dctcp = options.control == "dctcp";
	Config::SetDefault("ns3::TcpL4Protocol::SocketType",
			   TypeIdValue(dctcp ? TcpDctcp::GetTypeId() : TcpLinuxReno::GetTypeId()));
	Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(options.segment));
	Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(options.initialWindow));
	Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
	Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(16 << 20));
	Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(options.maxWindow));
	Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(dctcp ? "On" : "Off"));
	Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(false));
	Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(options.sack));
	Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(options.timestamps));
	Config::SetDefault("ns3::TcpSocketBase::MinRto", StringValue(options.minRto));
	Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", StringValue("1us"));
	Config::SetDefault("ns3::RttEstimator::InitialEstimation", StringValue("100us"));
}

void ParseOptions(int argc, char **argv)
{
	CommandLine cmd(__FILE__);
	cmd.AddValue("topology", "star or fat-tree", options.topology);
	cmd.AddValue("hosts", "hosts of a star", options.hosts);
	cmd.AddValue("k", "ports of a switch of a fat tree", options.k);
	cmd.AddValue("rate", "of every link", options.rate);
	cmd.AddValue("delay", "of every link", options.delay);
	cmd.AddValue("ecn", "mark above so many packets at a switch port", options.ecnPackets);
	cmd.AddValue("buffer", "of a switch port, bytes of IP packets", options.bufferBytes);
	cmd.AddValue("wire-extra", "bytes a frame beyond 1500 + 2 that occupy the wire",
		     options.wireExtra);
	cmd.AddValue("max-window", "bytes that a receiver offers", options.maxWindow);
	cmd.AddValue("control", "dctcp or reno (without ECN)", options.control);
	cmd.AddValue("nic", "turns or fifo: what a host sends next", options.nic);
	cmd.AddValue("timestamps", "option of TCP, 12 bytes a segment", options.timestamps);
	cmd.AddValue("segment", "payload bytes of a full segment", options.segment);
	cmd.AddValue("initial-window", "segments", options.initialWindow);
	cmd.AddValue("min-rto", "least retransmission time-out", options.minRto);
	cmd.AddValue("sack", "selective acknowledgements", options.sack);
	cmd.AddValue("until", "give up after so many seconds of flow time", options.until);
	cmd.AddValue("seed", "of the choice among equal paths", options.seed);
	cmd.AddValue("flows", "file with lines: src dst bytes start_s", options.flows);
	cmd.AddValue("out", "CSV of flow completion times, - for stdout", options.out);
	cmd.Parse(argc, argv);
	if (options.topology != "star" && options.topology != "fat-tree")
		Fail("--topology is star or fat-tree");
	if (options.control != "dctcp" && options.control != "reno")
		Fail("--control is dctcp or reno");
	if (options.nic != "turns" && options.nic != "fifo")
		Fail("--nic is turns or fifo");
	if (options.k < 2 || options.k % 2 != 0)
		Fail("--k is even");
	if (options.hosts < 2)
		Fail("--hosts is at least 2");
}

} // namespace

int main(int argc, char **argv)
{
	Time::SetResolution(Time::PS); // 1502 bytes at 10 Gbps are 1201.6 ns
	ParseOptions(argc, argv);
	SetDefaults();

	double began = CpuSeconds();
	Network network;
	if (options.topology == "star")
		network.BuildStar();
	else
		network.BuildFatTree();
	ReadFlows(uint32_t(network.hosts.size()));
	unfinished = uint32_t(flows.size());
	for (auto &host : network.hosts)
		Listen(host);
	for (uint32_t i = 0; i < flows.size(); i++) {
		Time connect = Seconds(options.handshakes * 0.5 * i / double(flows.size()));
		Simulator::Schedule(connect, [&network, i] { Connect(network, i); });
		Simulator::Schedule(Seconds(options.handshakes) + Seconds(flows[i].start),
				    [i] { Start(i); });
	}
	double ready = 0;
	Simulator::Schedule(Seconds(options.handshakes) - PicoSeconds(1), [&network, &ready] {
		network.CountPacketHops();
		ready = CpuSeconds();
	});
	Simulator::Stop(Seconds(options.handshakes + options.until));
	Simulator::Run();

	double cpu = CpuSeconds() - ready;
	rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	WriteFlows();
	fprintf(stderr,
		"{ \"packet_hops\": %" PRIu64 ", \"cpu_s\": %.3f, \"packet_hops_per_cpu_s\": %.0f, "
		"\"setup_cpu_s\": %.3f, \"peak_rss_bytes\": %ld, \"events\": %" PRIu64 ", "
		"\"sim_time_s\": %.9f, \"drops\": %" PRIu64 ", \"ecn_marks\": %" PRIu64
		", \"flows\": %zu, \"finished\": %zu }\n",
		packetHops, cpu, cpu > 0 ? double(packetHops) / cpu : 0.0, ready - began,
		usage.ru_maxrss * 1024, Simulator::GetEventCount(),
		Simulator::Now().GetSeconds() - options.handshakes, network.Drops(),
		network.Marks(), flows.size(), flows.size() - unfinished);
	return unfinished == 0 ? 0 : 4;
}
