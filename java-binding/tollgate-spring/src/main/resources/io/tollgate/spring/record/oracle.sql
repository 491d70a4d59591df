-- Records of rejections, Oracle 11g and later. Times are UTC. No id: 11g has no identity columns, and ROWID names a row.
CREATE TABLE tollgate_interception (
  time_utc         TIMESTAMP(3)        NOT NULL,
  user_id          VARCHAR2(128 CHAR)  NULL,
  module_name      VARCHAR2(128 CHAR)  NOT NULL,
  rule_name        VARCHAR2(256 CHAR)  NOT NULL,
  method_name      VARCHAR2(400 CHAR)  NULL,
  http_method      VARCHAR2(16 CHAR)   NULL,
  uri              VARCHAR2(1000 CHAR) NULL,
  interval_seconds NUMBER(10)          NOT NULL,
  hit_limit        NUMBER(19)          NOT NULL,
  hit_count        NUMBER(19)          NOT NULL,
  outcome          VARCHAR2(32 CHAR)   NOT NULL,
  client_address   VARCHAR2(64 CHAR)   NULL,
  instance_name    VARCHAR2(128 CHAR)  NULL
);
CREATE INDEX tollgate_interception_time ON tollgate_interception (time_utc);
CREATE INDEX tollgate_interception_user ON tollgate_interception (user_id, time_utc);
