-- Records of rejections, SQL Server 2008 and later. Times are UTC.
CREATE TABLE tollgate_interception (
  id               BIGINT         IDENTITY(1, 1) PRIMARY KEY,
  time_utc         DATETIME2(3)   NOT NULL,
  user_id          NVARCHAR(128)  NULL,
  module_name      NVARCHAR(128)  NOT NULL,
  rule_name        NVARCHAR(256)  NOT NULL,
  method_name      NVARCHAR(400)  NULL,
  http_method      NVARCHAR(16)   NULL,
  uri              NVARCHAR(1000) NULL,
  interval_seconds INT            NOT NULL,
  hit_limit        BIGINT         NOT NULL,
  hit_count        BIGINT         NOT NULL,
  outcome          NVARCHAR(32)   NOT NULL,
  client_address   NVARCHAR(64)   NULL,
  instance_name    NVARCHAR(128)  NULL
);
CREATE INDEX tollgate_interception_time ON tollgate_interception (time_utc);
CREATE INDEX tollgate_interception_user ON tollgate_interception (user_id, time_utc);
