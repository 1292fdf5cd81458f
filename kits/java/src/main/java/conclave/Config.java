package conclave;

import java.util.List;
import java.util.Map;

/**
 * What one process knows before the run. Processes are numbered from 1; 0 is none.
 *
 * @param id          this process
 * @param peers       all processes, ascending
 * @param neighbors   those to which it may send; on a ring in one direction, the successor alone
 * @param weights     of the links to the neighbors, in their order, if the algorithm needs them
 * @param ring        the order of the ring, if there is one
 * @param leader      settled before the start, or 0
 * @param leaderDown  whether that leader has crashed before the start
 * @param holder      of the token at the start, or 0
 * @param incarnation 0, and one more at every recovery
 * @param params      the parameters of this process, as JSON has them: see {@link #get(Parameter)}
 * @param all         those that differ between processes, as lists in the order of their numbers
 * @param saved       what it last saved, or null
 */
public record Config(int id, List<Integer> peers, List<Integer> neighbors, List<Integer> weights, List<Integer> ring,
        int leader, boolean leaderDown, int holder, int incarnation, Map<?, ?> params, Map<?, ?> all, Record saved) {
    /** The value of a parameter at this process. */
    public <T> T get(Parameter<T> parameter) { return parameter.of(params.get(parameter.name())); }

    /** The value of a parameter at any process. */
    public <T> T get(Parameter<T> parameter, int process) {
        return all.get(parameter.name()) instanceof List<?> l ? parameter.of(l.get(process - 1)) : get(parameter);
    }
}
