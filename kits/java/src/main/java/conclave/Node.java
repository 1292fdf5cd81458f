package conclave;

import java.lang.annotation.*;
import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.TreeMap;

/**
 * One process of an algorithm: a state machine that gets one event at a time and asks its {@link Env} for effects.
 * Extend it, implement {@link Mutex} or {@link Elector}, annotate the class with {@link Spec}, give it a constructor
 * with a {@link Config}, and override the methods of the events that the algorithm wants: it never gets the others.
 * Two processes share nothing that changes, so static fields are constants.
 */
public abstract class Node {
    /** Marks an int of a message that numbers a process, from 1; 0 is none. */
    @Retention(RetentionPolicy.RUNTIME) @Target(ElementType.TYPE_USE) public @interface Id {}

    /** Marks an int or a long of a message that is never negative. */
    @Retention(RetentionPolicy.RUNTIME) @Target(ElementType.TYPE_USE) public @interface Uint {}

    /** What this process knows before the run. */
    protected final Config config;
    /** The number of this process, from 1. */
    protected final int id;

    protected Node(Config config) {
        this.config = config;
        id = config.id();
    }

    /** Comes before any other event, also after a recovery. */
    public void start(Env env) {}

    /** A message has arrived: a record of one of the classes that {@link Spec#messages} lists. */
    public abstract void receive(Env env, int from, Record message);

    /** A timer has expired. */
    public void timeout(Env env, String timer) {}

    /** The failure detector suspects a process. */
    public void suspect(Env env, int peer) {}

    /** The failure detector trusts a process again. */
    public void restore(Env env, int peer) {}

    /** A script calls an operation of the algorithm's own: the event "do". The target is 0 if it names no process. */
    public void command(Env env, String op, int target) {}

    /** The local invariant that does not hold, in words; null if all hold. It is called after every event. */
    public String invariant() { return null; }

    /**
     * The whole state of this process: here, all fields of the subclasses that are not transient. They hold numbers,
     * strings, enums, records, lists, sets and maps, or you override this method.
     */
    public Map<String, ?> state() throws IllegalAccessException {
        var state = new TreeMap<String, Object>();
        for (Class<?> type = getClass(); type != Node.class; type = type.getSuperclass())
            for (var field : type.getDeclaredFields()) {
                if ((field.getModifiers() & (Modifier.STATIC | Modifier.TRANSIENT)) != 0) continue;
                field.setAccessible(true);
                state.put(field.getName(), field.get(this));
            }
        return state;
    }
}
