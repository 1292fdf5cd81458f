package conclave;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.*;
import java.net.URI;
import java.util.*;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The program of one algorithm, which answers the requests of Conclave: see docs/reference/protocol.md.
 * Override {@link #preset} and {@link #doubt} if the algorithm has parameters that need them.
 */
public class Program {
    /** All keys that requests have; those that one has not are 0, false, empty or null. */
    record Request(String on, Long process, Long now, String random, String timer, int from, int peer,
            int session, String kind, Map<?, ?> msg, String op, int target, Node.Config config,
            String parameter, Node.Network network, Map<?, ?> params) implements Node.Params {}

    final Map<String, Object> spec;
    private final Function<Node.Config, ? extends Node> constructor;
    private final Map<Object, Json.Form> kinds = new HashMap<>();
    private final Map<Long, Node> nodes = new HashMap<>();

    /**
     * The spec is JSON as that page has it. The kit adds the problem, what the class handles, and the files.
     * Messages are names of kinds: NEW_LEADER is the record NewLeader in the class, in one that it extends,
     * or in a helper. Helpers are the other classes that the algorithm consists of.
     */
    public <N extends Node> Program(String spec, Class<N> type, Function<Node.Config, N> constructor,
            Class<?>... helpers) {
        this.spec = Json.read(spec);
        this.constructor = constructor;
        var all = Stream.concat(Stream.of(helpers), Stream.<Class<?>>iterate(type, c -> c != Object.class,
                Class::getSuperclass)).flatMap(c -> Stream.of(c.getNestMembers())).toList();
        for (var c : all) if (c.isRecord()) kinds.putIfAbsent(Json.Form.of(c).kind(), Json.Form.of(c));
        for (var list : List.of("messages", "auxiliary", "saves"))
            this.spec.computeIfPresent(list, (key, names) -> ((List<?>) names).stream().map(k -> Json.object(
                    "kind", k, "fields", kinds.computeIfAbsent(k, Json::refuse).types())).toList());
        var handled = Stream.of(type.getMethods()).filter(m -> m.getDeclaringClass() != Node.class)
                .map(m -> m.getName().equals("command") ? "do" : m.getName())
                .filter(Set.of("start", "timeout", "suspect", "restore", "do")::contains).distinct().sorted();
        this.spec.putAll(Json.object("states", true, "doubts", true, "handles", handled.toList(),
                "problem", Node.Mutex.class.isAssignableFrom(type) ? "mutex" : "election",
                "files", all.stream().map(Program::file).distinct().toList()));
    }

    /** The default of a parameter that "asks", which follows from the network and from those before. */
    public Object preset(String parameter, Node.Network network, Node.Params before) { return null; }

    /** Says why the promises do not hold with the parameters of a network; null if they hold. */
    public String doubt(Node.Network network, Node.Params params) { return null; }

    /** The class or the jar: by these files, Conclave tells whether two runs had the same program. */
    private static String file(Class<?> type) {
        String source = URI.create("" + type.getProtectionDomain().getCodeSource().getLocation()).getPath();
        return source.endsWith("/") ? source + type.getName().replace('.', '/') + ".class" : source;
    }

    /** Answers requests until there are no more. Whatever else the program prints goes to standard error. */
    public void serve() throws IOException {
        System.setOut(System.err);
        var in = new BufferedReader(new InputStreamReader(System.in, UTF_8.newDecoder()));
        var out = new FileOutputStream(FileDescriptor.out);
        for (String line, answer; (line = in.readLine()) != null && (answer = answer(line)) != null; )
            out.write((answer + '\n').getBytes(UTF_8));
    }

    /** The answer to a request; null if it is "end". */
    @SuppressWarnings("unchecked")
    String answer(String line) {
        Map<String, Object> raw = Json.read(line), answer = Json.object("n", raw.get("n"));
        try {
            if (raw.get("saved") instanceof Map<?, ?> m)
                ((Map<String, Object>) raw.get("config")).put("saved", message(m.get("kind"), m.get("msg")));
            var r = (Request) Json.Form.of(Request.class).read(raw);
            switch (r.on) {
                case "describe" -> answer.putAll(Json.object("protocol", 1, "spec", spec));
                case "default" -> answer.put("value", preset(r.parameter, r.network, r));
                case "doubt" -> answer.put("value", doubt(r.network, r));
                case "new" -> nodes.put(r.process, constructor.apply(r.config));
                case "drop" -> nodes.remove(r.process);
                case "state" -> answer.put("state", nodes.get(r.process).state());
                case "end" -> { return null; }
                default -> answer.putAll(event(nodes.get(r.process), r));
            }
            return Json.write(answer);
        } catch (Throwable failure) { // also an AssertionError or a StackOverflowError of the algorithm
            return Json.write(Json.object("n", raw.get("n"), "failed", describe(failure)));
        }
    }

    private Map<String, Object> event(Node node, Request r) {
        var env = node.new Env(r);
        switch (r.on) {
            case "start" -> node.start(env);
            case "receive" -> node.receive(env, r.from, message(r.kind, r.msg));
            case "timeout" -> node.timeout(env, r.timer);
            case "request" -> ((Node.Mutex) node).request(env);
            case "release" -> ((Node.Mutex) node).release(env);
            case "elect" -> ((Node.Elector) node).elect(env);
            case "suspect" -> node.suspect(env, r.peer);
            case "restore" -> node.restore(env, r.peer);
            case "do" -> node.command(env, r.op, r.target);
            default -> Json.refuse("request " + r.on);
        }
        for (int i = 0; i < env.own.size(); i++) node.receive(env, node.id, env.own.get(i));
        return Json.object("effects", env.end(), "broken", node.invariant());
    }

    Record message(Object kind, Object msg) { return kinds.get(kind).read(msg); }

    /** The exception at the bottom, and the innermost line of the algorithm. */
    private static String describe(Throwable t) {
        return t.getCause() != null ? describe(t.getCause()) : t + Stream.of(t.getStackTrace())
                .filter(f -> f.getModuleName() == null && !f.getClassName().startsWith("conclave."))
                .map(f -> " at " + f.getFileName() + ":" + f.getLineNumber()).findFirst().orElse("");
    }
}
