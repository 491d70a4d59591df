package io.tollgate.spring;

/**
 * Answers a request that was turned away. A bean of this type replaces {@link JsonRejectionHandler}.
 *
 * <pre>{@code
 * @Bean
 * RejectionHandler tooManyRequests() {
 *     return (rejection, response) -> {
 *         response.status(429);
 *         response.header("Retry-After", String.valueOf((rejection.decision().resetAfterMillis() + 999) / 1000));
 *         response.body("text/plain;charset=UTF-8", rejection.text());
 *     };
 * }
 * }</pre>
 */
@FunctionalInterface
public interface RejectionHandler {
    /**
     * Writes the answer. Where it throws, an error is logged and {@link JsonRejectionHandler} answers instead.
     *
     * @param rejection what was rejected, and the text for it
     * @param response  where to write
     * @throws Exception the answer can't be written
     */
    void handle(Rejection rejection, RejectionResponse response) throws Exception;
}
