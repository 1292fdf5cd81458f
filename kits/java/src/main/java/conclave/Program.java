package conclave;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.*;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.nio.file.*;
import java.time.Duration;
import java.util.*;
import java.util.function.Function;
import java.util.stream.Stream;

/** The program of one algorithm, which answers the requests of Conclave: see docs/reference/protocol.md. */
public final class Program {
    /** All keys that requests have; those that one has not are 0, false or null. */
    record Request(long n, String on, long process, Duration now, String random, String timer, int from, String kind,
            Object msg, int session, int peer, String op, int target, Map<String, Object> config,
            Map<String, Object> saved, String parameter, Map<String, Object> network, Map<String, Object> params) {}

    private static final Type REQUEST = Type.record(Request.class);
    private static final Type CONFIG = Type.record(Config.class);
    private static final Type NETWORK = Type.record(Network.class);
    /** The events that a process gets only if its class has the methods of these names. */
    private static final Map<String, String> OPTIONAL = Map.of("start", "start", "timeout", "timeout",
            "suspect", "suspect", "restore", "restore", "command", "do");

    private final Class<? extends Node> type;
    final Spec spec;
    private final Map<Class<?>, String> names = new HashMap<>();
    private final Map<String, Type> kinds = new HashMap<>();
    private final Map<Long, Node> nodes = new HashMap<>();
    final Map<String, Parameter<?>> parameters = new LinkedHashMap<>();
    private Function<Network, String> doubt;

    /** The class implements Mutex or Elector, has a Spec, and a constructor with a Config. */
    public Program(Class<? extends Node> type) {
        this.type = type;
        spec = Objects.requireNonNull(type.getAnnotation(Spec.class), type + " has no @Spec");
        for (var records : List.of(spec.messages(), spec.auxiliary(), spec.saves()))
            for (var record : records) {
                names.put(record, Type.snake(record.getSimpleName()).toUpperCase(Locale.ROOT));
                kinds.put(names.get(record), Type.record(record));
            }
    }

    /** The parameters. The default of one can depend on those that stand before it. */
    public Program parameters(Parameter<?>... parameters) {
        for (var p : parameters) this.parameters.put(p.name(), p);
        return this;
    }

    /** Says why the promises do not hold with the parameters of a network; null if they hold. */
    public Program doubts(Function<Network, String> doubt) {
        this.doubt = doubt;
        return this;
    }

    /** Answers requests until there are no more. Whatever else the program prints goes to standard error. */
    public void serve() throws IOException {
        System.setOut(System.err);
        var in = new BufferedReader(new InputStreamReader(new FileInputStream(FileDescriptor.in), UTF_8.newDecoder()));
        var out = new FileOutputStream(FileDescriptor.out);
        for (String line = in.readLine(), answer; line != null && (answer = answer(line)) != null; line = in.readLine())
            out.write((answer + '\n').getBytes(UTF_8));
    }

    /** The answer to a request; null if it is "end". */
    String answer(String line) {
        var request = (Request) REQUEST.read().apply(Json.read(line));
        var answer = Json.object("n", request.n);
        try {
            if (request.on.equals("end")) return null;
            answer(request, answer);
            return Json.write(answer);
        } catch (Throwable failure) { // also an AssertionError or a StackOverflowError of the algorithm
            return Json.write(Json.object("n", request.n, "failed", describe(failure)));
        }
    }

    private void answer(Request r, Map<String, Object> answer) throws Exception {
        switch (r.on) {
            case "describe" -> answer.putAll(Json.object("protocol", 1, "spec", describe()));
            case "default" -> answer.put("value", parameters.get(r.parameter).preset.apply(network(r)));
            case "doubt" -> answer.put("value", doubt.apply(network(r)));
            case "new" -> nodes.put(r.process, create(r));
            case "drop" -> nodes.remove(r.process);
            case "state" -> answer.put("state", nodes.get(r.process).state());
            default -> answer.putAll(event(nodes.get(r.process), r));
        }
    }

