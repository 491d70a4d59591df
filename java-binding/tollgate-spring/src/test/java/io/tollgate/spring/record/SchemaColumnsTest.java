package io.tollgate.spring.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The same columns, of the same widths, everywhere. */
class SchemaColumnsTest {
    private static final Pattern COLUMN = Pattern.compile("(?m)^  ([a-z_]+) +[A-Z0-9]+(?:\\((\\d+))?");

    @ParameterizedTest
    @ValueSource(strings = {"mysql.sql", "postgresql.sql", "h2.sql", "oracle.sql", "sqlserver.sql"})
    void eachFileHasThem(String file) {
        List<String> columns = new ArrayList<>();
        List<String> widths = new ArrayList<>();
        Matcher matcher = COLUMN.matcher(RecorderContract.resource(file));
        while (matcher.find()) {
            if (!matcher.group(1).equals("id")) {
                columns.add(matcher.group(1));
            }
            if (matcher.group().contains("CHAR")) {
                widths.add(matcher.group(2));
            }
        }
        assertThat(String.join(", ", columns)).isEqualTo(InterceptionTable.COLUMNS);
        assertThat(widths).isEqualTo(Arrays.asList("128", "128", "256", "400", "16", "1000", "32", "64", "128"));
        // Oracle 11g's longest name.
        Matcher index = Pattern.compile("(?:INDEX(?: IF NOT EXISTS)?|KEY) (\\w+)").matcher(RecorderContract.resource(file));
        int found = 0;
        while (index.find()) {
            assertThat(index.group(1)).hasSizeLessThanOrEqualTo(30);
            found++;
        }
        assertThat(found).isEqualTo(2);
    }
}
