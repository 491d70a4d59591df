package io.tollgate.spring.coverage;

/** Why a method that carries {@link io.tollgate.spring.RateLimit} isn't protected. */
public enum Gap {
    /** It is private: no proxy sees its calls. */
    PRIVATE("Make it public and have another bean call it, or move the annotation to the method through which others come in."),
    /** It is static: it belongs to no bean. */
    STATIC("Make it an instance method of a bean, and have another bean call it."),
    /** It is final, and the bean's proxy is a subclass. */
    FINAL_METHOD("Take final off the method (in Kotlin: open, or the kotlin-spring plugin)."),
    /** Its class is final, and proxies are subclasses. */
    FINAL_CLASS("Take final off the class (in Kotlin: open, or the kotlin-spring plugin)."),
    /** It can't be seen from the package or the class loader of the bean's proxy, which is a subclass. */
    PACKAGE_PRIVATE("Make it public."),
    /** The bean's proxy implements interfaces, and none of them has the method. */
    NOT_IN_INTERFACE("Add the method to the interface, or have proxies be subclasses: spring.aop.proxy-target-class=true."),
    /** Only its own class calls it, which goes past the proxy. */
    SELF_INVOKED("Move it to another bean, or have the class call itself through an injected reference of its own."),
    /** There is no aspect in the application. */
    NO_AOP("Add spring-boot-starter-aop (spring-boot-starter-aspectj from Spring Boot 4 on), and leave spring.aop.auto on."),
    /** The aspect is there and didn't reach the bean. */
    NOT_PROXIED("Have nothing that Spring creates early (a BeanPostProcessor, for example) inject the bean, make it by a bean "
            + "definition, and enable AOP in the context that it lives in."),
    /** The aspect has to decide it, and can't. */
    NEEDS_ASPECT("Or leave out what needs the call itself: arguments in expressions, a fallback, RETURN_MESSAGE."),
    /** Requests reach it by a way on which no interceptor of tollgate's stands. */
    SHADOWED("Leave tollgate's MappedInterceptor as it is, and have the handler mapping be a bean that detects such interceptors."),
    /** Its class isn't a bean. */
    NOT_A_BEAN("Make the class a bean, or take the annotation off; tollgate.coverage.ignore names classes that are meant to be so."),
    /** It counts by tenant, and nothing knows one. */
    NO_TENANT("Set one of tollgate.tenant.*, or add a TenantResolver bean."),
    /** The annotation can't be read. */
    UNREADABLE("Correct the annotation.");

    private final String remedy;

    Gap(String remedy) {
        this.remedy = remedy;
    }

    /**
     * What to do.
     *
     * @return a sentence
     */
    public String remedy() {
        return remedy;
    }
}