    private Map<String, Object> event(Node node, Request r) {
        var env = new Env(this, node.config, r);
        switch (r.on) {
            case "start" -> node.start(env);
            case "receive" -> node.receive(env, r.from, message(r.kind, r.msg));
            case "timeout" -> node.timeout(env, r.timer);
            case "request" -> ((Mutex) node).request(env);
            case "release" -> ((Mutex) node).release(env);
            case "elect" -> ((Elector) node).elect(env);
            case "suspect" -> node.suspect(env, r.peer);
            case "restore" -> node.restore(env, r.peer);
            case "do" -> node.command(env, r.op, r.target);
            default -> throw new IllegalArgumentException("this kit does not know the request " + r.on);
        }
        for (int i = 0; i < env.own.size(); i++) node.receive(env, node.id, env.own.get(i));
        env.over = true;
        return Json.object("effects", env.effects.isEmpty() ? null : env.effects, "broken", node.invariant());
    }

    private Node create(Request r) {
        if (!r.saved.isEmpty()) r.config.put("saved", message((String) r.saved.get("kind"), r.saved.get("msg")));
        return Type.call(() -> {
            var constructor = type.getDeclaredConstructor(Config.class);
            constructor.setAccessible(true);
            return constructor.newInstance(CONFIG.read().apply(r.config));
        });
    }

    private static Network network(Request r) {
        r.network.put("params", r.params);
        return (Network) NETWORK.read().apply(r.network);
    }

    Record message(String kind, Object msg) { return (Record) kinds.get(kind).read().apply(msg); }

    /** The kind of a message, which the Spec must list. */
    String kind(Record message) {
        String kind = names.get(message.getClass());
        if (kind == null) throw new IllegalArgumentException(message.getClass() + " is no kind of the Spec");
        return kind;
    }

    private Map<String, Object> describe() throws IOException {
        var handles = Stream.of(type.getMethods()).filter(m -> m.getDeclaringClass() != Node.class)
                .map(m -> OPTIONAL.get(m.getName())).filter(Objects::nonNull).distinct().sorted().toList();
        var json = json(spec);
        json.putAll(Json.object("problem", Mutex.class.isAssignableFrom(type) ? "mutex" : "election", "states", true,
                "handles", handles, "parameters", parameters.values(), "doubts", doubt != null, "files", files()));
        return json;
    }

    /** The jars and classes of the class path, by which Conclave tells whether two runs had the same program. */
    private static List<String> files() throws IOException {
        var files = new ArrayList<String>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator))
            try (var below = Files.walk(Path.of(entry))) {
                below.map(Path::toString).filter(f -> f.matches(".*\\.(class|jar)")).sorted().forEach(files::add);
            } catch (NoSuchFileException e) { } // the JVM ignores such an entry, too
        return files;
    }

    /** What JSON has of an annotation: all that is not the default. */
    private Map<String, Object> json(Annotation annotation) {
        var members = new TreeMap<String, Object>();
        for (Method member : annotation.annotationType().getDeclaredMethods()) {
            Object value = Type.call(() -> member.invoke(annotation));
            if (!Objects.deepEquals(value, member.getDefaultValue()))
                members.put(Type.snake(member.getName()), json(value));
        }
        return members;
    }

    private Object json(Object value) {
        if (value instanceof Annotation a) return json(a);
        if (value instanceof Object[] list) return Stream.of(list).map(this::json).toList();
        if (value instanceof String s && s.matches("[0-9]+")) return Long.valueOf(s); // how many crashes it survives
        if (!(value instanceof Class<?> record)) return value;
        return Map.of("kind", names.get(record), "fields", kinds.get(names.get(record)).fields());
    }

    /** The exception at the bottom, and the innermost line of the algorithm. */
    private static String describe(Throwable failure) {
        while (failure.getCause() != null) failure = failure.getCause();
        return failure + Stream.of(failure.getStackTrace())
                .filter(f -> f.getModuleName() == null && !f.getClassName().startsWith("conclave."))
                .map(f -> " at " + f.getFileName() + ":" + f.getLineNumber()).findFirst().orElse("");
    }
}
