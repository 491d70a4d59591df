package io.tollgate.demo;

import java.sql.Timestamp;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import javax.annotation.PostConstruct;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/** Fills the log with thirty days of a plant's work: the same operations at every start, ending yesterday. */
@Component
class SampleLog {

    static final String[] WAREHOUSES = {"WH-RAW", "WH-WIP", "WH-FG", "WH-SPARE"};

    private static final int DAYS = 30;
    private static final int OPERATIONS_A_DAY = 90;
    private static final String[][] MATERIALS = {
        {"MAT-10021", "六角螺栓 Hex bolt M6×20", "PCS"}, {"MAT-10022", "六角螺栓 Hex bolt M8×30", "PCS"},
        {"MAT-10047", "平垫圈 Flat washer M8", "PCS"}, {"MAT-10112", "深沟球轴承 Bearing 6204-2RS", "PCS"},
        {"MAT-10130", "丁腈O形圈 O-ring NBR 25×3", "PCS"}, {"MAT-10233", "铝型材 Aluminium profile 4040", "M"},
        {"MAT-10234", "冷轧钢板 Cold-rolled sheet 1.5 mm", "KG"}, {"MAT-10310", "黄铜接头 Brass fitting G1/4", "PCS"},
        {"MAT-20011", "步进电机 Stepper motor 57BYG", "PCS"}, {"MAT-20012", "伺服驱动器 Servo drive 750 W", "PCS"},
        {"MAT-20045", "接近开关 Proximity switch M12", "PCS"}, {"MAT-20077", "控制电缆 Control cable 4×0.75", "M"},
        {"MAT-20103", "开关电源 Power supply 24 V 5 A", "PCS"}, {"MAT-20150", "气缸 Pneumatic cylinder 32×100", "PCS"},
        {"MAT-20151", "电磁阀 Solenoid valve 5/2", "PCS"}, {"MAT-30005", "齿轮箱总成 Gearbox assembly GB-5", "SET"},
        {"MAT-30009", "主轴组件 Spindle unit SP-80", "SET"}, {"MAT-30014", "控制柜 Control cabinet CC-2", "SET"},
        {"MAT-90001", "切削液 Cutting fluid", "L"}, {"MAT-90003", "润滑脂 Grease EP2", "KG"},
    };
    private static final String INSERT = "INSERT INTO inventory_op_log (op_no, op_time, op_type, warehouse, location, material,"
            + " material_name, batch, qty, unit, balance, operator) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

    private final JdbcTemplate jdbc;
    private final Random random = new Random(20);
    private final Map<String, Integer> stock = new HashMap<>();
    private final List<Object[]> rows = new ArrayList<>();

    SampleLog(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    @PostConstruct
    void fill() {
        LocalDate first = LocalDate.now().minusDays(DAYS);
        for (int day = 0; day < DAYS; day++) {
            work(first.plusDays(day));
        }
        jdbc.batchUpdate(INSERT, rows);
        rows.clear();
    }

    /** One day, from seven in the morning. */
    private void work(LocalDate day) {
        LocalDateTime time = day.atTime(LocalTime.of(7, 0));
        for (int i = 0; i < OPERATIONS_A_DAY; i++) {
            time = time.plusSeconds(60 + random.nextInt(720));
            String[] material = MATERIALS[random.nextInt(MATERIALS.length)];
            int place = random.nextInt(WAREHOUSES.length);
            String warehouse = WAREHOUSES[place];
            int inStock = stock.getOrDefault(warehouse + material[0], 0);
            if (inStock < 50) {
                log(time, "IN", warehouse, material, 10 * (10 + random.nextInt(90)));
            } else if (random.nextInt(20) == 0) {
                log(time, "COUNT", warehouse, material, random.nextBoolean() ? 1 + random.nextInt(3) : -1 - random.nextInt(3));
            } else if (random.nextInt(4) == 0) {
                int moved = 1 + random.nextInt(inStock / 2);
                log(time, "MOVE", warehouse, material, -moved);
                log(time, "MOVE", WAREHOUSES[(place + 1 + random.nextInt(3)) % WAREHOUSES.length], material, moved);
            } else {
                log(time, "OUT", warehouse, material, -1 - random.nextInt(inStock / 2));
            }
        }
    }

    private void log(LocalDateTime time, String opType, String warehouse, String[] material, int qty) {
        int balance = stock.merge(warehouse + material[0], qty, Integer::sum);
        rows.add(new Object[] {
            String.format("OP%s%05d", time.format(DateTimeFormatter.ofPattern("yyMMdd")), rows.size() + 1),
            Timestamp.valueOf(time), opType, warehouse,
            String.format("%c-%02d-%02d", 'A' + random.nextInt(5), 1 + random.nextInt(12), 1 + random.nextInt(8)),
            material[0], material[1], time.format(DateTimeFormatter.ofPattern("yyyyMM")) + "-" + (10 + random.nextInt(90)),
            qty, material[2], balance, "u100" + (1 + random.nextInt(6)),
        });
    }
}
