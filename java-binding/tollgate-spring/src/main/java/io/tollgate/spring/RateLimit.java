package io.tollgate.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Limits how often one user may call a controller method.
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
 * superclass or an interface (then each handler method of the class is guarded, by a rule of its own), or on an annotation of
 * your own that is put there. The one nearest to the method counts. Two controllers that inherit one guarded method are two
 * rules; overloads are one rule, since they share a name, unless {@link #rule()} tells them apart.
 */
@Target({ElementType.TYPE, ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
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
     * @return empty for {@code Controller.method}, from the simple name of the class as you wrote it
     */
    String rule() default "";

    /**
     * The window, which begins with a user's first hit.
     *
     * @return seconds, 1 to 31,536,000 (365 days)
     */
    long interval() default 3;

    /**
     * Hits that pass in one window.
     *
     * @return 0 or more; 0 turns all away
     */
    long limit() default 1;

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
}
