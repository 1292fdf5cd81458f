package conclave;

import static conclave.Tests.equal;

import java.io.File;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

/** The tests of the kit itself: what it says on the line. */
final class KitTest {
    private static void fails(String inMessage, Runnable code) {
        try {
            code.run();
        } catch (RuntimeException | AssertionError e) {
            if (!String.valueOf(e.getMessage()).contains(inMessage)) throw new AssertionError("want " + inMessage, e);
            return;
        }
        throw new AssertionError("no error: " + inMessage);
    }

    static void testJsonReads() {
        equal(Map.of("a", List.of(1L, -2L, 0.5, 1e3, true, "x"), "b", Map.of()),
                Json.read(" { \"a\" : [1,-2,0.5,1e3,true,\"x\"] , \"b\" : {} } "));
        equal("\"\\/\b\f\n\r\t\u00e9\ud83d\ude00 $1", Json.read("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\uDE00 $1\""));
        equal(null, Json.read("null"));
        equal(1L << 53, Json.read("9007199254740992"));
        equal(List.of(), Json.read("[]"));
        String text = "x".repeat(1 << 20);
        equal(text, Json.read('"' + text + '"'));
    }

    static void testJsonIsStrict() {
        for (String text : List.of("", " ", "{", "[1", "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}",
                "{1:1}", "{\"a\":1 \"b\":2}", "{\"a\":1,\"a\":null}", "01", "-", "+1", "1.", ".5", "1e", "0x1", "NaN", "tru", "True",
                "'a'", "\"a", "\"\t\"", "\"\\x\"", "\"\\u12g4\"", "1 1", "[]]", "]", ":", ",", "}", "[:]", "9007199254740993",
                "{\"a\":null,\"a\":1}", "/**/1"))
            fails("", () -> Json.<Object>read(text));
    }

    enum Word { AT_MOST_ONE }

    record Inner(int x, boolean b) {}

    record Outer(Inner inner, List<Inner> list, String text, double real, Duration time, Word word) {}

    static void testJsonWrites() {
        equal("{\"inner\":{\"x\":1,\"b\":true},\"list\":[{\"x\":2,\"b\":false}],\"text\":\"\\u0022\\u005c\\u000a\u00e9\",\"real\":0.5,"
                + "\"time\":1000,\"word\":\"at-most-one\"}", Json.write(new Outer(new Inner(1, true),
                List.of(new Inner(2, false)), "\"\\\n\u00e9", 0.5, Duration.ofNanos(1000), Word.AT_MOST_ONE)));
        fails("", () -> Json.write(Double.NaN));
        fails("", () -> Json.write((1L << 53) + 1));
        fails("", () -> Json.write(new Object()));
    }

    /** The order of sets and maps with hashes would depend on their history. */
    static void testJsonSorts() {
        var forth = new HashSet<Object>();
        var back = new HashSet<Object>();
        for (int i = 0; i < 100; i++) {
            forth.add(i * 16);
            back.add((99 - i) * 16);
        }
        equal(Json.write(forth), Json.write(back));
        equal("{\"9\":1,\"16\":2,\"33\":3}", Json.write(new HashMap<>(Map.of(33, 3, 16, 2, 9, 1))));
        equal("[9,16,33]", Json.write(Set.of(33, 9, 16)));
    }

    record Ask(@Node.Uint long number, @Node.Id int id, int delta, boolean yes, double share, String text, Duration time,
            List<@Node.Id Integer> path, Inner inner, List<Inner> inners) {}

    record NewLeader() {}

    record Kept(long n) {}

    /** Does what a test asks it for, by the operations of a script. */
    static final class Echo extends Node implements Node.Mutex {
        static final String SPEC = """
                {
                  "summary": "a test", "messages": ["ASK", "NEW_LEADER"], "saves": ["KEPT"], "draws": true,
                  "timers": ["retry"], "token": "NEW_LEADER", "survives": {"crashes": 2, "loss": true},
                  "parameters": [
                    {"name": "often", "type": "duration", "asks": true, "doc": "a period"},
                    {"name": "share", "type": "float", "default": 0.5, "doc": "a share"},
                    {"name": "word", "type": "enum", "choices": ["a", "b"], "default": "a", "doc": "a word"},
                    {"name": "who", "type": "int", "default": 1, "doc": "each", "per_process": true}
                  ]
                }""";

        private static Env kept;
        private final Map<Integer, Integer> got = new HashMap<>();
        private final transient Object hidden = new Object();
        private final List<Integer> mutable = new ArrayList<>(List.of(1));

