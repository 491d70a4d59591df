package io.tollgate.spring;

import java.util.ArrayList;
import java.util.List;

/** Asks one resolver after the other. Immutable. */
public final class IdentityChain {
    private final List<IdentityResolver> resolvers;

    /**
     * A chain.
     *
     * @param resolvers in the order in which they are asked
     */
    public IdentityChain(List<? extends IdentityResolver> resolvers) {
        this.resolvers = new ArrayList<>(resolvers);
    }

    /**
     * Who asks.
     *
     * @param request the request
     * @param method  what it is about to call
     * @return null if nobody knows
     */
    public String resolve(GuardedRequest request, GuardedMethod method) {
        for (IdentityResolver resolver : resolvers) {
            String user = resolver.resolve(request, method);
            if (isPresent(user)) {
                return user;
            }
        }
        return null;
    }

    /** The limiter draws the same line; it is needed here so that the next resolver is asked. */
    static boolean isPresent(String user) {
        if (user == null) {
            return false;
        }
        int from = 0;
        int to = user.length();
        while (from < to && isBlank(user.charAt(from))) {
            from++;
        }
        while (from < to && isBlank(user.charAt(to - 1))) {
            to--;
        }
        return from < to && !equals(user, from, to, "null") && !equals(user, from, to, "undefined");
    }

    private static boolean equals(String text, int from, int to, String word) {
        return to - from == word.length() && text.startsWith(word, from);
    }

    /** Unicode's White_Space. */
    private static boolean isBlank(char c) {
        return Character.isSpaceChar(c) || c >= '\t' && c <= '\r' || c == '\u0085';
    }
}
