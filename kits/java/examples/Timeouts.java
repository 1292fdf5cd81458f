import conclave.Node;
import java.math.BigDecimal;
import java.time.Duration;

/**
 * Time-outs of elections that know d, the largest latency: one covers a round trip, and one that runs behind
 * it covers another.
 */
final class Timeouts {
    /** What the defaults leave for the schedulers of real machines. */
    private static final Duration SLACK = Duration.ofMillis(20);

    private Timeouts() {}

    /** The default of a time-out for an answer: 3d + 20 ms. */
    static Duration roundTrip(Node.Network network) {
        return network.latency().multipliedBy(3).plus(SLACK);
    }

    /** Why the time-outs called t and tPrime do not cover what they must, 2d and T + 2d; null if they do. */
    static String doubt(Node.Network network, Node.Params params, String t, String tPrime) {
        Duration twice = network.latency().multipliedBy(2);
        Duration first = params.duration(t);
        if (first.compareTo(twice) < 0) return t + " " + text(first) + " is below 2d = " + text(twice);
        Duration second = params.duration(tPrime);
        Duration least = first.plus(twice);
        if (second.compareTo(least) >= 0) return null;
        return tPrime + " " + text(second) + " is below T + 2d = " + text(least);
    }

    /** A duration as Conclave writes it: 1.5ms, 2m0s. */
    static String text(Duration d) {
        if (d.isZero()) return "0s";
        if (d.isNegative()) return "-" + text(d.negated());
        long ns = d.toNanos();
        if (ns < 1_000) return ns + "ns";
        if (ns < 1_000_000) return decimal(ns, 3) + "\u00b5s";
        if (ns < 1_000_000_000) return decimal(ns, 6) + "ms";
        String seconds = decimal(ns % 60_000_000_000L, 9) + "s";
        if (d.toMinutes() == 0) return seconds;
        return (d.toHours() == 0 ? "" : d.toHours() + "h") + d.toMinutesPart() + "m" + seconds;
    }

    /** A number over a power of ten. */
    private static String decimal(long n, int digits) {
        return BigDecimal.valueOf(n, digits).stripTrailingZeros().toPlainString();
    }
}
