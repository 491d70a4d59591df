/** The adapter for reactive applications, of Spring 5.1 to 7. Nothing in it waits. */
package io.tollgate.spring.webflux;
