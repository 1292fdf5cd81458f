package conclave;

import java.time.Duration;
import java.util.*;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** JSON as the protocol has it: RFC 8259, with no key twice in an object, and integers from -2^53 to 2^53. */
final class Json {
    private static final Pattern TOKEN = Pattern.compile("\\G[ \t\r\n]*+([\\[\\]{},:]|true|false|null"
            + "|\"(?:[^\"\\\\\\x00-\\x1f]++|\\\\[\"\\\\/bfnrt]|\\\\u\\p{XDigit}{4})*+\""
            + "|-?(?:0|[1-9][0-9]*+)((?:\\.[0-9]++)?(?:[eE][-+]?[0-9]++)?))[ \t\r\n]*+");
    private static final Pattern ESCAPE = Pattern.compile("\\\\(?:u(....)|(/)|.)");
    private static final Pattern ESCAPED = Pattern.compile("[\"\\\\\\x00-\\x1f]");

    private final Matcher tokens;

    private Json(String text) { tokens = TOKEN.matcher(text); }

    /** Reads a Map, List, String, Boolean, null, a Long for what is written as an integer, or a Double. */
    static Object read(String text) {
        var json = new Json(text);
        Object value = json.value(json.next());
        check(json.tokens.end() == text.length(), "text behind the value");
        return value;
    }

    private static void check(boolean valid, Object found) {
        if (!valid) throw new IllegalArgumentException("JSON of the protocol cannot have " + found);
    }

    private String next() {
        check(tokens.find(), "such a token, or end so early");
        return tokens.group(1);
    }

    private Object value(String token) {
        return switch (token.charAt(0)) {
            case '{' -> object();
            case '[' -> list();
            case '"' -> string(token);
            case 't', 'f' -> token.equals("true");
            case 'n' -> null;
            default -> number(token, tokens.group(2));
        };
    }

    /** Hands over the first token of each item. */
    private void items(String end, Consumer<String> item) {
        String token = next();
        if (token.equals(end)) return;
        for (item.accept(token); !(token = next()).equals(end); item.accept(next())) check(token.equals(","), token);
    }

    private Map<String, Object> object() {
        var object = new LinkedHashMap<String, Object>();
        items("}", token -> {
            check(token.charAt(0) == '"' && next().equals(":"), "the key " + token);
            String key = string(token);
            check(!object.containsKey(key), key + " twice");
            object.put(key, value(next()));
        });
        return object;
    }

    private List<Object> list() {
        var list = new ArrayList<>();
        items("]", token -> list.add(value(token)));
        return list;
    }

    private static String string(String token) {
        String inner = token.substring(1, token.length() - 1);
        return inner.indexOf('\\') < 0 ? inner : ESCAPE.matcher(inner).replaceAll(m -> Matcher.quoteReplacement(
                m.group(1) != null ? "" + (char) Integer.parseInt(m.group(1), 16)
                        : m.group(2) != null ? "/" : m.group().translateEscapes()));
    }

    private static Object number(String token, String rest) {
        check(rest != null, token);
        return rest.isEmpty() ? (Object) exact(Long.parseLong(token)) : (Object) Double.valueOf(token);
    }

    private static long exact(long n) {
        check(n >= -1L << 53 && n <= 1L << 53, n);
        return n;
    }

    /** Writes what read returns, records, enums, and durations in nanoseconds. No order depends on hashes. */
    static String write(Object v) {
        if (v == null || v instanceof Boolean || v instanceof Integer) return String.valueOf(v);
        if (v instanceof String s) return quote(s);
        if (v instanceof Long n) return Long.toString(exact(n));
        if (v instanceof Raw r) return r.json;
        if (v instanceof LinkedHashMap<?, ?> m) return m.entrySet().stream().map(e -> quote("" + e.getKey()) + ':'
                + write(e.getValue())).collect(Collectors.joining(",", "{", "}"));
        if (v instanceof Map<?, ?> m) return write(new LinkedHashMap<>(new TreeMap<>(m)));
        if (v instanceof Set<?> s && !(v instanceof LinkedHashSet)) return write(new ArrayList<>(new TreeSet<>(s)));
        if (v instanceof Collection<?> c) return c.stream().map(Json::write).collect(Collectors.joining(",", "[", "]"));
        if (v instanceof Record r) return write(Type.members(r));
        if (v instanceof Parameter<?> p) return write(p.declared);
        if (v instanceof Enum<?> e) return quote(e.name().toLowerCase(Locale.ROOT).replace('_', '-'));
        if (v instanceof Duration d) return write(d.toNanos());
        check(v instanceof Double d && Double.isFinite(d), v + " of " + v.getClass());
        return v.toString();
    }

    /** JSON that is written already. */
    record Raw(String json) {}

    /** An object of these keys and values, in turn, without those that are null. */
    static Map<String, Object> object(Object... members) {
        var object = new LinkedHashMap<String, Object>();
        for (int i = 0; i < members.length; i += 2)
            if (members[i + 1] != null) object.put((String) members[i], members[i + 1]);
        return object;
    }

    private static String quote(String s) {
        return '"' + ESCAPED.matcher(s).replaceAll(m -> String.format("\\\\u%04x", (int) m.group().charAt(0))) + '"';
    }
}
