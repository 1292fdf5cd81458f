package conclave;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Runs an algorithm in memory, without Conclave, for its unit tests. The methods of events hand one event to
 * a process and return its effects; {@link #run} delivers what was sent. Links keep the order of messages.
 * Messages take no time: only timers advance the clock. What fails in a process, and what it declares broken,
 * is an AssertionError here.
 */
public final class Driver {
    /** What a process asked for. */
    public sealed interface Effect {}
    public record Sent(int to, Record message) implements Effect {}
    public record TimerSet(String timer, Duration after) implements Effect {}
    public record TimerCancelled(String timer) implements Effect {}
    public record Granted() implements Effect {}
    public record Elected(int leader, long term) implements Effect {}
    public record Saved(Record record) implements Effect {}
    public record Logged(String line) implements Effect {}

    /** A message under way. */
    public record Transit(int from, int to, Record message) {}

    private record Timer(int process, String name) {}

    private static final int MOST_EVENTS = 100_000;

    private final Program program;
    private final int nodes;
    private final Map<String, List<?>> params = new LinkedHashMap<>();
    private final List<Transit> transit = new ArrayList<>();
    private final Map<Timer, Duration> timers = new LinkedHashMap<>();
    private final Map<Integer, Long> processes = new TreeMap<>();
    private final Map<Integer, Integer> incarnations = new HashMap<>();
    private final Map<Integer, Map<String, Object>> saved = new HashMap<>();
    private final Map<Integer, Integer> leaders = new HashMap<>();
    private final Set<Integer> inside = new LinkedHashSet<>();
    private SplittableRandom random = new SplittableRandom(1);
    private Duration latency = Duration.ofMillis(1);
    private Duration now = Duration.ZERO;
    private int leader;
    private boolean leaderDown;
    private long requests;

    /** Processes 1 to nodes; they begin with the first event. */
    public Driver(Program program, int nodes) {
        this.program = program;
        this.nodes = nodes;
    }

    /** Sets a parameter to a Boolean, number, Duration or String, before the first event. */
    public Driver set(String parameter, Object value) { return setEach(parameter, List.of(value)); }

    /** Sets a parameter to a value for each process, before the first event. */
    public Driver setEach(String parameter, List<?> values) {
        params.put(parameter, values);
        return this;
    }

    /** The leader before the first event, which may have crashed since. Without it, there is none. */
    public Driver leader(int leader, boolean down) {
        this.leader = leader;
        leaderDown = down;
        return this;
    }

    /** The largest latency, from which defaults of parameters follow. Without it, 1 ms. */
    public Driver latency(Duration latency) {
        this.latency = latency;
        return this;
    }

    /** What random numbers follow from. Without it, 1. */
    public Driver seed(long seed) {
        random = new SplittableRandom(seed);
        return this;
    }

    public List<Effect> receive(int process, int from, Record message) {
        return event(process, "receive", "from", from, "kind", Json.kind(message), "msg", message);
    }

    public List<Effect> timeout(int process, String timer) {
        timers.remove(new Timer(process, timer));
        return event(process, "timeout", "timer", timer);
    }

    public List<Effect> request(int process) { return event(process, "request"); }

    public List<Effect> release(int process) {
        inside.remove(process);
        return event(process, "release");
    }

    public List<Effect> elect(int process) { return event(process, "elect"); }

    public List<Effect> suspect(int process, int peer) { return event(process, "suspect", "peer", peer); }

    public List<Effect> restore(int process, int peer) { return event(process, "restore", "peer", peer); }

    /** The event "do"; target is 0 if it names no process. */
    public List<Effect> command(int process, String op, int target) {
        return event(process, "do", "op", op, "target", target == 0 ? null : target);
    }

    /** Stops a process. Messages to it are lost from now on. */
    public void crash(int process) {
        begin();
        ask("drop", "process", processes.remove(process));
        timers.keySet().removeIf(timer -> timer.process == process);
        inside.remove(process);
        leaders.remove(process);
    }

    /** Has a process that crashed come back with what it saved. */
    public List<Effect> recover(int process) {
        incarnations.merge(process, 1, Integer::sum);
        return begin(process);
    }

    /** Delivers the message that has been under way longest; false if there is none. */
    public boolean deliver() {
        if (transit.isEmpty()) return false;
        Transit first = transit.remove(0);
        if (processes.containsKey(first.to)) receive(first.to, first.from, first.message);
        return true;
    }

    /** Delivers all messages, and those that are sent meanwhile; no timer expires. */
    public void deliverAll() {
        for (int events = 0; deliver(); events++)
            if (events == MOST_EVENTS) throw new AssertionError("more than " + MOST_EVENTS + " messages");
    }

    /**
     * Delivers all messages, then has the next timer expire, and so on up to the time since the first event.
     */
    public void run(Duration until) {
        begin();
        for (int events = 0; ; events++) {
            if (events == MOST_EVENTS) throw new AssertionError("more than " + events + " timers expire");
            deliverAll();
            if (timers.isEmpty()) return;
            var next = Collections.min(timers.entrySet(), Map.Entry.comparingByValue());
            if (next.getValue().compareTo(until) > 0) return;
            now = next.getValue();
            timeout(next.getKey().process, next.getKey().name);
        }
    }

    /** Runs until no message is under way and no timer is set. */
    public void run() { run(Duration.ofDays(1)); }

    /** The messages under way, the oldest first. The test may remove some, or change their order. */
    public List<Transit> transit() { return transit; }

    /** The processes in the critical section, in the order in which they entered. */
    public List<Integer> inside() { return List.copyOf(inside); }

    /** The leader that a live process names; 0: none. */
    public int leader(int process) { return leaders.getOrDefault(process, 0); }

    /** The time of the last timer that expired in {@link #run}. */
    public Duration now() { return now; }

    /** The state of a process as a trace shows it. */
    @SuppressWarnings("unchecked")
    public Map<String, Object> state(int process) {
        begin();
        return (Map<String, Object>) ask("state", "process", processes.get(process)).get("state");
    }

    private List<Integer> peers() { return IntStream.rangeClosed(1, nodes).boxed().toList(); }

    private void begin() {
        if (requests > 0) return;
        ask("describe", "protocols", List.of(1));
        for (int p : peers()) if (p != leader || !leaderDown) begin(p);
    }

    private List<Effect> begin(int process) {
        processes.put(process, requests);
        boolean first = !incarnations.containsKey(process);
        var values = values();
        var own = new LinkedHashMap<String, Object>();
        values.forEach((name, list) -> own.put(name, list.get(list.size() == 1 ? 0 : process - 1)));
        values.values().removeIf(list -> list.size() == 1);
        var needs = (Map<?, ?>) program.spec.getOrDefault("needs", Map.of());
        String topology = String.valueOf(needs.get("topology"));
        int next = process % nodes + 1;
        int previous = (process + nodes - 2) % nodes + 1;
        ask("new", "process", processes.get(process), "saved", saved.get(process), "config", Json.object(
                "id", process, "peers", peers(), "neighbors", topology.equals("ring") ? List.of(next)
                        : topology.equals("bidirectional-ring") ? List.of(previous, next) : peers(),
                "ring", topology.endsWith("ring") ? peers() : null,
                "leader", first && leader > 0 ? leader : null,
                "leader_down", first && leaderDown ? true : null,
                "incarnation", incarnations.get(process), "params", own, "all", values));
        return event(process, "start");
    }

    /** The values of the parameters: those that are set, or else the defaults. */
    private Map<String, List<?>> values() {
        var values = new LinkedHashMap<String, List<?>>();
        var before = new LinkedHashMap<String, Object>();
        var network = Json.object("nodes", nodes, "latency", latency, "mean", latency, "bounded", true,
                "hold", 0);
        for (Object declared : (List<?>) program.spec.getOrDefault("parameters", List.of())) {
            var parameter = (Map<?, ?>) declared;
            var name = (String) parameter.get("name");
            var value = params.containsKey(name) ? params.get(name)
                    : List.of(parameter.containsKey("default") ? parameter.get("default")
                    : ask("default", "parameter", name, "params", before, "network", network).get("value"));
            values.put(name, value);
            before.put(name, value.get(0));
        }
        return values;
    }

    private List<Effect> event(int process, String on, Object... members) {
        begin();
        if (!processes.containsKey(process)) throw new AssertionError("process " + process + " is down");
        var request = Json.object(members);
        request.putAll(Json.object("process", processes.get(process), "now", now));
        if (program.spec.get("draws") == Boolean.TRUE)
            request.put("random", String.format("%016x", random.nextLong()));
        var answer = ask(on, request);
        Object broken = answer.get("broken");
        if (broken != null) throw new AssertionError("process " + process + ": " + broken);
        var effects = new ArrayList<Effect>();
        for (Object effect : (List<?>) answer.getOrDefault("effects", List.of()))
            effects.add(happen(process, (Map<?, ?>) effect));
        return effects;
    }

    private Effect happen(int process, Map<?, ?> e) {
        if (e.get("send") instanceof Long to) {
            Record message = program.message(e.get("kind"), e.get("msg"));
            transit.add(new Transit(process, to.intValue(), message));
            return new Sent(to.intValue(), message);
        }
        if (e.get("set") instanceof String timer) {
            Duration after = Duration.ofNanos((Long) e.get("after"));
            timers.remove(new Timer(process, timer));
            timers.put(new Timer(process, timer), now.plus(after));
            return new TimerSet(timer, after);
        }
        if (e.get("cancel") instanceof String timer) {
            timers.remove(new Timer(process, timer));
            return new TimerCancelled(timer);
        }
        if (e.get("elected") instanceof Long leader) {
            leaders.put(process, leader.intValue());
            return new Elected(leader.intValue(), e.get("term") instanceof Long term ? term : 0);
        }
        if (e.get("save") instanceof String kind) {
            saved.put(process, Json.object("kind", kind, "msg", e.get("msg")));
            return new Saved(program.message(kind, e.get("msg")));
        }
        if (e.get("log") instanceof String line) return new Logged(line);
        inside.add(process);
        return new Granted();
    }

    private Map<String, Object> ask(String on, Object... members) { return ask(on, Json.object(members)); }

    /** Asks as Conclave does, so that all passes through JSON. */
    private Map<String, Object> ask(String on, Map<String, Object> members) {
        members.putAll(Map.of("n", ++requests, "on", on));
        Map<String, Object> answer = Json.read(program.answer(Json.write(members)));
        if (answer.containsKey("failed")) throw new AssertionError(answer.get("failed"));
        return answer;
    }
}
