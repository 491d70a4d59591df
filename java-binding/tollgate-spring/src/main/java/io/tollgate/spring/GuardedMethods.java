package io.tollgate.spring;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.beans.factory.BeanFactory;

/**
 * Tells which handler methods are guarded, and remembers it: after a method's first request the answer is one look-up in a
 * map, without allocation. Thread-safe.
 *
 * <p>It remembers 10,000 methods; those of a host with more are found anew for every request, which is slower and
 * no less right.
 */
public final class GuardedMethods {
    private static final int CAPACITY = 10_000;
    private static final Logger LOG = LoggerFactory.getLogger(GuardedMethods.class);

    private final ConcurrentMap<Method, Entry> entries = new ConcurrentHashMap<>();
    private final AtomicInteger size = new AtomicInteger();
    private final RuleNames names;
    private final ConfiguredValues values;
    private final int capacity;

    /**
     * Starts with nothing remembered.
     *
     * @param names for rules that don't name themselves
     * @param beans resolves placeholders and bean expressions; null for none
     */
    public GuardedMethods(RuleNames names, BeanFactory beans) {
        this(names, beans, CAPACITY);
    }

    GuardedMethods(RuleNames names, BeanFactory beans, int capacity) {
        this.names = Objects.requireNonNull(names, "names");
        this.values = new ConfiguredValues(beans);
        this.capacity = capacity;
    }

    /**
     * The guard of a method.
     *
     * @param bean   the object that the method will run on
     * @param type   its class; a generated subclass is taken for the class that it was made from
     * @param method the method, of that class or of one of its interfaces
     * @return null if the method isn't guarded
     */
    public GuardedMethod find(Object bean, Class<?> type, Method method) {
        // Controllers behind JDK proxies can share one proxy class.
        Class<?> target = bean instanceof Proxy ? targetClass(bean, type) : type;
        Entry known = Entry.of(target, entries.get(method));
        return known != null ? known.guarded : remember(target, method);
    }

    private static Class<?> targetClass(Object proxy, Class<?> type) {
        try {
            return AopProxyUtils.ultimateTargetClass(proxy);
        } catch (RuntimeException e) {
            // It asks the proxy itself, which may be of anybody's making.
            return type;
        }
    }

    private GuardedMethod remember(Class<?> type, Method method) {
        GuardedMethod guarded = readOrNone(type, method);
        if (size.get() < capacity) {
            entries.compute(method, (key, head) -> {
                if (Entry.of(type, head) != null) {
                    return head;
                }
                size.incrementAndGet();
                return new Entry(type, guarded, head);
            });
        }
        return guarded;
    }

    /**
     * The guard of a method, read anew.
     *
     * @param type   the class that the method will run on
     * @param method the method, of that class or of one of its interfaces
     * @return null if the method isn't guarded
     * @throws InvalidRateLimitException an annotation can't mean anything
     */
    public GuardedMethod read(Class<?> type, Method method) {
        Class<?> user = RateLimitLookup.userClass(type, method);
        Method specific = RateLimitLookup.specific(user, method);
        RateLimitLookup.Found found = RateLimitLookup.find(user, specific);
        return found.limits.isEmpty() ? null : new GuardedMethod(user, specific, found, names, values);
    }

    private GuardedMethod readOrNone(Class<?> type, Method method) {
        try {
            return read(type, method);
        } catch (Exception | LinkageError e) {
            LOG.error("tollgate: {} of {} is not limited, its annotations can't be read", method, type.getName(), e);
            return null;
        }
    }

    /** What is known of one method on one class; further classes that inherit the method are chained. */
    private static final class Entry {
        private final Class<?> type;
        private final GuardedMethod guarded;
        private final Entry next;

        Entry(Class<?> type, GuardedMethod guarded, Entry next) {
            this.type = type;
            this.guarded = guarded;
            this.next = next;
        }

        static Entry of(Class<?> type, Entry head) {
            Entry entry = head;
            while (entry != null && entry.type != type) {
                entry = entry.next;
            }
            return entry;
        }
    }
}
