import conclave.Node;
import conclave.Program;
import java.io.IOException;

/**
 * The election on a ring of Chang and Roberts (CACM 1979).
 *
 * <p>A process that wants an election sends its ID round the ring, in one direction. A process that takes
 * part itself passes larger IDs on, and swallows smaller ones. So the largest comes round, and its process
 * leads. It says so in a second lap. How many messages that takes depends on the order of the IDs: about
 * twice N if they ascend in the direction of the messages, half of N squared if they descend, and N times the
 * N-th harmonic number on average.
 */
public final class ChangRoberts extends Node implements Node.Elector {
    private static final String SPEC = """
            {
              "summary": "on a ring; each passes larger IDs on, so that the largest returns to its sender",
              "paper": {
                "authors": "E. Chang, R. Roberts",
                "title": "An improved algorithm for decentralized extrema-finding in circular configurations \
            of processes",
                "venue": "CACM 22(5), 281-283", "year": 1979, "doi": "10.1145/359104.359108",
                "deviations": "With mode initiators-only, a process that has passed an ID on does not want \
            to lead any more. With mode join, it puts its own ID in place of a smaller one, so that the \
            largest of all processes leads. There is one election: a later request for another is ignored."
              },
              "messages": ["PROBE", "ELECTED"],
              "parameters": [
                {"name": "mode", "type": "enum", "choices": ["initiators-only", "join"],
                  "default": "initiators-only",
                  "doc": "which processes may lead: those that wanted an election, or all"},
                {"name": "relay_makes_passive", "type": "bool", "default": true,
                  "doc": "a process that has passed an ID on does not want to lead any more; without this \
            rule two may"}
              ],
              "needs": {"topology": "ring"},
              "promises": {"announced": true, "leadership": "at most one"},
              "breaks": "Any crash opens the ring, and a lost message is not sent again: no process leads, \
            or some never learn of the leader."
            }""";

    /** Goes round the ring with the ID of the process that wants to lead. */
    record Probe(@Id int id) {}

    /** Goes round with the leader's ID. */
    record Elected(@Id int id) {}

    private final boolean join = config.text("mode").equals("join");
    /** It does not want to lead once it has passed an ID on. */
    private final boolean passive = config.flag("relay_makes_passive");
    /** Part in the election, if only by passing an ID on. */
    private boolean taken;
    /** The own ID went out. */
    private boolean candidate;
    /** The process that leads. */
    private int told;

    ChangRoberts(Config config) {
        super(config);
    }

    /** Sends the own ID out, unless it is too late. */
    @Override public void elect(Env env) {
        if (taken) return;
        taken = true;
        candidate = true;
        env.send(next(), new Probe(id));
    }

    @Override public void receive(Env env, int from, Record message) {
        if (message instanceof Probe probe) onProbe(env, probe.id);
        else if (message instanceof Elected elected) announce(env, elected.id);
    }

    private void onProbe(Env env, int probe) {
        if (probe == id) { // it has come round
            announce(env, id);
        } else if (probe < id && candidate) {
            // swallowed
        } else if (probe < id && join && !taken) {
            elect(env);
        } else {
            taken |= passive;
            env.send(next(), new Probe(probe));
        }
    }

    /**
     * Names the leader and passes that on: the lap begins, or continues. It ends where it began, since that
     * process knows the leader; or, if a second election ran anyway, where the lap of a larger ID has already
     * passed.
     */
    private void announce(Env env, int leader) {
        if (leader <= told) return;
        told = leader;
        env.elected(leader, 1);
        env.send(next(), new Elected(leader));
    }

    /** The successor on the ring. */
    private int next() {
        return config.neighbors().get(config.neighbors().size() - 1);
    }

    static Program program() {
        return new Program(SPEC, ChangRoberts.class, ChangRoberts::new) {
            /** Two may lead without the rule that makes a process passive. */
            @Override public String doubt(Network network, Params params) {
                return params.flag("relay_makes_passive") ? null
                        : "relay_makes_passive is false: a process whose ID comes behind that of the "
                        + "winner wins too";
            }
        };
    }

    public static void main(String[] args) throws IOException {
        program().serve();
    }
}
