package io.tollgate.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.cglib.proxy.Enhancer;
import org.springframework.cglib.proxy.NoOp;
import org.springframework.core.annotation.AliasFor;

class GuardedMethodsTest {
    private final GuardedMethods methods = new GuardedMethods(RuleNames.ofModule("wms"), null);

    private static GuardedRule only(GuardedMethod method) {
        assertThat(method.rules()).hasSize(1);
        return method.rules().get(0);
    }

    @Test
    void namesAndDefaultsAreDerived() {
        GuardedRule list = only(find(new Orders(), "list"));
        assertThat(list.module()).isEqualTo("wms");
        assertThat(list.rule()).isEqualTo("Orders.list");
        assertThat(list.interval()).isEqualTo(3);
        assertThat(list.limit()).isEqualTo(1);
        assertThat(list.messageKey()).isEqualTo("operate_too_frequent");
        assertThat(list.message()).isEmpty();
        assertThat(list).hasToString("wms.Orders.list");
        assertThat(list.guarded()).hasToString("wms.Orders.list (" + Orders.class.getName() + ".list)");
    }

    @Test
    void whatIsWrittenWins() {
        GuardedRule named = only(find(new Orders(), "named"));
        assertThat(named.module()).isEqualTo("mes");
        assertThat(named.rule()).isEqualTo("query");
        assertThat(named.interval()).isEqualTo(15);
        assertThat(named.limit()).isEqualTo(20);
        assertThat(named.messageKey()).isEqualTo("busy");
        assertThat(named.message()).isEqualTo("Busy!");
    }

    @Test
    void blankNamesAndKeysAreDerived() {
        GuardedRule blank = only(find(new Orders(), "blank"));
        assertThat(blank.module()).isEqualTo("wms");
        assertThat(blank.rule()).isEqualTo("Orders.blank");
        assertThat(blank.messageKey()).isEqualTo("operate_too_frequent");
    }

    @Test
    void anUnguardedMethodIsNone() {
        assertThat(find(new Orders(), "free")).isNull();
        assertThat(find(new Orders(), "toString")).isNull();
        assertThat(find(new Orders(), "free")).isNull();
    }

    @Test
    void aMethodIsResolvedOnce() {
        assertThat(find(new Orders(), "list")).isSameAs(find(new Orders(), "list"));
    }

    @Test
    void aComposedAnnotationCounts() {
        GuardedRule slow = only(find(new Orders(), "slow"));
        assertThat(slow.interval()).isEqualTo(60);
        assertThat(slow.limit()).isEqualTo(7);
        assertThat(slow.messageKey()).isEqualTo("slow");
    }

    @Test
    void anInterfaceMethodCounts() {
        assertThat(only(find(new ApiOrders(), "list")).rule()).isEqualTo("ApiOrders.list");
        assertThat(find(new ApiOrders(), "free")).isNull();
    }

    @Test
    void anInterfaceCountsForAMethodThatASuperclassBrings() {
        assertThat(only(find(new BoughtOrders(), "list")).rule()).isEqualTo("BoughtOrders.list");
        assertThat(only(find(new BoughtGenericOrders(), "save", String.class)).interval()).isEqualTo(11);
        assertThat(find(new BoughtGenericOrders(), "save", Object.class)).isNull();
    }

    @Test
    void aClassIsADefaultForItsMethods() {
        assertThat(only(find(new GuardedClass(), "list")).interval()).isEqualTo(30);
        assertThat(only(find(new GuardedClass(), "list")).rule()).isEqualTo("GuardedClass.list");
        assertThat(only(find(new GuardedClass(), "own")).interval()).isEqualTo(5);
        assertThat(only(find(new SubOfGuardedClass(), "more")).interval()).isEqualTo(30);
        assertThat(only(find(new SubOfGuardedClass(), "more")).rule()).isEqualTo("SubOfGuardedClass.more");
        assertThat(only(find(new OfGuardedInterface(), "list")).interval()).isEqualTo(40);
        assertThat(only(find(new ComposedClass(), "list")).interval()).isEqualTo(60);
    }

