package io.tollgate.spring;

import io.tollgate.OnFault;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Limits how often a method may be called: a controller's by one user's requests, and with AOP in the application that of any bean.
 *
 * <pre>{@code
 * @RestController
 * public class WmsInventoryController {
 *     @RateLimit(interval = 3)
 *     @PostMapping("/inventory/opLogList")
 *     public Page queryInventoryOpLogList(Query query) { … }
 * }
 * }</pre>
 *
 * <p>With {@code spring.application.name=app-wms} this guards rule {@code WmsInventoryController.queryInventoryOpLogList} of
 * module {@code wms}: a user passes once in 3 seconds, the counter stands at {@code
 * ratelimit:wms:WmsInventoryController.queryInventoryOpLogList:<user>}, and an operator retunes it through the fields {@code
 * wms.WmsInventoryController.queryInventoryOpLogList.check}, {@code .interval} and {@code .limit} of {@code ratelimit:config}.
 * The values here are defaults; what stands there has the last word.
 *
 * <p>It may stand on the method, on the interface method or the overridden method that it implements, on the class, a
 * superclass or an interface (then each handler method of a controller, and each public method of another bean, is guarded by a rule of
 * its own), or on an annotation of your own that is put there. What stands nearest to the method counts, and only that. Two controllers
 * that inherit one guarded method are two rules; overloads are one rule, since they share a name, unless {@link #rule()} tells them apart.
 *
 * <p>Several on one method are charged in one round trip, each also where another turns the call away; of several that do, the one with
 * the longest wait answers:
 *
 * <pre>{@code
 * @RateLimit(interval = 3)
 * @RateLimit(rule = "Order.list.daily", interval = 86_400, limit = 200)
 * }</pre>
 *
 * <p><b>Expressions.</b> {@link #key()}, {@link #condition()} and {@link #unless()} are SpEL. They know the arguments ({@code #p0}, {@code
 * #a0}, and {@code #name} where the class keeps parameter names), {@code #request} (the framework's own, an {@code
 * HttpServletRequest} for example; null outside a request), {@code #principal}, {@code #user}, {@code #ip}, {@code #tenant} (what {@link
 * #by()} would take) and beans ({@code @name}). A parameter of one of those names goes before it. A rule that uses arguments is decided by
 * the aspect, on a controller too, since only then are there arguments. An expression that can't be parsed, or names what isn't there,
 * keeps the application from starting; one that fails while it is evaluated lets the call pass, and an error log says so.
 */
@Target({ElementType.TYPE, ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Repeatable(RateLimit.List.class)
@Documented
public @interface RateLimit {
    /** The message key of a rule that names none. */
    String DEFAULT_MESSAGE_KEY = "operate_too_frequent";

    /**
     * The first part of the rule's name.
     *
     * @return empty for {@code spring.application.name} without its configured prefix: {@code app-wms} gives {@code wms}
     */
    String module() default "";

    /**
     * The second part of the rule's name.
     *
     * @return empty for {@code Controller.method}, from the simple name of the class as you wrote it; of several on one method the
     *         second gets {@code Controller.method.2}, and so on: put new ones last, or name them
     */
    String rule() default "";

    /**
     * The window, which begins with the first hit.
     *
     * @return seconds, 1 to 31,536,000 (365 days)
     */
    long interval() default 3;

    /**
     * The window from configuration, in place of {@link #interval()}.
     *
     * @return whole seconds or an ISO 8601 duration, with {@code ${…}} and {@code #{…}}, like {@code ${orders.window:PT1H}};
     *         evaluated once
     */
    String intervalString() default "";

    /**
     * Hits that pass in one window.
     *
     * @return 0 or more; 0 turns all away
     */
    long limit() default 1;

    /**
     * The limit from configuration, in place of {@link #limit()}.
     *
     * @return a whole number, with {@code ${…}} and {@code #{…}}, like {@code ${orders.limit:5}}; evaluated once
     */
    String limitString() default "";

    /**
     * What is counted by.
     *
     * @return {@link LimitBy#USER} unless {@link #key()} is given, which stands for {@link LimitBy#EXPRESSION}
     */
    LimitBy by() default LimitBy.USER;

    /**
     * What is counted by, as an expression, like {@code #p0.warehouse} or {@code #user + '|' + #p0}. Null, blank, and anything made of a
     * {@code #user}, {@code #ip} or {@code #tenant} that nobody knows is no identity: the call passes uncounted.
     *
     * @return SpEL; empty for {@link #by()}
     */
    String key() default "";

    /**
     * Whether a call is counted at all.
     *
     * @return SpEL that gives a boolean, like {@code #p0.size() > 100}; empty for all calls
     */
    String condition() default "";

    /**
     * Which calls aren't counted.
     *
     * @return SpEL that gives a boolean, like {@code #principal?.name == 'robot'}; empty for none
     */
    String unless() default "";

    /**
     * The key of the text that a rejected user reads, looked up in the host's {@code MessageSource}, then in tollgate's own
     * bundles; a key that nothing answers is itself the text.
     *
     * @return blank for {@value #DEFAULT_MESSAGE_KEY}
     */
    String messageKey() default DEFAULT_MESSAGE_KEY;

    /**
     * The text itself, for all languages.
     *
     * @return blank for the text of {@link #messageKey()}
     */
    String message() default "";

    /**
     * A method that is called in place of one that is turned away, and whose value is returned. Needs the aspect, on controllers too.
     *
     * @return the name of a method of the same class, of any visibility, with the same parameters, to which {@link RateLimited} may be
     *         added as the last; empty for none
     */
    String fallback() default "";

    /**
     * What happens while the store can't answer.
     *
     * @return one policy; empty for {@code tollgate.on-fault}
     */
    OnFault[] onFault() default {};

    /**
     * What becomes of a call that is turned away and has no fallback.
     *
     * @return {@link OnReject#REJECT} unless said otherwise
     */
    OnReject onReject() default OnReject.REJECT;

    /**
     * Whether rejections are recorded where the application keeps records.
     *
     * @return false for a rule whose rejections interest nobody
     */
    boolean record() default true;

    /**
     * Whether {@link RateLimitObserver}s, and so metrics, hear of decisions.
     *
     * @return false for a rule that nobody watches
     */
    boolean monitor() default true;

    /** Several on one place; the compiler puts it there. */
    @Target({ElementType.TYPE, ElementType.METHOD, ElementType.ANNOTATION_TYPE})
    @Retention(RetentionPolicy.RUNTIME)
    @Documented
    @interface List {
        /**
         * The rules.
         *
         * @return in the order in which they were written
         */
        RateLimit[] value();
    }
}
