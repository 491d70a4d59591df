package io.tollgate.spring;

import java.util.ArrayList;
import java.util.List;

/**
 * Has each rule counted once in a request, whatever the framework dispatches. A rule that has turned the request away does so again; one
 * that let it pass isn't asked again, also where another method carries it.
 */
final class OncePerRequest {
    private final GuardedRequest request;
    private final List<GuardedRule> open = new ArrayList<>();
    private RateLimited earlier;

    OncePerRequest(Call call) {
        this.request = call.request();
        for (GuardedRule rule : call.method().rules()) {
            Object known = request.attribute(rule.attribute());
            if (known == null) {
                open.add(rule);
            } else if (known instanceof RateLimited && earlier == null) {
                earlier = (RateLimited) known;
            }
        }
        if (earlier == null) {
            // Before anything can fail: a later dispatch of this request must not be counted, let alone rejected, half-way.
            open.forEach(rule -> request.setAttribute(rule.attribute(), Boolean.TRUE));
        }
    }

    /** By what this request was turned away before; null if it wasn't. */
    RateLimited earlier() {
        return earlier;
    }

    /** The rules that haven't been asked yet. */
    List<GuardedRule> open() {
        return open;
    }

    /** Keeps the rejections; gives the first, null if there is none. */
    RateLimited remember(List<RateLimited> limited) {
        limited.forEach(each -> request.setAttribute(each.rule().attribute(), each));
        return limited.isEmpty() ? null : limited.get(0);
    }
}
