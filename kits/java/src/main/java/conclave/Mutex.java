package conclave;

/** What a {@link Node} of a mutual exclusion has beside. */
public interface Mutex {
    /** The application wants to enter the critical section: {@link Env#granted} lets it in. It asks once at a time. */
    void request(Env env);

    /** The application has left the critical section. */
    void release(Env env);
}
