import conclave.Node;
import conclave.Program;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The election of Garcia-Molina (IEEE ToC 1982) as textbooks and lecture notes teach it, not as the paper has
 * it: by estimate, without halting and reorganizing the others. Comments cite the numbered rules of that
 * form.
 *
 * <p>A process that misses the coordinator asks all of higher rank. If none answers within T it announces
 * itself to all of lower rank. If one answers, it leaves the election to that one and waits, for T' at most,
 * for the announcement of the winner. A process that is asked answers and holds an election of its own, so
 * the live process of highest rank wins. This relies on known delays: an answer later than T leads to a
 * second coordinator.
 */
public final class Bully extends Node implements Node.Elector {
    private static final String SPEC = """
            {
              "summary": "ask all of higher rank; if none answers in time, announce yourself",
              "paper": {
                "authors": "H. Garcia-Molina",
                "title": "Elections in a distributed computing system",
                "venue": "IEEE Transactions on Computers C-31(1), 48-59", "year": 1982,
                "doi": "10.1109/TC.1982.1675885",
                "deviations": "This is the textbook form (Coulouris et al., section 15.3; lecture notes), \
            and messages are counted by it. In the paper a process is down, or in the state Election, \
            Reorganization or Normal. A process that holds an election asks those of higher rank in turn \
            whether they are there, and stops at the first that answers; that one does not hold an election \
            because it was asked. If none answers, it HALTs all of lower rank before it announces itself to \
            those that heed it, and makes them READY when they are reorganized. Here all of higher rank are \
            asked at once, a process that is asked holds an election, and a single COORDINATOR ends it. Ours \
            differs from that form, too: ranks are pairs (est, ID), since estimates may be equal. Answers \
            name the attempt that they answer. A process that is electing answers but does not start again \
            (suppress_duplicates; false is the literal text, with a number of messages exponential in n). A \
            coordinator that is asked announces itself to all of lower rank again (coordinator_reply; \
            unicast: to the asker alone). If a process of lower rank announces itself within T after one of \
            higher rank, a process that hears both holds an election: the two announcements may be a race \
            between a process that came back and one that did not know of it."
              },
              "messages": ["ELECTION", "ANSWER", "COORDINATOR"],
              "timers": ["T", "T of attempt *", "T'"],
              "parameters": [
                {"name": "t_answer", "type": "duration", "min": 0, "asks": true,
                  "doc": "T, how long to wait for an answer; default 3d + 20 ms, d the largest latency"},
                {"name": "t_coordinator", "type": "duration", "min": 0, "asks": true,
                  "doc": "T', how long to wait for the announcement after an answer; default T + 3d + 20 ms"},
                {"name": "suppress_duplicates", "type": "bool", "default": true,
                  "doc": "a process that is electing does not start again when asked"},
                {"name": "coordinator_reply", "type": "enum", "choices": ["broadcast", "unicast"],
                  "default": "broadcast",
                  "doc": "to which processes a coordinator that is asked announces itself"},
                {"name": "est", "type": "int", "default": 0, "per_process": true,
                  "doc": "estimate: the rank's first part, the ID is its second"}
              ],
              "needs": {"synchrony": "synchronous", "detector": "eventually perfect"},
              "survives": {"crashes": "all but one", "recovery": true},
              "promises": {"announced": true, "leadership": "eventual", "highest": true, "live": "steady"},
              "breaks": "Delays above the bound, or a partition, make several coordinators: one in each \
            part, or one for each process whose answers come too late. A heal alone does not end it: a \
            process must start an election."
            }""";

    /**
     * One election of one process across its crashes, so that an answer to an earlier one is not taken for an
     * answer to this one.
     */
    record Attempt(@Uint int incarnation, @Uint int count) {}

    /** Asks a process of higher rank whether it is alive. */
    record Election(Attempt attempt) {}

    /** Says that its sender is, in answer to the attempt. */
    record Answer(Attempt attempt) {}

    /** Announces its sender. */
    record Coordinator() {}

    /** Electing: ELECTION is out, no answer yet. Waiting: one of higher rank answered. */
    private enum Status { IDLE, ELECTING, WAITING }

    /** That a process is the coordinator. */
    private record Announcement(int from, Duration at) {}

    private static final String COORDINATOR_TIMER = "T'";

    private final Duration t = config.duration("t_answer");
    private final Duration tPrime = config.duration("t_coordinator");
    private final boolean suppress = config.flag("suppress_duplicates");
    private final boolean unicast = config.text("coordinator_reply").equals("unicast");
    private final transient List<?> estimates = config.list("est");
    private Status status = Status.IDLE;
    private int coordinator = config.leader();
    /** Those of the last T, believed or not. */
    private final List<Announcement> heard = new ArrayList<>();
    /** How many were made so far in this incarnation. */
    private int attempts;
    /** Attempts without an answer: with suppression, one at most. */
    private final List<Integer> open = new ArrayList<>();

    Bully(Config config) {
        super(config);
    }

