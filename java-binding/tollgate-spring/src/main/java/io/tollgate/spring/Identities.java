package io.tollgate.spring;

import java.util.Objects;
import java.util.function.Function;

/** Who asks, in each of the ways in which rules may count. Thread-safe. */
public final class Identities {
    private final IdentityChain users;
    private final Function<GuardedRequest, String> addresses;
    private final Function<GuardedRequest, String> tenants;

    /**
     * Puts the parts together.
     *
     * @param users     for {@link LimitBy#USER}
     * @param addresses for {@link LimitBy#IP}
     * @param tenants   for {@link LimitBy#TENANT}
     */
    public Identities(IdentityChain users, Function<GuardedRequest, String> addresses, Function<GuardedRequest, String> tenants) {
        this.users = Objects.requireNonNull(users, "users");
        this.addresses = Objects.requireNonNull(addresses, "addresses");
        this.tenants = Objects.requireNonNull(tenants, "tenants");
    }

    String user(GuardedRequest request, GuardedMethod method) {
        return users.resolve(request, method);
    }

    String address(GuardedRequest request) {
        return addresses.apply(request);
    }

    String tenant(GuardedRequest request) {
        return tenants.apply(request);
    }
}
