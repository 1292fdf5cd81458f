package conclave;

import java.lang.annotation.*;

/**
 * What an algorithm says about itself. A default is what most papers assume: a complete network, messages in any order,
 * no bound on delays, no loss, no crash. Conclave's pages on the contract and on the protocol have all names and words.
 */
@Retention(RetentionPolicy.RUNTIME)
public @interface Spec {
    /** One line. */
    String summary();
    /** The kinds of messages: records, of which NewLeader is the kind NEW_LEADER. */
    Class<?>[] messages();
    /** Messages that are counted apart, such as acknowledgements. */
    Class<?>[] auxiliary() default {};
    /** What is saved and is no message. */
    Class<?>[] saves() default {};
    /** The kind that hands the token on. */
    String token() default "";
    /** The names of the timers, or prefixes and *; none: any. */
    String[] timers() default {};
    /** Events have random numbers; it never falls quiet; suspicions in a script make its own time-outs expire. */
    boolean draws() default false; boolean perpetual() default false; boolean told() default false;
    /** Which outages count, such as "served". */
    String service() default "";
    /** What happens beyond what it needs and survives, in sentences. */
    String breaks() default "";
    Paper paper() default @Paper;
    Needs needs() default @Needs;
    Survives survives() default @Survives;
    Promises promises() default @Promises;
    Period[] periods() default {};

    /** Where the rules come from. Deviations are where the code departs from it, and why. */
    @interface Paper {
        String authors() default ""; String title() default ""; String venue() default ""; int year() default 0;
        String doi() default ""; String deviations() default "";
    }

    /** Such as topology "ring", synchrony "synchronous", detector "perfect"; nodes is the least number of processes. */
    @interface Needs {
        String topology() default ""; String synchrony() default ""; String detector() default "";
        boolean fifo() default false; boolean anonymous() default false; int nodes() default 0;
    }

    /** Crashes are a number such as "1", or "minority" or "all but one"; recovery is that a process comes back. */
    @interface Survives {
        boolean loss() default false; boolean duplication() default false; boolean partition() default false;
        boolean recovery() default false; String crashes() default "0";
    }

    /** Such as leadership "one per term", live "steady". */
    @interface Promises {
        boolean starvationFree() default false; boolean requestOrder() default false; boolean announced() default false;
        boolean highest() default false; String leadership() default ""; String live() default "";
    }

    /** What a leader repeats: the parameters with its period and spread, and the timer. */
    @interface Period {
        String parameter(); String spread() default ""; String timer(); boolean reply() default false;
    }
}
