package conclave;

import java.time.Duration;
import java.util.*;
import java.util.random.RandomGenerator;

/** All that a process can reach of its surroundings, during one event. Effects happen after it, in their order. */
public final class Env {
    final List<Json.Raw> effects = new ArrayList<>();
    final List<Record> own = new ArrayList<>();
    boolean over;
    private final Program program;
    private final Config config;
    private final Program.Request event;
    private RandomGenerator random;

    Env(Program program, Config config, Program.Request event) {
        this.program = program;
        this.config = config;
        this.event = event;
    }

    /** The local clock: the time since the run began. */
    public Duration now() { return event.now(); }

    /** The source of all that this event draws, if the {@link Spec} has draws = true. */
    public RandomGenerator random() {
        if (event.random() == null) throw new IllegalStateException("random numbers need draws = true in the Spec");
        if (random == null) random = new SplittableRandom(Long.parseUnsignedLong(event.random(), 16));
        return random;
    }

    /** The session that a request is for, or 0. */
    public int session() { return event.session(); }

    /** Sends a message to a neighbor; or to this process itself, which receives it right after the event. */
    public void send(int to, Record message) {
        if (own.size() == 1 << 16) throw new IllegalStateException("an endless loop of messages to oneself");
        if (to == config.id()) own.add(message);
        else effect("send", to, "kind", program.kind(message), "msg", body(message));
    }

    /** Sends a message to all neighbors but this process, in their order. */
    public void broadcast(Record message) {
        for (int p : config.neighbors()) if (p != config.id()) send(p, message);
    }

    /** Sets a timer, or sets it again. */
    public void setTimer(String timer, Duration after) { effect("set", timer, "after", Math.max(0, after.toNanos())); }

    /** Cancels a timer, if it is set. */
    public void cancelTimer(String timer) { effect("cancel", timer); }

    /** This process enters the critical section. */
    public void granted() { effect("granted", true); }

    /** This process names a leader; 0: it no longer names one. */
    public void elected(int leader) { elected(leader, 0); }

    /** The same in a term, if the algorithm numbers its elections. With leader 0 this process stands in that term. */
    public void elected(int leader, long term) { effect("elected", leader, "term", term == 0 ? null : term); }

    /** Keeps a record across a crash, for {@link Config#saved}. */
    public void save(Record record) { effect("save", program.kind(record), "msg", body(record)); }

    /** Writes a line to the trace. */
    public void log(String line) { effect("log", line); }

    private static Map<String, Object> body(Record record) {
        var members = Type.members(record);
        return members.isEmpty() ? null : members;
    }

    /** What changes after the call does not change the effect. */
    private void effect(Object... members) {
        if (over) throw new IllegalStateException("an Env is valid during one event");
        effects.add(new Json.Raw(Json.write(Json.object(members))));
    }
}
