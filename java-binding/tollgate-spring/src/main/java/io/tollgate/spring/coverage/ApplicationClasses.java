package io.tollgate.spring.coverage;

import io.tollgate.spring.RateLimit;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.asm.ClassReader;
import org.springframework.asm.Type;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/** The application's own classes, read from their files once; none is loaded. Bounded. */
final class ApplicationClasses {
    private static final int MOST = 20_000;
    private static final Logger LOG = LoggerFactory.getLogger(ApplicationClasses.class);
    /** Where Maven, Gradle, IDEA and Eclipse compile tests to. */
    private static final Pattern TESTS = Pattern.compile("/(test-classes|(out|bin)/test|build/classes/[^/]+/[a-zA-Z]*[tT]est)/");

    private final Map<String, ClassFacts> classes = new LinkedHashMap<>();
    private boolean isComplete = true;

    private ApplicationClasses() {}

    /**
     * Reads the classes of packages and of those below them.
     *
     * @param methods names of methods whose callers matter
     */
    static ApplicationClasses in(Collection<String> packages, Set<String> methods, ClassLoader loader) {
        ApplicationClasses found = new ApplicationClasses();
        PathMatchingResourcePatternResolver resolver = new PathMatchingResourcePatternResolver(loader);
        for (String name : packages) {
            // The default package would be every class there is.
            if (StringUtils.hasText(name)) {
                found.read(resolver, name, methods);
            }
        }
        return found;
    }

    /** Whether every class was read, so that a caller that isn't there doesn't exist. */
    boolean isComplete() {
        return isComplete;
    }

    Collection<ClassFacts> all() {
        return classes.values();
    }

    /** Null if it isn't one of the application's. */
    ClassFacts get(String internalName) {
        return classes.get(internalName);
    }

    /** Concrete classes, no tests, that carry the annotation themselves, on themselves or on a method; by their names. */
    List<String> annotated() {
        Set<String> annotations = composed();
        List<String> found = new ArrayList<>();
        for (ClassFacts facts : classes.values()) {
            if (facts.isConcrete() && !facts.isTest() && !Collections.disjoint(facts.annotations(), annotations)) {
                found.add(facts.name().replace('/', '.'));
            }
        }
        return found;
    }

    /** The annotation, its container, and the application's annotations that carry it. */
    private Set<String> composed() {
        Set<String> known = new HashSet<>();
        known.add(Type.getDescriptor(RateLimit.class));
        known.add(Type.getDescriptor(RateLimit.List.class));
        boolean grew = true;
        while (grew) {
            grew = false;
            for (ClassFacts facts : classes.values()) {
                if (facts.isAnnotation() && !Collections.disjoint(facts.annotations(), known)) {
                    grew |= known.add('L' + facts.name() + ';');
                }
            }
        }
        return known;
    }

    private void read(PathMatchingResourcePatternResolver resolver, String name, Set<String> methods) {
        String pattern = "classpath*:" + ClassUtils.convertClassNameToResourcePath(name) + "/**/*.class";
        try {
            for (Resource resource : resolver.getResources(pattern)) {
                if (classes.size() >= MOST) {
                    LOG.warn("tollgate: package {} has more than {} classes: the rest isn't looked through for methods that only look guarded", name, MOST);
                    isComplete = false;
                    return;
                }
                read(resource, methods);
            }
        } catch (IOException e) {
            LOG.debug("tollgate: package {} can't be looked through", name, e);
            isComplete = false;
        }
    }

    private void read(Resource resource, Set<String> methods) {
        try (InputStream in = resource.getInputStream()) {
            ClassFacts facts = new ClassFacts(methods::contains, TESTS.matcher(resource.getURL().getPath()).find());
            new ClassReader(in).accept(facts, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
            classes.putIfAbsent(facts.name(), facts);
        } catch (IOException | RuntimeException e) {
            // A class file of a Java that this Spring doesn't know.
            LOG.debug("tollgate: {} can't be read", resource, e);
            isComplete = false;
        }
    }
}
