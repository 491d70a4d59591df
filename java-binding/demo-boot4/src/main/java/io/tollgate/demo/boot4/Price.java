package io.tollgate.demo.boot4;

/** A price in cents, and where it comes from. */
record Price(String article, int cents, String source) {}
