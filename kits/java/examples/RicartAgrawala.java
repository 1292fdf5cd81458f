import conclave.Node;
import conclave.Program;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The permission algorithm of Ricart and Agrawala (CACM 1981).
 *
 * <p>A process that wants to enter asks all others and enters when all have replied. A process that wants to
 * enter itself, or is inside, compares the two requests: to the later one it replies only when it leaves.
 * Requests are ordered by the sequence number that each carries, one above the highest that its sender had
 * seen, and equal numbers by process. So of any two requests one waits for the other, and never both. There
 * is no RELEASE: the deferred replies take its place.
 */
public class RicartAgrawala extends Node implements Node.Mutex {
    private static final String SPEC = """
            {
              "summary": "ask all others; a process that asked earlier or is inside replies when it leaves",
              "paper": {
                "authors": "G. Ricart, A. K. Agrawala",
                "title": "An optimal algorithm for mutual exclusion in computer networks",
                "venue": "CACM 24(1), 9-17", "year": 1981, "doi": "10.1145/358527.358537",
                "deviations": "A REPLY names the request that it answers, and those that have replied are \
            kept as a set; the paper counts bare REPLYs. So duplicates change nothing. A process that comes \
            back numbers its requests beyond those of its former life."
              },
              "messages": ["REQUEST", "REPLY"],
              "survives": {"duplication": true},
              "promises": {"starvation_free": true},
              "breaks": "Any crash blocks it, also of a process that does not want to enter, and so does a \
            lost message: a process that asks afterwards lacks one reply forever."
            }""";

    /** Orders requests: by sequence number, and equal ones by process. */
    record Stamp(@Uint long number, @Id int id) {
        boolean before(Stamp other) {
            return number < other.number || number == other.number && id < other.id;
        }

        @Override public String toString() {
            return "{" + number + " " + id + "}";
        }
    }

    /** Asks its receiver for permission to enter. */
    record Request(Stamp stamp) {}

    /** Gives permission to the request that it names. */
    record Reply(Stamp stamp) {}

    /** Of the present request, otherwise of the last one. */
    private Stamp own = new Stamp(0, 0);
    /** The highest sequence number seen in any request. */
    private long highest;
    /** From the request until the release. */
    private boolean requesting;
    /** Whose replies are still to come: the paper's Outstanding_Reply_Count is its size. */
    private final SortedSet<Integer> needed = new TreeSet<>();
    /** Requests to be answered at the release. */
    private final List<Stamp> deferred = new ArrayList<>();

    /**
     * A process starts with no number seen. One that comes back from a crash counts on beyond its former
     * life, or its requests would come before those inside.
     */
    RicartAgrawala(Config config) {
        super(config);
        highest = (long) config.incarnation() << 32;
    }

    /** Rule 1: choose a number above all that were seen, and ask. */
    @Override public void request(Env env) {
        requesting = true;
        own = new Stamp(highest + 1, id);
        needed.addAll(config.peers());
        needed.remove(id);
        env.broadcast(new Request(own));
        enterIfAllowed(env);
    }

    /** Rule 4: the answers that others have been waiting for. */
    @Override public void release(Env env) {
        requesting = false;
        for (Stamp stamp : deferred) env.send(stamp.id, new Reply(stamp));
        deferred.clear();
    }

    @Override public void receive(Env env, int from, Record message) {
        if (message instanceof Request request) onRequest(env, request.stamp);
        else if (message instanceof Reply reply) onReply(env, from, reply.stamp);
    }

    /**
     * Rule 2. What counts is the number of the own request, not the highest seen since. Inside the critical
     * section, too: whatever comes before the own request was over when its sender replied.
     */
    private void onRequest(Env env, Stamp stamp) {
        highest = Math.max(highest, stamp.number);
        if (requesting && comesFirst(own, stamp)) deferred.add(stamp);
        else env.send(stamp.id, new Reply(stamp));
    }

    /** Whether the own request comes before that of another process. */
    boolean comesFirst(Stamp own, Stamp other) {
        return own.before(other);
    }

    /** Rule 3. A reply to an earlier request changes nothing. */
    private void onReply(Env env, int from, Stamp stamp) {
        if (stamp.equals(own) && needed.remove(from)) enterIfAllowed(env);
    }

    private void enterIfAllowed(Env env) {
        if (needed.isEmpty()) env.granted();
    }

    /**
     * What the paper's proof rests on: only a requester waits or makes others wait, and those come after it.
     */
    @Override public String invariant() {
        if (!requesting && needed.size() + deferred.size() > 0) return "not requesting, but replies are due";
        for (Stamp stamp : deferred)
            if (!own.before(stamp)) return "request " + stamp + " is deferred, but comes before ours, " + own;
        return null;
    }

    static Program program() {
        return new Program(SPEC, RicartAgrawala.class, RicartAgrawala::new);
    }

    public static void main(String[] args) throws IOException {
        program().serve();
    }
}
