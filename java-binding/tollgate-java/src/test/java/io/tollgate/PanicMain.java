package io.tollgate;

/** Meets a defect inside, for a JVM of its own with a library that has one. */
public final class PanicMain {
    private PanicMain() {}

    public static void main(String[] arguments) throws Exception {
        try (Tollgate tollgate = Tollgate.open("memory:")) {
            Rule rule = tollgate.rule("wms", "Order.list").interval(3600).register();
            for (int i = 0; i < 3; i++) {
                try {
                    tollgate.acquire(rule, "panic now");
                    System.out.println("did not fail");
                } catch (TollgateException e) {
                    System.out.println(e.getClass().getName() + ": " + e.getMessage());
                }
            }
            Thread thread = new Thread(() -> System.out.println(tollgate.acquire(rule, "u1").outcome()));
            thread.start();
            thread.join();
            System.out.println(tollgate.acquire(rule, "u1").outcome());
        }
    }
}