    /** Whether p ranks above q: by estimate, then by ID. */
    private boolean above(int p, int q) {
        int byEstimate = Long.compare((Long) estimates.get(p - 1), (Long) estimates.get(q - 1));
        return byEstimate > 0 || byEstimate == 0 && p > q;
    }

    /** Rule 1: a suspicion, or a withdrawn one, starts an election unless one is in progress here. */
    @Override public void elect(Env env) {
        if (status == Status.IDLE) hold(env);
    }

    /** Rule 7: a process that comes back holds an election, and so displaces a coordinator of lower rank. */
    @Override public void start(Env env) {
        if (config.incarnation() > 0) hold(env);
    }

    @Override public void receive(Env env, int from, Record message) {
        if (message instanceof Election election) onElection(env, from, election.attempt);
        else if (message instanceof Answer answer) onAnswer(env, answer.attempt);
        else if (message instanceof Coordinator) onCoordinator(env, from);
    }

    @Override public void timeout(Env env, String timer) {
        if (timer.equals(COORDINATOR_TIMER)) hold(env); // rule 5: one that answered has died
        else onSilence(env, timer);
    }

    /**
     * The body of rule 1. The suspect is asked as well: were it not, the process next to it in rank would
     * wait for nobody.
     */
    private void hold(Env env) {
        attempts++;
        List<Integer> higher = config.peers().stream().filter(p -> above(p, id)).toList();
        for (int p : higher) env.send(p, new Election(new Attempt(config.incarnation(), attempts)));
        if (higher.isEmpty()) {
            declare(env);
            return;
        }
        status = Status.ELECTING;
        coordinator = 0;
        env.elected(0);
        open.add(attempts);
        env.setTimer(answerTimer(attempts), t);
    }

    /** Rule 2: answer always; hold an election only if idle. */
    private void onElection(Env env, int from, Attempt attempt) {
        env.send(from, new Answer(attempt));
        if (status != Status.IDLE && suppress) return;
        if (coordinator == id && unicast) env.send(from, new Coordinator());
        else hold(env);
    }

    /** Rule 3: leave the election to the process that answered. */
    private void onAnswer(Env env, Attempt to) {
        if (to.incarnation != config.incarnation() || !open.contains(to.count)) return; // an earlier attempt
        open.remove((Integer) to.count);
        env.cancelTimer(answerTimer(to.count));
        status = Status.WAITING;
        env.setTimer(COORDINATOR_TIMER, tPrime);
    }

    /** Rule 4: T is over and nobody of higher rank answered. */
    private void onSilence(Env env, String timer) {
        open.removeIf(attempt -> answerTimer(attempt).equals(timer));
        declare(env);
    }

    /** Makes this process the coordinator, which tells those of lower rank. */
    private void declare(Env env) {
        status = Status.IDLE;
        coordinator = id;
        env.cancelTimer(COORDINATOR_TIMER);
        env.elected(id);
        for (int p : config.peers()) if (above(id, p)) env.send(p, new Coordinator());
    }

    /**
     * Rule 6. One of lower rank that announces itself is bullied. If one of higher rank did so within T, the
     * two messages raced each other: an election tells which of the two is alive.
     */
    private void onCoordinator(Env env, int from) {
        if (raced(from, env.now()) || above(id, from)) {
            elect(env);
            return;
        }
        status = Status.IDLE;
        coordinator = from;
        for (int attempt : open) env.cancelTimer(answerTimer(attempt));
        open.clear();
        env.cancelTimer(COORDINATOR_TIMER);
        env.elected(from);
    }

    /** Notes that p announces itself, and says whether one above p did so less than T ago. */
    private boolean raced(int p, Duration now) {
        heard.removeIf(a -> a.from == p || now.minus(a.at).compareTo(t) >= 0);
        heard.add(new Announcement(p, now));
        return heard.stream().anyMatch(a -> above(a.from, p));
    }

    /** T of one attempt. With suppression there is but one at a time. */
    private String answerTimer(int attempt) {
        return suppress ? "T" : "T of attempt " + attempt;
    }

    /**
     * With suppression there is one attempt at a time, and a process that takes part in it follows none. A
     * process that has taken part in one follows none below itself.
     */
    @Override public String invariant() {
        if (suppress && (status == Status.ELECTING) != (open.size() == 1))
            return "status " + status.ordinal() + " with " + open.size() + " attempts without an answer";
        if (suppress && status != Status.IDLE && coordinator != 0)
            return "status " + status.ordinal() + " but follows " + coordinator;
        if (status == Status.IDLE && attempts > 0 && above(id, coordinator))
            return "follows " + coordinator + " after attempt " + attempts;
        return null;
    }

    static Program program() {
        return new Program(SPEC, Bully.class, Bully::new, Timeouts.class) {
            @Override public Object preset(String parameter, Network network, Params before) {
                Duration roundTrip = Timeouts.roundTrip(network);
                return parameter.equals("t_answer") ? roundTrip : before.duration("t_answer").plus(roundTrip);
            }

            @Override public String doubt(Network network, Params params) {
                return Timeouts.doubt(network, params, "t_answer", "t_coordinator");
            }
        };
    }

    public static void main(String[] args) throws IOException {
        program().serve();
    }
}
