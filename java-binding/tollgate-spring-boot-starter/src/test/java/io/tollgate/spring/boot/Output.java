package io.tollgate.spring.boot;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Listens to what is printed, log lines above all, and lets it through. */
final class Output implements AutoCloseable {
    private final PrintStream before = System.out;
    private final ByteArrayOutputStream heard = new ByteArrayOutputStream();

    Output() {
        System.setOut(new PrintStream(new OutputStream() {
            @Override
            public void write(int b) {
                heard.write(b);
                before.write(b);
            }

            @Override
            public void write(byte[] bytes, int offset, int length) {
                heard.write(bytes, offset, length);
                before.write(bytes, offset, length);
            }
        }, true));
    }

    /** Lines of this level that speak of tollgate, in order. */
    List<String> lines(String level) {
        return Stream.of(heard.toString().split("\n"))
                .filter(line -> line.contains(' ' + level + ' ') && line.contains("tollgate:"))
                .map(line -> line.substring(line.indexOf("tollgate:")))
                .collect(Collectors.toList());
    }

    String all() {
        return heard.toString();
    }

    @Override
    public void close() {
        System.setOut(before);
    }
}
