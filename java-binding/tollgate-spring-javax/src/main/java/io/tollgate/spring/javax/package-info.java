/** The servlet adapter for Spring 5: translates, and decides nothing. */
package io.tollgate.spring.javax;