    @Test
    void anOverriddenMethodsAnnotationCounts() {
        assertThat(only(find(new OverridingOrders(), "list")).rule()).isEqualTo("OverridingOrders.list");
    }

    @Test
    void subclassesThatInheritAGuardedMethodCountApart() throws Exception {
        Method inherited = Base.class.getMethod("list");
        assertThat(only(methods.find(new A(), A.class, inherited)).rule()).isEqualTo("A.list");
        assertThat(only(methods.find(new B(), B.class, inherited)).rule()).isEqualTo("B.list");
        assertThat(methods.find(new A(), A.class, inherited)).isSameAs(find(new A(), "list"));
        assertThat(only(methods.find(new A(), A.class, inherited)).attribute()).isNotEqualTo(only(find(new B(), "list")).attribute());
    }

    @Test
    void aBridgeLeadsToTheMethodBehindIt() throws Exception {
        GuardedMethod real = find(new StringCrud(), "save", String.class);
        Method bridge = StringCrud.class.getMethod("save", Object.class);
        assertThat(bridge.isBridge()).isTrue();
        assertThat(methods.find(new StringCrud(), StringCrud.class, bridge).method()).isEqualTo(real.method());
        assertThat(only(real).rule()).isEqualTo("StringCrud.save");
        assertThat(only(find(new InterfaceCrud(), "save", String.class)).interval()).isEqualTo(11);
        assertThat(only(methods.find(new InterfaceCrud(), InterfaceCrud.class, Crud.class.getMethod("save", Object.class))).interval()).isEqualTo(11);
    }

    @Test
    void overloadsAreToldApartByTheirAnnotationAndShareTheName() {
        assertThat(only(find(new Overloads(), "list", String.class)).rule()).isEqualTo("Overloads.list");
        assertThat(only(find(new Overloads(), "list", int.class)).rule()).isEqualTo("Overloads.list");
        assertThat(only(find(new Overloads(), "list", String.class)).attribute()).isEqualTo(only(find(new Overloads(), "list", int.class)).attribute());
        assertThat(find(new Overloads(), "list")).isNull();
    }

    @Test
    void generatedSubclassesAreUnwrapped() throws Exception {
        Object proxy = cglib(new Orders());
        assertThat(proxy.getClass().getName()).contains("$$");
        assertThat(only(find(proxy, "list")).rule()).isEqualTo("Orders.list");
        assertThat(find(proxy, "free")).isNull();

        Object twice = Enhancer.create(Enhancer.create(Orders.class, NoOp.INSTANCE).getClass(), NoOp.INSTANCE);
        assertThat(only(find(twice, "list")).rule()).isEqualTo("Orders.list");
        assertThat(find(twice, "list").type()).isEqualTo(Orders.class);
    }

    @Test
    void aJdkProxyIsNamedByItsTarget() throws Exception {
        Object first = jdk(new ApiOrders());
        Object second = jdk(new OtherApiOrders());
        assertThat(first.getClass()).isEqualTo(second.getClass());
        Method method = Api.class.getMethod("list");
        assertThat(only(methods.find(first, first.getClass(), method)).rule()).isEqualTo("ApiOrders.list");
        assertThat(only(methods.find(second, second.getClass(), method)).rule()).isEqualTo("OtherApiOrders.list");
        assertThat(methods.find(first, first.getClass(), Api.class.getMethod("free"))).isNull();
        // The annotation stands on the class, which the proxy hides.
        Object hidden = jdk(new AnnotatedBehindProxy());
        assertThat(only(methods.find(hidden, hidden.getClass(), Plain.class.getMethod("list"))).rule()).isEqualTo("AnnotatedBehindProxy.list");
    }

