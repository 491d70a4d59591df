/** The Spring Boot starter: conditions, properties and replaceable beans. */
package io.tollgate.spring.boot;
