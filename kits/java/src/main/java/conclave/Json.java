package conclave;

import static java.util.stream.Collectors.joining;

import java.lang.reflect.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.regex.*;

/** JSON as the protocol has it: RFC 8259, with no key twice in an object, and integers from -2^53 to 2^53. */
record Json(Matcher tokens) {
    private static final Pattern TOKEN = Pattern.compile("\\G[ \t\r\n]*+([\\[\\]{},:]|true|false|null"
            + "|\"(?:[^\"\\\\\\x00-\\x1f]++|\\\\[\"\\\\/bfnrt]|\\\\u\\p{XDigit}{4})*+\""
            + "|-?(?:0|[1-9][0-9]*+)((?:\\.[0-9]++)?(?:[eE][-+]?[0-9]++)?))[ \t\r\n]*+");
    private static final Pattern ESCAPE = Pattern.compile("\\\\(?:u(....)|(/)|.)");
    private static final Pattern ESCAPED = Pattern.compile("[\"\\\\\\x00-\\x1f]");

    /** Reads a T: a Map, List, String, Boolean, null, Double, or a Long for what is written as an integer. */
    @SuppressWarnings("unchecked")
    static <T> T read(String text) {
        var json = new Json(TOKEN.matcher(text));
        var value = (T) json.value(json.next());
        return json.tokens.end() == text.length() ? value : refuse("text behind the value");
    }

    static <T> T refuse(Object found) { throw new IllegalArgumentException("unexpected " + found); }

    private String next() { return tokens.find() ? tokens.group(1) : refuse("token, or end"); }

    /** The token behind one that must be as expected. */
    private String after(String expected, String t) { return t.equals(expected) ? next() : refuse(t); }

    private Object value(String token) {
        return switch (token.charAt(0)) {
            case '{' -> {
                var object = new LinkedHashMap<String, Object>();
                for (String t = next(); !t.equals("}"); t = next()) {
                    Object key = value(object.isEmpty() ? t : after(",", t));
                    if (!(key instanceof String s) || object.containsKey(s)) yield refuse("key " + key);
                    object.put(s, value(after(":", next())));
                }
                yield object;
            }
            case '[' -> {
                var list = new ArrayList<>();
                for (String t = next(); !t.equals("]"); t = next())
                    list.add(value(list.isEmpty() ? t : after(",", t)));
                yield list;
            }
            case '"' -> ESCAPE.matcher(token.substring(1, token.length() - 1)).replaceAll(e ->
                    Matcher.quoteReplacement(e.group(1) != null ? "" + (char) Integer.parseInt(e.group(1), 16)
                            : e.group(2) != null ? "/" : e.group().translateEscapes()));
            case 't', 'f' -> token.equals("true");
            case 'n' -> null;
            default -> tokens.group(2) == null ? refuse(token) : tokens.group(2).isEmpty()
                    ? exact(Long.parseLong(token)) : (Object) Double.valueOf(token);
        };
    }

    private static Long exact(long n) { return n >= -1L << 53 && n <= 1L << 53 ? n : Json.<Long>refuse(n); }

    /**
     * Writes what read returns, records, enums, durations in nanoseconds, and a StringJoiner, which has JSON
     * already. No order depends on hashes.
     */
    static String write(Object v) {
        if (v == null || v instanceof Boolean || v instanceof StringJoiner) return String.valueOf(v);
        if (v instanceof String s) return '"' + ESCAPED.matcher(s)
                .replaceAll(e -> "\\\\u%04x".formatted(e.group().codePointAt(0))) + '"';
        if (v instanceof Integer || v instanceof Long) return exact(((Number) v).longValue()).toString();
        if (v instanceof Set<?> s && !(v instanceof LinkedHashSet)) v = List.copyOf(new TreeSet<>(s));
        if (v instanceof Collection<?> c) return c.stream().map(Json::write).collect(joining(",", "[", "]"));
        if (v instanceof Map<?, ?> m && !(v instanceof LinkedHashMap)) v = new TreeMap<>(m);
        if (v instanceof Map<?, ?> m) return m.entrySet().stream()
                .map(e -> write("" + e.getKey()) + ':' + write(e.getValue())).collect(joining(",", "{", "}"));
        if (v instanceof Record r) return write(Form.of(r.getClass()).members(r));
        if (v instanceof Enum<?> e) return write(e.name().toLowerCase(Locale.ROOT).replace('_', '-'));
        if (v instanceof Duration d) return write(d.toNanos());
        return v instanceof Double d && Double.isFinite(d) ? d.toString() : refuse(v + " of " + v.getClass());
    }

