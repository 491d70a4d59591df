-- Records of rejections, MySQL 5.7 and later, MariaDB 10.2 and later. Times are UTC.
CREATE TABLE IF NOT EXISTS tollgate_interception (
  id               BIGINT        NOT NULL AUTO_INCREMENT,
  time_utc         DATETIME(3)   NOT NULL,
  user_id          VARCHAR(128)  NULL,
  module_name      VARCHAR(128)  NOT NULL,
  rule_name        VARCHAR(256)  NOT NULL,
  method_name      VARCHAR(400)  NULL,
  http_method      VARCHAR(16)   NULL,
  uri              VARCHAR(1000) NULL,
  interval_seconds INT           NOT NULL,
  hit_limit        BIGINT        NOT NULL,
  hit_count        BIGINT        NOT NULL,
  outcome          VARCHAR(32)   NOT NULL,
  client_address   VARCHAR(64)   NULL,
  instance_name    VARCHAR(128)  NULL,
  PRIMARY KEY (id),
  KEY tollgate_interception_time (time_utc),
  KEY tollgate_interception_user (user_id, time_utc)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
