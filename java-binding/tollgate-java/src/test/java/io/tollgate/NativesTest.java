package io.tollgate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** What no caller of the API can pass: the natives check it all the same. */
class NativesTest {
    private static final byte[] USER = {'u', '1'};

    @Test
    void arraysAndLengthsThatDontFit() throws Throwable {
        try (Tollgate tollgate = Tollgate.open("memory:")) {
            Rule rule = tollgate.rule("wms", "Order.list").interval(3600).limit(10).register();
            long limiter = tollgate.handle();
            long[] answer = new long[5];
            assertThatExceptionOfType(ArrayIndexOutOfBoundsException.class)
                    .isThrownBy(() -> acquire(limiter, rule.handle(), USER, 3, answer));
            assertThatExceptionOfType(ArrayIndexOutOfBoundsException.class)
                    .isThrownBy(() -> acquire(limiter, rule.handle(), USER, 300, answer));
            assertThatIllegalArgumentException().isThrownBy(() -> acquire(limiter, rule.handle(), USER, -1, answer))
                    .withMessageContaining("length -1");
            assertThatIllegalArgumentException().isThrownBy(() -> acquire(limiter, rule.handle(), new byte[] {-1}, 1, answer))
                    .withMessageContaining("UTF-8");
            assertThat(tollgate.stats().total()).isZero();
            assertThatExceptionOfType(ArrayIndexOutOfBoundsException.class)
                    .isThrownBy(() -> acquire(limiter, rule.handle(), USER, 2, new long[4]));
            assertThatIllegalArgumentException().isThrownBy(() -> acquire(limiter, rule.handle(), USER, 2, null));
            acquire(limiter, rule.handle(), USER, 2, answer);
            // The window's seconds stand above what kind of answer it is.
            assertThat(answer).startsWith(3600L << 32, 3, 10, 7);
        }
    }

    @Test
    void severalHitsThatDontFit() throws Throwable {
        try (Tollgate tollgate = Tollgate.open("memory:")) {
            Rule rule = tollgate.rule("wms", "Order.list").interval(3600).limit(10).register();
            long limiter = tollgate.handle();
            long[] answers = new long[10];
            for (long[] hit : new long[][] {{1, 2}, {2, 1}, {3, 0}, {-1, 2}, {Long.MAX_VALUE, Long.MAX_VALUE}}) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> acquireAll(limiter, new long[] {rule.handle(), 0, 2, rule.handle(), hit[0], hit[1]}, USER, answers))
                        .withMessageContaining("shorter");
            }
            assertThatIllegalArgumentException().isThrownBy(() -> acquireAll(limiter, new long[] {rule.handle(), 0}, USER, answers));
            assertThatIllegalArgumentException().isThrownBy(() -> acquireAll(limiter, null, USER, answers));
            assertThatIllegalArgumentException().isThrownBy(() -> acquireAll(limiter, new long[] {rule.handle(), 0, 2}, null, answers));
            assertThatIllegalArgumentException().isThrownBy(() -> acquireAll(limiter, new long[] {rule.handle(), 0, 1}, new byte[] {-1}, answers))
                    .withMessageContaining("UTF-8");
            assertThatIllegalArgumentException().isThrownBy(() -> acquireAll(limiter, new long[] {rule.handle(), 0, 2, 7, 0, 2}, USER, answers))
                    .withMessageContaining("rules[1]");
            assertThat(tollgate.stats().total()).isZero();
            assertThatIllegalArgumentException().isThrownBy(() -> acquireAll(limiter, new long[] {rule.handle(), 0, 2}, USER, null));
            acquireAll(limiter, new long[] {rule.handle(), 0, 2, rule.handle(), 1, 1}, USER, answers);
            assertThat(answers).startsWith(3600L << 32, 2, 10, 8);
            assertThat(Arrays.copyOfRange(answers, 5, 9)).containsExactly(3600L << 32, 1, 10, 9);
        }
    }

    @Test
    void handlesThatAreNone() {
        try (Tollgate tollgate = Tollgate.open("memory:")) {
            Rule rule = tollgate.rule("wms", "Order.list").register();
            long limiter = tollgate.handle();
            for (long none : new long[] {0, 1, -1, Long.MAX_VALUE, Long.MIN_VALUE, rule.handle(), limiter + 4, ~limiter}) {
                assertThatIllegalStateException().isThrownBy(() -> acquire(none, rule.handle(), USER, 2, new long[5]));
            }
            for (long none : new long[] {0, 2, -1, Long.MAX_VALUE, Long.MIN_VALUE, limiter, rule.handle() + 4}) {
                assertThatIllegalArgumentException().isThrownBy(() -> acquire(limiter, none, USER, 2, new long[5]));
            }
        }
    }

    private static void acquireAll(long limiter, long[] hits, byte[] users, long[] answers) throws Throwable {
        Method acquireAll = Tollgate.class.getDeclaredMethod("acquireAll", long.class, long[].class, byte[].class, long[].class);
        acquireAll.setAccessible(true);
        try {
            acquireAll.invoke(null, limiter, hits, users, answers);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static void acquire(long limiter, long rule, byte[] user, int length, long[] answer) throws Throwable {
        Method acquire = Tollgate.class.getDeclaredMethod("acquire", long.class, long.class, byte[].class, int.class, long[].class);
        acquire.setAccessible(true);
        try {
            acquire.invoke(null, limiter, rule, user, length, answer);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
