package io.tollgate;

/** Tries to load the library, several ways and times, for JVMs of their own. */
public final class LoadMain {
    private LoadMain() {}

    public static void main(String[] arguments) {
        attempt(NativeLibrary::load);
        attempt(() -> Tollgate.open("memory:").close());
        attempt(Tollgate::version);
        System.out.println("loaded: " + NativeLibrary.isLoaded() + " from " + NativeLibrary.path());
    }

    private static void attempt(Runnable use) {
        try {
            use.run();
            System.out.println("worked");
        } catch (LibraryLoadException e) {
            System.out.println(e.getMessage());
        }
    }
}
