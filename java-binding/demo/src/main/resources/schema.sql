CREATE TABLE inventory_op_log (
  op_no         VARCHAR(20)  NOT NULL PRIMARY KEY,
  op_time       TIMESTAMP    NOT NULL,
  op_type       VARCHAR(10)  NOT NULL,
  warehouse     VARCHAR(10)  NOT NULL,
  location      VARCHAR(12)  NOT NULL,
  material      VARCHAR(12)  NOT NULL,
  material_name VARCHAR(60)  NOT NULL,
  batch         VARCHAR(16)  NOT NULL,
  qty           INTEGER      NOT NULL,
  unit          VARCHAR(6)   NOT NULL,
  balance       INTEGER      NOT NULL,
  operator      VARCHAR(20)  NOT NULL
);