        Echo(Config config) {
            super(config);
            if (config.saved() instanceof Kept kept) got.put(0, (int) kept.n);
        }

        @Override public void receive(Env env, int from, Record message) {
            got.merge(from, 1, Integer::sum);
            if (message instanceof Ask) env.send(from, message);
            else if (from == id && got.get(from) < 3) env.send(id, new NewLeader());
            else if (from != id) env.log("from " + from);
        }

        @Override public void request(Env env) { env.granted(); }

        @Override public void release(Env env) { env.elected(0); }

        @Override public void timeout(Env env, String timer) {
            env.setTimer(timer, Duration.ofNanos(-5));
            env.cancelTimer(timer);
            env.setTimer("again", Duration.ofMillis(20));
        }

        @Override public void command(Env env, String op, int target) {
            switch (op) {
                case "draw" -> env.log(env.random().nextLong() + " " + env.random().nextInt(6));
                case "to" -> env.send(target, new NewLeader());
                case "all" -> env.broadcast(new NewLeader());
                case "save" -> env.save(new Kept(4));
                case "params" -> env.log(config.duration("often") + " " + config.real("share") + " " + config.text("word")
                        + " " + config.integer("who") + " " + config.list("who") + " " + config.list("share"));
                case "param" -> config.flag("none");
                case "network" -> env.log(config.leader() + " " + config.ring() + " " + config.leaderDown());
                case "huge" -> env.save(new Kept(Long.MAX_VALUE));
                case "elected" -> {
                    env.elected(3, 2);
                    env.elected(0);
                }
                case "recurse" -> command(env, op, target);
                case "assert" -> throw new AssertionError("mine");
                case "keep" -> kept = env;
                case "late" -> kept.granted();
                case "print" -> System.out.println("by accident");
                case "change" -> {
                    env.send(2, new Ask(0, 0, 0, false, 0, "", Duration.ZERO, mutable, new Inner(0, false), List.of()));
                    mutable.clear();
                }
                default -> throw new IllegalStateException("no " + op);
            }
        }

        @Override public String invariant() { return got.getOrDefault(3, 0) > 1 ? "3 was here twice" : null; }
    }

    private static final String NEW = "{'n':1,'on':'new','process':7,'config':{'id':1,'peers':[1,2,3],'neighbors':[1,2,3]}}";

    /** The program without a process; helpers are classes of its own beside that of the algorithm. */
    private static Program program() {
        return new Program(Echo.SPEC, Echo.class, Echo::new, KitTest.class) {
            @Override public Object preset(String parameter, Node.Network network, Node.Params before) {
                return network.latency().multipliedBy(network.nodes()).plus(before.duration("base"));
            }

            @Override public String doubt(Node.Network network, Node.Params params) {
                return params.flag("sure") && network.bounded() ? null : "not sure";
            }
        };
    }

    /** The same with process 7, which is number 1 of three. */
    private static Program echo() {
        var program = program();
        says(program, NEW, "{'n':1}");
        return program;
    }

    /** Requests and answers have ' for ". */
    private static void says(Program program, String request, String answer) {
        equal(answer, program.answer(request.replace('\'', '"')).replace('"', '\''));
    }

    private static void does(String op, String answer) {
        says(echo(), "{'n':2,'on':'do','process':7,'now':5,'random':'00000000000000ff','op':'" + op + "','target':3}",
                "{'n':2" + answer + "}");
    }

    @SuppressWarnings("unchecked")
    static void testDescribe() {
        var answer = (Map<String, Object>) Json.read(program().answer("{\"n\":1,\"on\":\"describe\",\"protocols\":[1]}"));
        equal(1L, answer.get("protocol"));
        var spec = (Map<String, Object>) answer.get("spec");
        equal(Set.of("problem", "summary", "messages", "saves", "draws", "timers", "token", "survives", "states",
                "handles", "parameters", "doubts", "files"), spec.keySet());
        equal("mutex", spec.get("problem"));
        equal(List.of("do", "timeout"), spec.get("handles"));
        equal(Map.of("crashes", 2L, "loss", true), spec.get("survives"));
        var inner = Map.of("fields", List.of(List.of("x", "int"), List.of("b", "bool")));
        equal(List.of(Map.of("kind", "ASK", "fields", List.of(List.of("number", "uint"), List.of("id", "id"),
                        List.of("delta", "int"), List.of("yes", "bool"), List.of("share", "float"),
                        List.of("text", "string"), List.of("time", "duration"), List.of("path", List.of("id")),
                        List.of("inner", inner), List.of("inners", List.of(inner)))),
                Map.of("kind", "NEW_LEADER", "fields", List.of())), spec.get("messages"));
        equal(List.of(Map.of("kind", "KEPT", "fields", List.of(List.of("n", "int")))), spec.get("saves"));
        equal(((Map<String, Object>) Json.read(Echo.SPEC)).get("parameters"), spec.get("parameters"));
    }

