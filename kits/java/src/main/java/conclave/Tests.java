package conclave;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Objects;

/**
 * Runs tests where there is no JUnit: java -cp ... conclave.Tests CLASS. Tests are static methods named
 * test....
 */
public final class Tests {
    private Tests() {}

    /** Fails unless the two are equal. */
    public static void equal(Object expected, Object actual) {
        if (!Objects.equals(expected, actual))
            throw new AssertionError("want " + expected + "\n      got  " + actual);
    }

    /** Runs the tests of the classes, and exits with 1 if one fails, or if there are none. */
    public static void main(String[] classes) throws ReflectiveOperationException {
        int passed = 0;
        int failed = 0;
        for (String name : classes) {
            for (Method test : Class.forName(name).getDeclaredMethods()) {
                if (!test.getName().startsWith("test") || !Modifier.isStatic(test.getModifiers())) continue;
                test.setAccessible(true);
                try {
                    test.invoke(null);
                    passed++;
                } catch (InvocationTargetException e) {
                    failed++;
                    System.err.print(name + "." + test.getName() + ": ");
                    e.getCause().printStackTrace();
                }
            }
        }
        System.err.println(passed + " passed, " + failed + " failed");
        System.exit(failed > 0 || passed == 0 ? 1 : 0);
    }
}
