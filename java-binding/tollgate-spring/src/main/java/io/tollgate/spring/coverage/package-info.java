/** What is guarded, how, and what only looks as if it were: at start, in a test, and for the actuator endpoint. */
package io.tollgate.spring.coverage;
