/**
 * Records of rejections: each writes a row, off the request's thread. {@link io.tollgate.spring.record.InterceptionQueue} takes
 * them, an {@link io.tollgate.spring.record.InterceptionRecorder} writes them: by JDBC, by MyBatis, or a host's own.
 */
package io.tollgate.spring.record;