    /** A class without a package cannot be imported. */
    private static Program outside() {
        try {
            return (Program) Class.forName("Outside").getField("PROGRAM").get(null);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** The classes of the algorithm, and the folder or the jar of the kit; not whatever else is on the class path. */
    static void testFiles() {
        var files = ((List<?>) outside().spec.get("files")).stream().map(Object::toString).toList();
        equal(List.of("Outside$Note.class", "Outside.class"), files.stream()
                .map(f -> f.substring(f.lastIndexOf('/') + 1)).filter(f -> f.startsWith("Outside")).sorted().toList());
        for (var file : files) {
            if (!new File(file).isFile()) throw new AssertionError("no file: " + file);
            if (file.contains("KitTest")) throw new AssertionError(file);
        }
    }

    static void testDefaultAndDoubt() {
        String network = "'network':{'nodes':5,'latency':2000,'mean':2000,'bounded':true,'hold':0},'params':{'base':7,'sure':";
        says(program(), "{'n':1,'on':'default','parameter':'often'," + network + "true}}", "{'n':1,'value':10007}");
        says(program(), "{'n':1,'on':'doubt'," + network + "true}}", "{'n':1,'value':null}");
        says(program(), "{'n':1,'on':'doubt'," + network + "false}}", "{'n':1,'value':'not sure'}");
    }

    static void testConfig() {
        var program = program();
        says(program, NEW.replace("}}", ",'params':{'often':5000000,'share':1,'word':'b','who':2},"
                + "'all':{'who':[2,4,6]},'leader':3,'leader_down':true,'ring':[1,3,2]}}"), "{'n':1}");
        String event = "{'n':2,'on':'do','process':7,'now':5,'op':";
        says(program, event + "'params'}", "{'n':2,'effects':[{'log':'PT0.005S 1.0 b 2 [2, 4, 6] [1, 1, 1]'}]}");
        says(program, event + "'network'}", "{'n':2,'effects':[{'log':'3 [1, 3, 2] true'}]}");
        says(program, event + "'param'}", "{'n':2,'failed':'java.lang.NullPointerException: no none'}");
        says(echo(), event + "'network'}", "{'n':2,'effects':[{'log':'0 [] false'}]}");
    }

    static void testMessagesComeBackAsTheyWere() {
        String ask = "'kind':'ASK','msg':{'number':9007199254740992,'id':3,'delta':-7,'yes':true,'share':0.25,'text':'a\\u0022b',"
                + "'time':5,'path':[3,1],'inner':{'x':1,'b':true},'inners':[{'x':2,'b':false}]}";
        says(echo(), "{'n':2,'on':'receive','process':7,'now':5,'random':'0','from':2," + ask + "}",
                "{'n':2,'effects':[{'send':2," + ask + "}]}");
        says(echo(), "{'n':2,'on':'receive','process':7,'now':5,'random':'0','from':2,'kind':'NEW_LEADER'}",
                "{'n':2,'effects':[{'log':'from 2'}]}");
    }

    static void testEffects() {
        says(echo(), "{'n':2,'on':'request','process':7,'now':5}", "{'n':2,'effects':[{'granted':true}]}");
        says(echo(), "{'n':2,'on':'timeout','process':7,'now':5,'timer':'retry'}", "{'n':2,'effects':[{'set':'retry','after':0},"
                + "{'cancel':'retry'},{'set':'again','after':20000000}]}");
        does("to", ",'effects':[{'send':3,'kind':'NEW_LEADER'}]");
        does("all", ",'effects':[{'send':2,'kind':'NEW_LEADER'},{'send':3,'kind':'NEW_LEADER'}]");
        does("save", ",'effects':[{'save':'KEPT','msg':{'n':4}}]");
        does("elected", ",'effects':[{'elected':3,'term':2},{'elected':0}]");
        var random = new SplittableRandom(255);
        does("draw", ",'effects':[{'log':'" + random.nextLong() + " " + random.nextInt(6) + "'}]");
    }

    /** An effect is what it was when it was asked for. */
    static void testEffectsDoNotChange() {
        does("change", ",'effects':[{'send':2,'kind':'ASK','msg':{'number':0,'id':0,'delta':0,'yes':false,'share':0.0,'text':'',"
                + "'time':0,'path':[1],'inner':{'x':0,'b':false},'inners':[]}}]");
    }

    /** Messages to oneself are received in the same event, one after the other. */
    static void testToOneself() {
        var program = echo();
        says(program, "{'n':2,'on':'do','process':7,'now':5,'op':'to','target':1}", "{'n':2}");
        says(program, "{'n':3,'on':'state','process':7}", "{'n':3,'state':{'got':{'1':3},'mutable':[1]}}");
    }

    /** What fails is reported with its place, has no effects, and the program continues. */
    static void testFailures() {
        var program = echo();
        for (String op : List.of("recurse", "assert", "other", "huge")) {
            String answer = program.answer(("{'n':2,'on':'do','process':7,'now':5,'op':'" + op + "'}").replace('\'', '"'));
            if (!answer.startsWith("{\"n\":2,\"failed\":\"java.lang.")) throw new AssertionError(answer);
        }
        says(program, "{'n':3,'on':'do','process':7,'now':5,'op':'draw'}",
                "{'n':3,'failed':'java.lang.IllegalStateException: random() needs draws in the spec'}");
        says(program, "{'n':4,'on':'do','process':7,'now':5,'op':'keep'}", "{'n':4}");
        says(program, "{'n':5,'on':'do','process':7,'now':5,'op':'late'}",
                "{'n':5,'failed':'java.lang.NullPointerException: the event is over'}");
        says(program, "{'n':6,'on':'drop','process':7}", "{'n':6}");
        equal(null, program.answer("{\"n\":7,\"on\":\"end\"}"));
        fails("unexpected token, or end", () -> program.answer("{\"n\":7"));
    }

    /** The place is the innermost line that is not the kit's, nor the JVM's. */
    static void testPlace() {
        var program = outside();
        says(program, NEW, "{'n':1}");
        says(program, "{'n':2,'on':'elect','process':7,'now':5}", "{'n':2,'failed':'java.lang.ArrayIndexOutOfBoundsException: "
                + "Index 0 out of bounds for length 0 at Outside.java:14'}");
        says(program, NEW.replace("'id':1", "'id':2"), "{'n':1,'failed':'java.lang.IllegalStateException: not 2 at Outside.java:10'}");
    }

    /** The program of a process of its own, for the test below. */
    public static void main(String[] args) throws IOException { program().serve(); }

    /** What is printed by accident goes to standard error; the program exits with 0 at "end", or at the end of input. */
    static void testServe() throws IOException, InterruptedException {
        String print = "{'n':2,'on':'do','process':7,'now':5,'op':'print'}";
        String requests = (NEW + "\n" + print + "\n").replace('\'', '"');
        for (String last : List.of("", "{\"n\":3,\"on\":\"end\"}\n")) {
            var java = ProcessHandle.current().info().command().orElse("java");
            var process = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), "conclave.KitTest").start();
            try (var in = process.getOutputStream()) {
                in.write((requests + last).getBytes());
            }
            equal("{\"n\":1}\n{\"n\":2}\n", new String(process.getInputStream().readAllBytes()));
            equal("by accident", new String(process.getErrorStream().readAllBytes()).strip());
            equal(0, process.waitFor());
        }
    }

    static void testInvariant() {
        var program = echo();
        String receive = "{'n':2,'on':'receive','process':7,'now':5,'from':3,'kind':'NEW_LEADER'}";
        says(program, receive, "{'n':2,'effects':[{'log':'from 3'}]}");
        says(program, receive, "{'n':2,'effects':[{'log':'from 3'}],'broken':'3 was here twice'}");
    }

    static void testSaved() {
        var program = program();
        says(program, NEW.replace("}}", "},'saved':{'kind':'KEPT','msg':{'n':4}}}"), "{'n':1}");
        says(program, "{'n':3,'on':'state','process':7}", "{'n':3,'state':{'got':{'0':4},'mutable':[1]}}");
    }

    static void testRefusesWhatIsNoMessage() {
        fails("no record", () -> Json.Form.of(String.class));
        record Wrong(char c) {}
        fails("no record", () -> Json.Form.of(Wrong.class).types());
        fails("unexpected OTHER", () -> new Program("{\"messages\":[\"OTHER\"]}", Echo.class, Echo::new));
    }
}
