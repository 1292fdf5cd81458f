package conclave;

import java.lang.annotation.*;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.*;

/**
 * One process of an algorithm: a state machine that gets one event at a time and asks its {@link Env} for
 * effects. Extend it, implement Node.Mutex or Node.Elector, and override the methods of the events that the
 * algorithm wants: it never gets the others. Two processes share nothing that changes, so static fields are
 * constants.
 */
public abstract class Node {
    /** Marks an int of a message that numbers a process, from 1; 0 is none. */
    @Retention(RetentionPolicy.RUNTIME) @Target(ElementType.TYPE_USE) public @interface Id {}

    /** Marks an int or a long of a message that is never negative. */
    @Retention(RetentionPolicy.RUNTIME) @Target(ElementType.TYPE_USE) public @interface Uint {}

    /** The application wants to enter the critical section, see {@link Env#granted}; and it has left it. */
    public interface Mutex { void request(Env env); void release(Env env); }

    /** This process starts an election. A message alone can draw it into one, too. */
    public interface Elector { void elect(Env env); }

    /** What this process knows before the run. */
    protected final Config config;
    /** The number of this process, from 1. */
    protected final int id;

    protected Node(Config config) { this.config = config; id = config.id; }

    /** Comes before any other event, also after a recovery. */
    public void start(Env env) {}

    /** A message has arrived: a record of one of the kinds that the spec lists. */
    public abstract void receive(Env env, int from, Record message);

    /** A timer has expired. */
    public void timeout(Env env, String timer) {}

    /** The failure detector suspects a process. */
    public void suspect(Env env, int peer) {}

    /** The failure detector trusts a process again. */
    public void restore(Env env, int peer) {}

    /** A script calls an operation of the algorithm: the event "do". The target is 0 if it names none. */
    public void command(Env env, String op, int target) {}

    /** The local invariant that does not hold, in words; null if all hold. It is called after every event. */
    public String invariant() { return null; }

    /**
     * The whole state of this process: here, all fields of the subclasses that are not transient. They hold
     * numbers, strings, enums, records, lists, sets and maps, or you override this method.
     */
    public Map<String, ?> state() throws IllegalAccessException {
        var state = new TreeMap<String, Object>();
        for (Class<?> type = getClass(); type != Node.class; type = type.getSuperclass())
            for (var f : type.getDeclaredFields())
                if ((f.getModifiers() & (Modifier.STATIC | Modifier.TRANSIENT)) == 0 && f.trySetAccessible())
                    state.put(f.getName(), f.get(this));
        return state;
    }

    /** The values of parameters by their names. There is a method for each type that a spec gives them. */
    public interface Params {
        /** All, as JSON has them. */
        Map<?, ?> params();

        /** One, as JSON has it. */
        default Object value(String name) { return Objects.requireNonNull(params().get(name), "no " + name); }

        /** A "bool". */
        default boolean flag(String name) { return (boolean) value(name); }

        /** An "int". */
        default long integer(String name) { return (long) value(name); }

        /** A "float". */
        default double real(String name) { return ((Number) value(name)).doubleValue(); }

        /** A "duration". */
        default Duration duration(String name) { return Duration.ofNanos(integer(name)); }

        /** An "enum". */
        default String text(String name) { return (String) value(name); }
    }

    /**
     * What one process knows before the run. Processes are numbered from 1; 0 is none.
     *
     * @param id          this process
     * @param peers       all processes, ascending
     * @param neighbors   those to which it may send; on a ring in one direction, the successor alone
     * @param weights     of the links to the neighbors, in their order, if the algorithm needs them
     * @param ring        the order of the ring, if there is one
     * @param leader      settled before the start, or 0
     * @param leaderDown  whether that leader has crashed before the start
     * @param holder      of the token at the start, or 0
     * @param incarnation 0, and one more at every recovery
     * @param params      those of this process, for the methods of Params
     * @param all         those that differ between processes: see {@link #list}
     * @param saved       what it last saved, or null
     */
    public record Config(int id, List<Integer> peers, List<Integer> neighbors, List<Integer> weights,
            List<Integer> ring, int leader, boolean leaderDown, int holder, int incarnation,
            Map<?, ?> params, Map<?, ?> all, Record saved) implements Params {
        /** The values of a parameter at all processes, in the order of their numbers, as JSON has them. */
        public List<?> list(String name) {
            return all.get(name) instanceof List<?> l ? l : Collections.nCopies(peers.size(), value(name));
        }
    }

    /**
     * What the default of a parameter, and a doubt, may depend on.
     *
     * @param nodes   how many processes there are
     * @param latency d: the largest one-way latency, or its 99.9th percentile if it is not bounded
     * @param mean    the largest mean one-way latency of a link
     * @param bounded whether no latency exceeds that one
     * @param hold    the longest stay in the critical section
     */
    public record Network(int nodes, Duration latency, Duration mean, boolean bounded, Duration hold) {}

    /** All that a process can reach of its surroundings, during one event. Effects happen after it. */
    public final class Env {
        final List<Record> own = new ArrayList<>();
        private final Program.Request event;
        private StringJoiner effects = new StringJoiner(",", "[", "]");
        private SplittableRandom random;

        Env(Program.Request event) { this.event = event; }

        /** All effects, or null if there are none. There can be no more. */
        StringJoiner end() { var all = effects; effects = null; return all.length() > 2 ? all : null; }

        /** The local clock: the time since the run began. */
        public Duration now() { return Duration.ofNanos(event.now()); }

        /** The source of all that this event draws, if the spec has "draws". */
        public SplittableRandom random() {
            if (event.random() == null) throw new IllegalStateException("random() needs draws in the spec");
            if (random == null) random = new SplittableRandom(Long.parseUnsignedLong(event.random(), 16));
            return random;
        }

        /** The session that a request is for, or 0. */
        public int session() { return event.session(); }

        /** Sends a message to a neighbor; or to this process, which receives it right after the event. */
        public void send(int to, Record message) {
            if (own.size() == 1 << 16) throw new IllegalStateException("endless messages to oneself");
            if (to == id) own.add(message);
            else effect("send", to, "kind", Json.kind(message), "msg", Json.body(message));
        }

        /** Sends a message to all neighbors but this process, in their order. */
        public void broadcast(Record m) { for (int p : config.neighbors) if (p != id) send(p, m); }

        /** Sets a timer, or sets it again. */
        public void setTimer(String key, Duration d) { effect("set", key, "after", d.isNegative() ? 0 : d); }

        /** Cancels a timer, if it is set. */
        public void cancelTimer(String key) { effect("cancel", key); }

        /** This process enters the critical section. */
        public void granted() { effect("granted", true); }

        /** This process names a leader; 0: it no longer names one. */
        public void elected(int peer) { elected(peer, 0); }

        /** The same in a term, if elections have numbers. With leader 0 this process stands in that term. */
        public void elected(int peer, long term) { effect("elected", peer, "term", term == 0 ? null : term); }

        /** Keeps a record across a crash, for {@link Config#saved}. */
        public void save(Record record) { effect("save", Json.kind(record), "msg", Json.body(record)); }

        /** Writes a line to the trace. */
        public void log(String line) { effect("log", line); }

        /** What changes after the call does not change the effect. */
        private void effect(Object... members) {
            Objects.requireNonNull(effects, "the event is over").add(Json.write(Json.object(members)));
        }
    }
}
