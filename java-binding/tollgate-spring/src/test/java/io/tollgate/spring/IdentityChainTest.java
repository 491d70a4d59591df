package io.tollgate.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IdentityChainTest {
    @ParameterizedTest
    @ValueSource(strings = {"", " ", "\t\n", "\u3000", "\u00a0", "\u0085", "null", "undefined", " null ", "undefined\n"})
    void absentSpellingsLetTheNextOneSpeak(String absent) {
        IdentityChain chain = new IdentityChain(Arrays.<IdentityResolver>asList((r, m) -> null, (r, m) -> absent, (r, m) -> "u1"));
        assertThat(chain.resolve(null, null)).isEqualTo("u1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"NULL", "Null", "nil", "0", "\0", "张三", "null1", " u1 ", "n", "\ud800"})
    void allElseIsSomebodyAndStaysAsItIs(String user) {
        IdentityChain chain = new IdentityChain(Arrays.<IdentityResolver>asList((r, m) -> user, (r, m) -> "u1"));
        assertThat(chain.resolve(null, null)).isEqualTo(user);
    }

    @Test
    void nobodyIsNull() {
        assertThat(new IdentityChain(Arrays.<IdentityResolver>asList((r, m) -> " ", (r, m) -> "null")).resolve(null, null)).isNull();
    }
}
