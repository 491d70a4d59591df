/**
 * What the Spring adapters share: the annotation, names, identity, messages and the answer to a rejected request. Nothing
 * here knows a servlet API or a JSON library.
 */
package io.tollgate.spring;
