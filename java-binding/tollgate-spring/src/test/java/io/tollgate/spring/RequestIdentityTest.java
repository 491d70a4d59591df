package io.tollgate.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.authority.AuthorityUtils;
import org.springframework.security.core.context.SecurityContextHolder;

class RequestIdentityTest {
    private final Map<IdentitySource, String> names = new EnumMap<>(IdentitySource.class);

    RequestIdentityTest() {
        names.put(IdentitySource.PARAMETER, "usercode");
        names.put(IdentitySource.SESSION, " login ");
        names.put(IdentitySource.REQUEST, "user");
        names.put(IdentitySource.HEADER, "X-User");
    }

    @AfterEach
    void logOut() {
        SecurityContextHolder.clearContext();
    }

    private static TestRequest everything() {
        TestRequest request = new TestRequest().parameter("usercode", "p").session("login", 4711L).header("X-User", "h", "second")
                .by(named("u"));
        request.setAttribute("user", new StringBuilder("r"));
        return request;
    }

    private String user(TestRequest request, IdentitySource... order) {
        return new RequestIdentity(Arrays.asList(order), names).resolve(request, null);
    }

    @Test
    void eachSourceKnowsItsOwn() {
        String[] users = {"p", "4711", "r", "h", "u"};
        for (IdentitySource source : IdentitySource.values()) {
            assertThat(user(everything(), source)).isEqualTo(users[source.ordinal()]);
            assertThat(user(new TestRequest(), source)).isNull();
        }
        assertThat(user(everything())).isNull();
    }

    @Test
    void theOrderDecides() {
        List<IdentitySource> order = Arrays.asList(IdentitySource.values());
        Collections.reverse(order);
        assertThat(new RequestIdentity(order, names).resolve(everything(), null)).isEqualTo("u");
        assertThat(user(everything().parameter("usercode", " undefined"), IdentitySource.PARAMETER, IdentitySource.HEADER)).isEqualTo("h");
    }

    @Test
    void aSourceWithoutANameIsOffExceptThePrincipal() {
        names.clear();
        names.put(IdentitySource.PARAMETER, " ");
        assertThat(user(everything(), IdentitySource.values())).isEqualTo("u");
        assertThat(user(everything(), IdentitySource.PARAMETER, IdentitySource.SESSION, IdentitySource.HEADER)).isNull();
    }

    @Test
    void aHeaderInUtf8IsThatUser() {
        String bytes = new String("张三".getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        assertThat(user(new TestRequest().header("x-user", bytes), IdentitySource.HEADER)).isEqualTo("张三");
        assertThat(user(new TestRequest().header("x-user", "J\u00fcrgen"), IdentitySource.HEADER)).isEqualTo("J\u00fcrgen");
    }

    @Test
    void springSecurityKnowsWhereTheRequestDoesNot() {
        logIn(new UsernamePasswordAuthenticationToken("security", "n/a", AuthorityUtils.NO_AUTHORITIES));
        assertThat(user(new TestRequest(), IdentitySource.PRINCIPAL)).isEqualTo("security");
        assertThat(user(everything(), IdentitySource.PRINCIPAL)).isEqualTo("u");
    }

    @Test
    void anonymousAndUnprovenAreNobody() {
        AnonymousAuthenticationToken anonymous =
                new AnonymousAuthenticationToken("key", "anonymousUser", AuthorityUtils.createAuthorityList("ROLE_ANONYMOUS"));
        logIn(anonymous);
        assertThat(user(new TestRequest(), IdentitySource.PRINCIPAL)).isNull();
        assertThat(user(new TestRequest().by(anonymous), IdentitySource.PRINCIPAL)).isNull();
        logIn(new UsernamePasswordAuthenticationToken("claimed", "not yet checked"));
        assertThat(user(new TestRequest(), IdentitySource.PRINCIPAL)).isNull();
    }

    @Test
    void theTenantIsWhatTheHostSetsBeforeWhatAClientSends() {
        RequestTenant tenants = new RequestTenant(names);
        assertThat(tenants.isConfigured()).isTrue();
        assertThat(tenants.resolve(everything())).isEqualTo("4711");
        assertThat(tenants.resolve(new TestRequest().header("X-User", "h").parameter("usercode", "p"))).isEqualTo("h");
        assertThat(tenants.resolve(new TestRequest().by(named("u")))).isNull();
        assertThat(new RequestTenant(Collections.emptyMap()).isConfigured()).isFalse();
        assertThat(new RequestTenant(Collections.emptyMap()).resolve(everything())).isNull();
    }

    private static void logIn(org.springframework.security.core.Authentication who) {
        SecurityContextHolder.getContext().setAuthentication(who);
    }

    private static Principal named(String name) {
        return () -> name;
    }
}
