/**
 * A fixed-window limiter for business actions: "user U hit rule R more than N times in the window".
 *
 * <pre>{@code
 * try (Tollgate tollgate = Tollgate.open("redis://127.0.0.1:6379")) {
 *     Rule rule = tollgate.rule("wms", "Order.list").interval(3).limit(1).register();
 *     Decision decision = tollgate.acquire(rule, "u1");
 *     if (!decision.isAllowed()) {
 *         retryAfter(decision.resetAfterMillis());
 *     }
 * }
 * }</pre>
 *
 * <p>{@link io.tollgate.Tollgate} is the limiter: open one for a process, register each rule once, ask it from any thread.
 * A decision never throws because of the store: a store that is down, slow or full is an {@link io.tollgate.Outcome} of its
 * own, decided by {@link io.tollgate.OnFault}.
 *
 * <h2>Without waiting</h2>
 *
 * <p>{@link io.tollgate.Tollgate#acquireAsync} gives a {@link java.util.concurrent.CompletionStage}. Its decision is brought by one daemon thread
 * named {@code tollgate-async}, which lives from the first such hit until the last limiter is closed and all hits are answered, and which
 * runs nothing of a caller's. Stages are completed on daemon threads named {@code tollgate-stage}: none while nothing happens, one
 * as long as dependent stages are quick, 32 at most. On a virtual thread {@link io.tollgate.Tollgate#acquire} goes the same way, so
 * that its carrier is free meanwhile.
 *
 * <h2>The native library</h2>
 *
 * <p>The limiter is native code that travels in this jar for Linux on x86_64 and aarch64 (glibc); see
 * {@link io.tollgate.NativeLibrary}. On JDK 24 and later start the JVM with {@code --enable-native-access=ALL-UNNAMED} (JDK
 * 17 accepts it too) or, when this jar is on the module path, {@code --enable-native-access=io.tollgate}; without it the JVM
 * prints a warning.
 *
 * <h2>Logs</h2>
 *
 * <p>What the native code logs arrives at the SLF4J logger {@code tollgate}, written by one daemon thread named {@code
 * tollgate-log} that lives while a limiter is open. At most 1,024 lines wait for it; older ones make room and a line says how many
 * were lost.
 */
package io.tollgate;
