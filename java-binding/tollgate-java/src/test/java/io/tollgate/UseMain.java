package io.tollgate;

import java.io.File;

/** A small user of the library, for JVMs of their own. */
public final class UseMain {
    private UseMain() {}

    public static void main(String[] arguments) {
        try (Tollgate tollgate = Tollgate.open("memory:")) {
            Rule rule = tollgate.rule("wms", "Order.list").interval(3600).register();
            System.out.println(tollgate.acquire(rule, "u1").outcome() + " " + tollgate.acquire(rule, "u1").outcome() + " "
                    + tollgate.acquire(rule, null).outcome() + " " + tollgate.acquire(rule, "\ud800").outcome());
            tollgate.settings().set("wms.Order.list.limit", "5");
            System.out.println(tollgate.settings().all() + " " + tollgate.settings().get("nothing") + " " + tollgate.stats());
            for (Runnable failing : new Runnable[] {
                    () -> tollgate.settings().set("nothing", "1"),
                    () -> tollgate.rule("wms", "").register(),
                    () -> Tollgate.open("htp://x"),
            }) {
                try {
                    failing.run();
                    System.out.println("did not fail");
                } catch (IllegalArgumentException e) {
                    System.out.println(e.getMessage());
                }
            }
        }
        System.out.println("path " + NativeLibrary.path() + " there: " + new File(NativeLibrary.path()).exists());
    }
}
