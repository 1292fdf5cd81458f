package conclave;

import java.time.Duration;
import java.util.Map;

/**
 * What the default of a parameter, and a doubt, may depend on.
 *
 * @param nodes   how many processes there are
 * @param latency d: the largest one-way latency, or its 99.9th percentile if it is not bounded
 * @param mean    the largest mean one-way latency of a link
 * @param bounded whether no latency exceeds that one
 * @param hold    the longest stay in the critical section
 * @param params  the parameters before this one, or for a doubt all, as JSON has them: see {@link #get}
 */
public record Network(int nodes, Duration latency, Duration mean, boolean bounded, Duration hold, Map<?, ?> params) {
    /** The value of a parameter. */
    public <T> T get(Parameter<T> parameter) { return parameter.of(params.get(parameter.name())); }
}