    /** An object of these keys and values, in turn, without those that are null. */
    static Map<String, Object> object(Object... members) {
        var object = new LinkedHashMap<String, Object>();
        for (int i = 0; i < members.length; i += 2)
            if (members[i + 1] != null) object.put((String) members[i], members[i + 1]);
        return object;
    }

    /** The kind of a message: NEW_LEADER for a record NewLeader. */
    static String kind(Record message) { return Form.of(message.getClass()).kind; }

    /** What a message has beside: null if it has no fields. */
    static Record body(Record m) { return Form.of(m.getClass()).fields.isEmpty() ? null : m; }

    /** How JSON has the records of a class: as objects, with a key for each component. */
    record Form(String kind, Map<String, RecordComponent> fields, Constructor<?> constructor) {
        private static final Map<Class<?>, Form> FORMS = new ConcurrentHashMap<>();

        static Form of(Class<?> type) { return FORMS.computeIfAbsent(type, Form::make); }

        private static Form make(Class<?> type) {
            if (!type.isRecord()) refuse(type + ", which is no record");
            var fields = new LinkedHashMap<String, RecordComponent>();
            for (var c : type.getRecordComponents()) fields.put(snake(c.getName()), c);
            fields.values().forEach(c -> c.getAccessor().setAccessible(true));
            var types = fields.values().stream().map(RecordComponent::getType).toArray(Class<?>[]::new);
            Constructor<?> constructor = call(() -> type.getDeclaredConstructor(types));
            constructor.setAccessible(true);
            return new Form(snake(type.getSimpleName()).toUpperCase(Locale.ROOT), fields, constructor);
        }

        /** The fields as a spec has them: names and types. */
        List<?> types() {
            return fields.keySet().stream()
                    .map(key -> List.of(key, type(fields.get(key).getAnnotatedType()))).toList();
        }

        private static Object type(AnnotatedType type) {
            if (type instanceof AnnotatedParameterizedType list)
                return List.of(type(list.getAnnotatedActualTypeArguments()[0]));
            Class<?> c = (Class<?>) type.getType();
            return switch (c.getSimpleName()) {
                case "int", "Integer", "long", "Long" -> type.isAnnotationPresent(Node.Id.class) ? "id"
                        : type.isAnnotationPresent(Node.Uint.class) ? "uint" : "int";
                case "boolean", "Boolean" -> "bool";
                case "double", "Double" -> "float";
                case "Duration", "String" -> c.getSimpleName().toLowerCase(Locale.ROOT);
                default -> Map.of("fields", of(c).types());
            };
        }

        /** The record of an object, in which absent means zero. */
        Record read(Object object) {
            Map<?, ?> members = object instanceof Map<?, ?> m ? m : Map.of();
            return (Record) call(() -> constructor.newInstance(fields.keySet().stream()
                    .map(key -> read(fields.get(key).getGenericType(), members.get(key))).toArray()));
        }

        private static Object read(Type type, Object v) {
            if (v instanceof List<?> list && type instanceof ParameterizedType p)
                return list.stream().map(item -> read(p.getActualTypeArguments()[0], item)).toList();
            if (type instanceof ParameterizedType p)
                return v != null ? v : p.getRawType() == List.class ? List.of() : Map.of();
            return switch (type.getTypeName()) {
                case "int", "java.lang.Integer" -> v == null ? 0 : Math.toIntExact((Long) v);
                case "boolean" -> v == Boolean.TRUE;
                case "double", "java.lang.Double" -> ((Number) v).doubleValue();
                case "java.time.Duration" -> Duration.ofNanos((Long) v);
                default -> type instanceof Class<?> c && v instanceof Map ? of(c).read(v) : v;
            };
        }

        /** The object of a record. */
        Map<String, Object> members(Record record) {
            var members = new LinkedHashMap<String, Object>();
            fields.forEach((key, c) -> members.put(key, call(() -> c.getAccessor().invoke(record))));
            return members;
        }

        /** The name newLeader as the protocol has it: new_leader. */
        static String snake(String s) { return s.replaceAll("\\B(?=[A-Z])", "_").toLowerCase(Locale.ROOT); }

        private static <T> T call(Callable<T> reflective) {
            try { return reflective.call(); } catch (Exception e) { throw new IllegalArgumentException(e); }
        }
    }
}
