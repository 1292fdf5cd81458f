package conclave;

/** What a {@link Node} of a leader election has beside. */
public interface Elector {
    /** This process starts an election. A message alone can draw it into one, too. */
    void elect(Env env);
}
