-- Records of rejections, PostgreSQL 9.5 and later. Times are UTC.
CREATE TABLE IF NOT EXISTS tollgate_interception (
  id               BIGSERIAL     PRIMARY KEY,
  time_utc         TIMESTAMP(3)  NOT NULL,
  user_id          VARCHAR(128)  NULL,
  module_name      VARCHAR(128)  NOT NULL,
  rule_name        VARCHAR(256)  NOT NULL,
  method_name      VARCHAR(400)  NULL,
  http_method      VARCHAR(16)   NULL,
  uri              VARCHAR(1000) NULL,
  interval_seconds INTEGER       NOT NULL,
  hit_limit        BIGINT        NOT NULL,
  hit_count        BIGINT        NOT NULL,
  outcome          VARCHAR(32)   NOT NULL,
  client_address   VARCHAR(64)   NULL,
  instance_name    VARCHAR(128)  NULL
);
CREATE INDEX IF NOT EXISTS tollgate_interception_time ON tollgate_interception (time_utc);
CREATE INDEX IF NOT EXISTS tollgate_interception_user ON tollgate_interception (user_id, time_utc);