    @Test
    void aProxyWithoutATargetIsNamedByItsInterface() throws Exception {
        InvocationHandler nothing = (proxy, method, arguments) -> null;
        Object proxy = Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Api.class}, nothing);
        assertThat(only(methods.find(proxy, proxy.getClass(), Api.class.getMethod("list"))).rule()).isEqualTo("Api.list");
    }

    @Test
    void beyondTheCapacityMethodsAreStillFound() throws Exception {
        GuardedMethods small = new GuardedMethods(RuleNames.ofModule("wms"), null, 1);
        Method method = Base.class.getMethod("list");
        GuardedMethod remembered = small.find(null, A.class, method);
        assertThat(small.find(null, A.class, method)).isSameAs(remembered);
        GuardedMethod notRemembered = small.find(null, B.class, method);
        assertThat(only(notRemembered).rule()).isEqualTo("B.list");
        // Found anew, and yet the same to whoever keeps something for it.
        assertThat(small.find(null, B.class, method)).isNotSameAs(notRemembered).isEqualTo(notRemembered).hasSameHashCodeAs(notRemembered);
        assertThat(notRemembered).isNotEqualTo(remembered);
        assertThat(small.find(null, Orders.class, Orders.class.getMethod("free"))).isNull();
    }

    private GuardedMethod find(Object bean, String name, Class<?>... parameters) {
        try {
            return methods.find(bean, bean.getClass(), bean.getClass().getMethod(name, parameters));
        } catch (NoSuchMethodException e) {
            throw new AssertionError(e);
        }
    }

    private static Object cglib(Object target) {
        ProxyFactory factory = new ProxyFactory(target);
        factory.setProxyTargetClass(true);
        return factory.getProxy();
    }

    private static Object jdk(Object target) {
        return new ProxyFactory(target).getProxy();
    }

    @Target({ElementType.METHOD, ElementType.TYPE})
    @Retention(RetentionPolicy.RUNTIME)
    @RateLimit(interval = 60, messageKey = "slow")
    @interface Slow {
        @AliasFor(annotation = RateLimit.class, attribute = "limit")
        long times() default 2;
    }

    public static class Orders {
        @RateLimit
        public void list() {}

        @RateLimit(module = "mes", rule = "query", interval = 15, limit = 20, messageKey = "busy", message = "Busy!")
        public void named() {}

        @RateLimit(module = " ", rule = "\t", messageKey = " ")
        public void blank() {}

        @Slow(times = 7)
        public void slow() {}

        public void free() {}
    }

    public interface Api {
        @RateLimit
        void list();

        void free();
    }

    public static class ApiOrders implements Api {
        @Override
        public void list() {}

        @Override
        public void free() {}
    }

    public static class OtherApiOrders extends ApiOrders {}

    public interface Plain {
        void list();
    }

    public static class AnnotatedBehindProxy implements Plain {
        @Override
        @RateLimit
        public void list() {}
    }

    public static class Bought {
        public void list() {}

        public void free() {}

        public void save(String value) {}

        public void save(Object value) {}
    }

    public static class BoughtOrders extends Bought implements Api {}

    public interface Saving<T> {
        @RateLimit(interval = 11)
        void save(T value);
    }

    public static class BoughtGenericOrders extends Bought implements Saving<String> {}

    @RateLimit(interval = 30)
    public static class GuardedClass {
        public void list() {}

        @RateLimit(interval = 5)
        public void own() {}
    }

    public static class SubOfGuardedClass extends GuardedClass {
        public void more() {}
    }

    @RateLimit(interval = 40)
    public interface GuardedInterface {
        void list();
    }

    public static class OfGuardedInterface implements GuardedInterface {
        @Override
        public void list() {}
    }

    @Slow
    public static class ComposedClass {
        public void list() {}
    }

    public static class OverridingOrders extends Orders {
        @Override
        public void list() {}
    }

    public static class Base {
        @RateLimit
        public void list() {}
    }

    public static class A extends Base {}

    public static class B extends Base {}

    public abstract static class AbstractCrud<T> {
        public abstract void save(T value);
    }

    public static class StringCrud extends AbstractCrud<String> {
        @Override
        @RateLimit
        public void save(String value) {}
    }

    public interface Crud<T> {
        @RateLimit(interval = 11)
        void save(T value);
    }

    public static class InterfaceCrud implements Crud<String> {
        @Override
        public void save(String value) {}
    }

    public static class Overloads {
        public void list() {}

        @RateLimit
        public void list(String value) {}

        @RateLimit
        public void list(int value) {}
    }
}
