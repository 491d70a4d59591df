/*
 * tollgate: a fixed-window rate limiter for business actions: "user U may hit rule R once in 3 seconds".
 *
 *     #include <stdio.h>
 *     #include <tollgate.h>
 *
 *     int main(void) {
 *         tollgate_limiter *limiter;
 *         tollgate_rule *rule;
 *         tollgate_rule_spec spec;
 *         tollgate_decision decision;
 *         char why[512];
 *         size_t length;
 *
 *         if (tollgate_open("memory:", 7, NULL, &limiter) != TOLLGATE_OK) {
 *             tollgate_last_error(why, sizeof why, &length, NULL);
 *             fprintf(stderr, "%s\n", why);
 *             return 1;
 *         }
 *         TOLLGATE_INIT(spec);
 *         spec.module = "wms";
 *         spec.module_len = 3;
 *         spec.name = "Order.list";
 *         spec.name_len = 10;
 *         spec.interval_seconds = 3;
 *         spec.limit = 1;
 *         TOLLGATE_INIT(decision);
 *         if (tollgate_rule_register(limiter, &spec, &rule) == TOLLGATE_OK
 *             && tollgate_acquire(limiter, rule, "u1", 2, &decision) == TOLLGATE_OK && !decision.allowed) {
 *             printf("come back in %lu ms\n", (unsigned long) decision.reset_after_ms);
 *         }
 *         return tollgate_close(limiter) != TOLLGATE_OK;
 *     }
 *
 * Link libtollgate.a with -lpthread -ldl -lm, or install libtollgate.so as libtollgate.so.0 with a link libtollgate.so.
 *
 * Every function returns a tollgate_status, may be called from any thread, and never ends the process: what is wrong with an argument,
 * and a defect inside, gives a status and a text (tollgate_last_error). Texts are UTF-8 with their length in bytes and needn't end with
 * a NUL; those that go out do. Structs begin with their size, so that programs and libraries of different versions understand each other: clear them
 * with TOLLGATE_INIT. A limiter belongs to whoever opened it, a rule to its limiter, constants to nobody, and every other pointer is
 * borrowed for the time of the call. After fork() use limiters in the child only if they were opened there: the library's threads stay behind, and
 * callbacks that are due come in the parent alone.
 *
 * Generated from ffi/src by cbindgen, see ffi/cbindgen.toml: don't edit.
 */


#ifndef TOLLGATE_H
#define TOLLGATE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Clears a struct and sets its size. */
#define TOLLGATE_INIT(object) (memset(&(object), 0, sizeof(object)), (object).size = sizeof(object))


// The result of every function. Numbers are never reused.
enum tollgate_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Done.
  TOLLGATE_OK = 0,
  // A pointer that is needed was NULL.
  TOLLGATE_NULL_ARGUMENT = 1,
  // The limiter is closed, or this was never one.
  TOLLGATE_CLOSED = 2,
  // The rule belongs to another limiter, or to one that is closed, or this was never one.
  TOLLGATE_FOREIGN_RULE = 3,
  // A text is longer than it may be.
  TOLLGATE_TOO_LONG = 4,
  // A text is not UTF-8.
  TOLLGATE_NOT_UTF8 = 5,
  // A struct's size field is not what sizeof says.
  TOLLGATE_BAD_SIZE = 6,
  // A number is none of those that its field may have.
  TOLLGATE_BAD_VALUE = 7,
  // The URL or an option is not usable.
  TOLLGATE_BAD_OPTION = 8,
  // A rule's value is not usable, or there are too many rules.
  TOLLGATE_BAD_RULE = 9,
  // A setting's name or value is not usable.
  TOLLGATE_BAD_SETTING = 10,
  // The store did not answer, or refused. Decisions never end so: they follow the fault policy.
  TOLLGATE_STORE_FAULT = 11,
  // There is no such setting, or no such counter.
  TOLLGATE_NOT_FOUND = 12,
  // The text was cut to fit the buffer; the length that was reported is that of the whole.
  TOLLGATE_BUFFER_TOO_SMALL = 13,
  // 65,536 limiters, or as many rules, are open.
  TOLLGATE_TOO_MANY = 14,
  // A callback called what it must not call.
  TOLLGATE_IN_CALLBACK = 15,
  // A defect in this library. The limiter goes on working; please report the text.
  TOLLGATE_PANIC = 16,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tollgate_status tollgate_status;
#else
typedef int32_t tollgate_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// How a hit was decided. Numbers are never reused.
enum tollgate_outcome
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Inside the limit: passes.
  TOLLGATE_OUTCOME_ALLOWED = 0,
  // Over the limit: rejected until the window ends.
  TOLLGATE_OUTCOME_LIMITED = 1,
  // Over the limit of a rule whose switch says "shadow": passes.
  TOLLGATE_OUTCOME_SHADOWED = 2,
  // The rule's switch is off: passes, not counted.
  TOLLGATE_OUTCOME_OFF = 3,
  // Nobody to count for (blank, "null" or "undefined"): passes, not counted.
  TOLLGATE_OUTCOME_NO_IDENTITY = 4,
  // The store failed and the policy is to allow: passes.
  TOLLGATE_OUTCOME_FAULT_ALLOWED = 5,
  // The store failed and the policy is to deny: rejected.
  TOLLGATE_OUTCOME_FAULT_DENIED = 6,
  // The store failed; inside the limit as counted in process memory: passes.
  TOLLGATE_OUTCOME_FAULT_LOCAL_ALLOWED = 7,
  // The store failed; over the limit as counted in process memory: rejected.
  TOLLGATE_OUTCOME_FAULT_LOCAL_LIMITED = 8,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tollgate_outcome tollgate_outcome;
#else
typedef int32_t tollgate_outcome;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What was wrong with the store when the fault policy decided. Numbers are never reused.
enum tollgate_fault
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Nothing: the store answered.
  TOLLGATE_FAULT_NONE = 0,
  // The hit was not sent: no connection, or the store is known to be away.
  TOLLGATE_FAULT_UNAVAILABLE = 1,
  // The hit was sent and not answered in time; the server may have counted it.
  TOLLGATE_FAULT_TIMEOUT = 2,
  // The server refused the hit and did not count it.
  TOLLGATE_FAULT_REFUSED = 3,
  // The connection broke or the answer made no sense; the server may have counted it.
  TOLLGATE_FAULT_PROTOCOL = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tollgate_fault tollgate_fault;
#else
typedef int32_t tollgate_fault;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// What a hit gets while the store can't answer.
enum tollgate_on_fault
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // Not said: the limiter's policy for a rule, TOLLGATE_ON_FAULT_ALLOW for a limiter.
  TOLLGATE_ON_FAULT_DEFAULT = 0,
  // It passes: a limiter is a guest of its host.
  TOLLGATE_ON_FAULT_ALLOW = 1,
  // It is rejected.
  TOLLGATE_ON_FAULT_DENY = 2,
  // It is counted in process memory until the store is back.
  TOLLGATE_ON_FAULT_LOCAL = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tollgate_on_fault tollgate_on_fault;
#else
typedef int32_t tollgate_on_fault;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// Levels of log lines.
enum tollgate_level
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  // An operator must know: the store fails, a setting is ignored.
  TOLLGATE_LEVEL_ERROR = 1,
  // Something is not as it should be.
  TOLLGATE_LEVEL_WARN = 2,
  // Good to know: the store answers again.
  TOLLGATE_LEVEL_INFO = 3,
  // For developers.
  TOLLGATE_LEVEL_DEBUG = 4,
  // For developers, in detail.
  TOLLGATE_LEVEL_TRACE = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tollgate_level tollgate_level;
#else
typedef int32_t tollgate_level;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

// A limiter. Open one for a process; every function may use it from any thread.
//
// Owned by whoever opened it, until tollgate_close. The pointer is a number that is looked up and never
// memory: one that was closed gives TOLLGATE_CLOSED, whoever uses it and however late.
typedef struct tollgate_limiter tollgate_limiter;

// A registered rule: what tollgate_acquire counts against. Any thread may use it.
//
// Owned by its limiter: it lives until tollgate_close and is never freed by itself. Like a limiter's, the
// pointer is a number that is looked up.
typedef struct tollgate_rule tollgate_rule;

// A user's counter as it stands in the store. Set size, or use TOLLGATE_INIT.
typedef struct tollgate_counter_snapshot {
  // sizeof(tollgate_counter_snapshot); TOLLGATE_INIT sets it.
  size_t size;
  // Hits so far in the window, rejected ones too.
  uint64_t count;
  // Milliseconds until the window ends; 0 for a counter whose end was lost, which its next hit gives one.
  uint64_t ends_in_ms;
} tollgate_counter_snapshot;

// What a limiter said about one hit. Set size, or use TOLLGATE_INIT; it can be used again and again.
typedef struct tollgate_decision {
  // sizeof(tollgate_decision); TOLLGATE_INIT sets it.
  size_t size;
  // The user's hits in this window, this one included, rejected ones too; 0 where none was counted.
  uint64_t count;
  // How many hits pass in one window, as it holds now.
  uint64_t limit;
  // How many hits still pass in this window.
  uint64_t remaining;
  // Milliseconds until the window ends; 0 where nothing was counted.
  uint64_t reset_after_ms;
  // A tollgate_outcome.
  int32_t outcome;
  // A tollgate_fault.
  int32_t fault;
  // 1 where the hit passes, else 0.
  int32_t allowed;
  // 1 where the hit was over the limit or denied and recording is on, else 0.
  int32_t should_record;
} tollgate_decision;

// Receives one decision: `TOLLGATE_OK` and the decision, valid during the call, or `TOLLGATE_PANIC` and NULL
// (then `tollgate_last_error`, asked inside the callback, says more); and what was given to
// `tollgate_acquire_async`.
typedef void (*tollgate_decision_callback)(tollgate_status status,
                                           const struct tollgate_decision *decision,
                                           void *userdata);

// Options of a limiter. Clear it with TOLLGATE_INIT; what stays zero has its default.
typedef struct tollgate_options {
  // sizeof(tollgate_options); TOLLGATE_INIT sets it.
  size_t size;
  // How long a hit waits for the store at most: 1 to 60,000 milliseconds, 100 by default.
  uint64_t deadline_ms;
  // How long tollgate_open waits for the first connection at most: 1 to 60,000 milliseconds, 1,000 by
  // default.
  uint64_t connect_timeout_ms;
  // Counters held in process memory at most: 1 to 100,000,000, by default 1,000,000.
  uint64_t max_counters;
  // The first part of every key, 64 bytes at most; NULL for "ratelimit". Copied.
  const char *prefix;
  // Bytes in prefix.
  size_t prefix_len;
  // A tollgate_on_fault, for rules that don't say otherwise.
  int32_t on_fault;
  // 0.
  int32_t reserved;
} tollgate_options;

// Receives log lines: level (a `tollgate_level`), text (UTF-8, ends with a NUL that `message_len` doesn't
// count, valid during the call), and what was given to `tollgate_on_log`.
typedef void (*tollgate_log_callback)(int32_t level, const char *message, size_t message_len, void *userdata);

// A rule to register. Clear it with TOLLGATE_INIT, then fill it: a limit that stays 0 rejects everything, an
// interval that stays 0 is an error.
typedef struct tollgate_rule_spec {
  // sizeof(tollgate_rule_spec); TOLLGATE_INIT sets it.
  size_t size;
  // The application's part of the name, like "wms". Copied.
  const char *module;
  // Bytes in module, 4,096 at most.
  size_t module_len;
  // The rule's own part of the name, like "Order.list". Copied.
  const char *name;
  // Bytes in name, 4,096 at most.
  size_t name_len;
  // The window: 1 to 31,536,000 seconds. An operator's setting has the last word.
  uint64_t interval_seconds;
  // How many hits pass in one window, 0 to 2^63 - 1. An operator's setting has the last word.
  uint64_t limit;
  // The key of the text that a rejected user reads; NULL for none. Copied.
  const char *message_key;
  // Bytes in message_key, 4,096 at most.
  size_t message_key_len;
  // A tollgate_on_fault.
  int32_t on_fault;
  // 0.
  int32_t reserved;
  // How long a hit on this rule waits for the store at most: 1 to 60,000 milliseconds; 0 for the limiter's deadline.
  uint64_t deadline_ms;
} tollgate_rule_spec;

// Receives one setting: its field, its value (each UTF-8 with its length, valid during the call) and what
// was given to tollgate_settings_list. It may call any function of this library.
typedef void (*tollgate_setting_callback)(const char *field,
                                          size_t field_len,
                                          const char *value,
                                          size_t value_len,
                                          void *userdata);

// One of several hits: on which rule, by whom. Clear it with TOLLGATE_INIT, then fill it.
typedef struct tollgate_hit {
  // sizeof(tollgate_hit); TOLLGATE_INIT sets it. The same for all hits of a call.
  size_t size;
  // A rule of the limiter that is asked. Several hits may name the same.
  struct tollgate_rule *rule;
  // Who asks, as in tollgate_acquire.
  const char *user;
  // Bytes in user, 1,048,576 at most.
  size_t user_len;
} tollgate_hit;

// Receives the decisions of one call, in the order of its hits: `TOLLGATE_OK`, an array of `count`, valid during the call, and
// which answers, as in `tollgate_acquire_all`; or `TOLLGATE_PANIC`, NULL, 0 and 0. And what was given to
// `tollgate_acquire_all_async`.
typedef void (*tollgate_decisions_callback)(tollgate_status status,
                                            const struct tollgate_decision *decisions,
                                            size_t count,
                                            size_t tightest,
                                            void *userdata);

// What a limiter has done since it was opened. Set size, or use TOLLGATE_INIT.
typedef struct tollgate_stats_snapshot {
  // sizeof(tollgate_stats_snapshot); TOLLGATE_INIT sets it.
  size_t size;
  // Hits that ended in TOLLGATE_OUTCOME_ALLOWED.
  uint64_t allowed;
  // Hits that ended in TOLLGATE_OUTCOME_LIMITED.
  uint64_t limited;
  // Hits that ended in TOLLGATE_OUTCOME_SHADOWED.
  uint64_t shadowed;
  // Hits that ended in TOLLGATE_OUTCOME_OFF.
  uint64_t off;
  // Hits that ended in TOLLGATE_OUTCOME_NO_IDENTITY.
  uint64_t no_identity;
  // Hits that ended in TOLLGATE_OUTCOME_FAULT_ALLOWED.
  uint64_t fault_allowed;
  // Hits that ended in TOLLGATE_OUTCOME_FAULT_DENIED.
  uint64_t fault_denied;
  // Hits that ended in TOLLGATE_OUTCOME_FAULT_LOCAL_ALLOWED.
  uint64_t fault_local_allowed;
  // Hits that ended in TOLLGATE_OUTCOME_FAULT_LOCAL_LIMITED.
  uint64_t fault_local_limited;
  // Rules that are registered.
  uint64_t rules;
  // Counters that are held in process memory right now.
  uint64_t counters;
  // 1 where the store can be asked right now, else 0.
  uint64_t store_up;
} tollgate_stats_snapshot;

// What a limiter's store says of itself. Set size, or use TOLLGATE_INIT.
typedef struct tollgate_store_snapshot {
  // sizeof(tollgate_store_snapshot); TOLLGATE_INIT sets it.
  size_t size;
  // Connections made so far; one more than the store keeps is a reconnect.
  uint64_t connects;
  // A tollgate_fault: why the store can't be asked right now.
  uint64_t fault;
} tollgate_store_snapshot;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Looks at a user's counter: counts nothing and changes nothing, not even the window's end. Blocks for a second at most.
//
// `user` is as in tollgate_acquire; `counter` is only written on success. What this process counted by itself while the
// store was away isn't there.
//
// Returns TOLLGATE_OK, TOLLGATE_NOT_FOUND where nothing is counted, TOLLGATE_STORE_FAULT also where something stands there that
// is no counter, TOLLGATE_NULL_ARGUMENT, TOLLGATE_CLOSED, TOLLGATE_FOREIGN_RULE, TOLLGATE_TOO_LONG, TOLLGATE_NOT_UTF8,
// TOLLGATE_BAD_SIZE or TOLLGATE_PANIC.
//
// # Safety
// `user` has `user_len` readable bytes; `counter` as many writable ones as its size says; or they are NULL.
tollgate_status tollgate_counter(struct tollgate_limiter *limiter,
                                 struct tollgate_rule *rule,
                                 const char *user,
                                 size_t user_len,
                                 struct tollgate_counter_snapshot *counter);

// Removes a user's counter, or what else stands in its place: the next hit begins a window. Blocks for a second at most.
//
// Returns TOLLGATE_OK where there was something, TOLLGATE_NOT_FOUND where there was nothing, TOLLGATE_STORE_FAULT,
// TOLLGATE_NULL_ARGUMENT, TOLLGATE_CLOSED, TOLLGATE_FOREIGN_RULE, TOLLGATE_TOO_LONG, TOLLGATE_NOT_UTF8 or TOLLGATE_PANIC.
//
// # Safety
// `user` has `user_len` readable bytes or is NULL.
tollgate_status tollgate_clear(struct tollgate_limiter *limiter,
                               struct tollgate_rule *rule,
                               const char *user,
                               size_t user_len);

// Counts one hit and decides it. Blocks for one round trip to the store, at most for the deadline.
//
// `user` is who asks: 1,048,576 bytes of UTF-8 at most (a lone surrogate as three bytes is let through). A
// blank one, also one of length 0, is nobody and passes as TOLLGATE_OUTCOME_NO_IDENTITY. It is only read
// during the call. `decision` is only written on success.
//
// Whatever happens to the store is no error here but an outcome. Returns TOLLGATE_OK,
// TOLLGATE_NULL_ARGUMENT, TOLLGATE_CLOSED, TOLLGATE_FOREIGN_RULE, TOLLGATE_TOO_LONG, TOLLGATE_NOT_UTF8,
// TOLLGATE_BAD_SIZE or TOLLGATE_PANIC.
//
// # Safety
// `user` has `user_len` readable bytes; `decision` as many writable ones as its size says; or they are NULL.
tollgate_status tollgate_acquire(struct tollgate_limiter *limiter,
                                 struct tollgate_rule *rule,
                                 const char *user,
                                 size_t user_len,
                                 struct tollgate_decision *decision);

// The name of an outcome, like "LIMITED", the same in every language, in logs and in metrics: a constant
// that ends with a NUL and is never freed.
//
// Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT, or TOLLGATE_BAD_VALUE for a number that is no outcome.
//
// # Safety
// `name` is writable or NULL.
tollgate_status tollgate_outcome_name(int32_t outcome, const char **name);

// Counts one hit and decides it without waiting: `callback` gets the decision. If this returns TOLLGATE_OK it
// is called exactly once, by the deadline at the latest, also when the store fails and when the limiter is closed
// meanwhile; otherwise it is never called.
//
// It is called on whatever thread brings the decision: where nothing has to be waited for on this one, before this
// returns (from within a callback: after that one has returned), else on one of the library's or on one that is inside
// another call of the same limiter. So it must be quick and must not throw: while it blocks, other decisions are late. It may call any function of this library except
// tollgate_close and tollgate_on_log, which give TOLLGATE_IN_CALLBACK; tollgate_acquire and the tollgate_settings
// functions would block, tollgate_acquire_async doesn't. Decisions may come in another order than the hits went.
// `userdata` is handed to the callback and never touched.
//
// `user` is as in tollgate_acquire and only read during the call. Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT,
// TOLLGATE_CLOSED, TOLLGATE_FOREIGN_RULE, TOLLGATE_TOO_LONG, TOLLGATE_NOT_UTF8 or TOLLGATE_PANIC.
//
// # Safety
// `user` has `user_len` readable bytes or is NULL; `callback` is NULL or a function of that type that any thread
// may call with `userdata`, until it was called, and that does not throw.
tollgate_status tollgate_acquire_async(struct tollgate_limiter *limiter,
                                       struct tollgate_rule *rule,
                                       const char *user,
                                       size_t user_len,
                                       tollgate_decision_callback callback,
                                       void *userdata);

// The text and the code of this thread's last failure. A call that succeeds changes neither; before the
// first failure the text is empty and the code TOLLGATE_OK.
//
// `buffer` gets the text and a final NUL, cut where it is longer than `capacity` - 1 bytes; `length` gets
// the length of the whole text. 512 bytes are enough for most. `code` may be NULL.
//
// Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT or TOLLGATE_BUFFER_TOO_SMALL, and does not itself become the
// last failure.
//
// # Safety
// `buffer` has `capacity` writable bytes; `length` and `code` are writable or NULL.
tollgate_status tollgate_last_error(char *buffer, size_t capacity, size_t *length, tollgate_status *code);

// The name of a status, like "TOLLGATE_CLOSED": a constant that ends with a NUL and is never freed.
//
// Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT, or TOLLGATE_BAD_VALUE for a number that is no status.
//
// # Safety
// `name` is writable or NULL.
tollgate_status tollgate_status_name(int32_t status, const char **name);

// The version of this library, like "0.1.0": a constant that ends with a NUL and is never freed.
//
// Returns TOLLGATE_OK or TOLLGATE_NULL_ARGUMENT.
//
// # Safety
// `version` is writable or NULL.
tollgate_status tollgate_version(const char **version);

// Opens a limiter.
//
// `url` says where counters and settings stand: "memory:",
// "redis://[[user]:password@]host[:port][/database]", the same with "rediss://" for TLS (also
// "?ca=FILE&cert=FILE&key=FILE"), "unix:///path/to/socket[?db=1&user=u&pass=p]",
// "redis-sentinel://[[user]:password@]host[:port],...[/database]?sentinelMasterId=name" or
// "redis-cluster://[[user]:password@]host[:port],..."; 4,096 bytes at most. A server that can't be reached is no
// error: hits get the fault policy until it is there. `options` may be NULL for the defaults. Both are only
// read during the call.
//
// `limiter` gets the limiter, which the caller closes with tollgate_close.
//
// Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT, TOLLGATE_TOO_LONG, TOLLGATE_NOT_UTF8, TOLLGATE_BAD_SIZE,
// TOLLGATE_BAD_VALUE, TOLLGATE_BAD_OPTION or TOLLGATE_TOO_MANY.
//
// # Safety
// `url` has `url_len` readable bytes, `options` as many as its size says; `limiter` is writable; or they are
// NULL.
tollgate_status tollgate_open(const char *url,
                              size_t url_len,
                              const struct tollgate_options *options,
                              struct tollgate_limiter **limiter);

// Closes a limiter and frees it with its rules and connections. Calls that are under way on other threads
// finish, and so do hits of tollgate_acquire_async: each callback is called as if nothing had happened, by its
// deadline at the latest. Later calls get TOLLGATE_CLOSED.
//
// Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT, TOLLGATE_CLOSED when it was closed before, or
// TOLLGATE_IN_CALLBACK.
//
// # Safety
// Always safe; any value may be passed.
tollgate_status tollgate_close(struct tollgate_limiter *limiter);

// Where a limiter's counters stand, like "memory" or "redis 127.0.0.1:6379": never a password.
//
// `buffer` gets the text and a final NUL, cut where it is longer than `capacity` - 1 bytes; `length` gets
// the length of the whole text.
//
// Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT, TOLLGATE_CLOSED or TOLLGATE_BUFFER_TOO_SMALL.
//
// # Safety
// `buffer` has `capacity` writable bytes; `length` is writable or NULL.
tollgate_status tollgate_store(struct tollgate_limiter *limiter,
                               char *buffer,
                               size_t capacity,
                               size_t *length);

// Sends the log lines of all limiters up to `max_level` (a tollgate_level) to `callback`; NULL ends that.
// Without a callback nothing is logged.
//
// Any thread may call it, several at once, also those inside tollgate_acquire: it must be quick, must not
// throw, and whatever it logs itself through this library is dropped. Calling tollgate_on_log or
// tollgate_close from it gives TOLLGATE_IN_CALLBACK. `userdata` is handed to it and never touched. When this
// returns, the callback before is not running any more and its userdata may be freed.
//
// Returns TOLLGATE_OK, TOLLGATE_BAD_VALUE or TOLLGATE_IN_CALLBACK.
//
// # Safety
// `callback` is NULL or a function of that type that any thread may call with `userdata` until it is
// replaced, and that does not throw.
tollgate_status tollgate_on_log(int32_t max_level, tollgate_log_callback callback, void *userdata);

// Registers a rule. Do it once for each place in the code, not once for each user: a limiter takes 10,000 of
// them. An equal rule gives the pointer that the first one had.
//
// `spec` is only read during the call. `rule` gets the rule, which belongs to the limiter.
//
// Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT, TOLLGATE_CLOSED, TOLLGATE_TOO_LONG, TOLLGATE_NOT_UTF8,
// TOLLGATE_BAD_SIZE, TOLLGATE_BAD_VALUE, TOLLGATE_BAD_RULE or TOLLGATE_TOO_MANY.
//
// # Safety
// `spec` has as many readable bytes as its size says, its texts as many as their lengths say; `rule` is
// writable; or they are NULL.
tollgate_status tollgate_rule_register(struct tollgate_limiter *limiter,
                                       const struct tollgate_rule_spec *spec,
                                       struct tollgate_rule **rule);

// Reads one setting, like "wms.Order.list.limit", from the store. Blocks for a second at most.
//
// `buffer` gets the value and a final NUL, cut where it is longer than `capacity` - 1 bytes; `length` gets
// the length of the whole value.
//
// Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT, TOLLGATE_CLOSED, TOLLGATE_TOO_LONG, TOLLGATE_NOT_UTF8,
// TOLLGATE_STORE_FAULT, TOLLGATE_NOT_FOUND or TOLLGATE_BUFFER_TOO_SMALL.
//
// # Safety
// `field` has `field_len` readable bytes, `buffer` has `capacity` writable ones, `length` is writable; or
// they are NULL.
tollgate_status tollgate_settings_get(struct tollgate_limiter *limiter,
                                      const char *field,
                                      size_t field_len,
                                      char *buffer,
                                      size_t capacity,
                                      size_t *length);

// Writes one setting to the store. The next hit obeys, in every process that shares the store. Blocks for a
// second at most.
//
// Fields are "<module>.<rule>.check" ("true", "false" or "shadow"), ".interval" (seconds), ".limit", and
// "log.check".
//
// Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT, TOLLGATE_CLOSED, TOLLGATE_TOO_LONG, TOLLGATE_NOT_UTF8,
// TOLLGATE_BAD_SETTING or TOLLGATE_STORE_FAULT.
//
// # Safety
// `field` has `field_len` readable bytes and `value` `value_len`; or they are NULL.
tollgate_status tollgate_settings_set(struct tollgate_limiter *limiter,
                                      const char *field,
                                      size_t field_len,
                                      const char *value,
                                      size_t value_len);

// Reads all settings from the store and calls `callback` on this thread with each, ordered by field. Blocks
// for a second at most.
//
// Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT, TOLLGATE_CLOSED or TOLLGATE_STORE_FAULT.
//
// # Safety
// `callback` is NULL or a function of that type that can be called with `userdata` and does not throw.
tollgate_status tollgate_settings_list(struct tollgate_limiter *limiter,
                                       tollgate_setting_callback callback,
                                       void *userdata);

// Counts several hits and decides each, in one round trip to the store: "1 in 3 seconds and 200 a day". Blocks as
// tollgate_acquire does, for the shortest deadline of the rules at most.
//
// `hits` is an array of `count`, 1 to 64. Each is counted, also where another turns the caller away; two on one counter have
// a place each. `decisions` is an array of as many, each with its size set, all the same; they are told in the order of the hits
// and only written on success. `tightest` gets the index of the decision to answer with, or `count` where none turns away and
// none was counted; NULL if it isn't wanted. Among several that turn away TOLLGATE_OUTCOME_LIMITED answers before
// TOLLGATE_OUTCOME_FAULT_LOCAL_LIMITED, and that before TOLLGATE_OUTCOME_FAULT_DENIED, of several alike the one that lasts
// longest; where all pass the one with the fewest hits left.
//
// Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT, TOLLGATE_CLOSED, TOLLGATE_FOREIGN_RULE, TOLLGATE_TOO_LONG,
// TOLLGATE_NOT_UTF8, TOLLGATE_BAD_SIZE, TOLLGATE_BAD_VALUE for a `count` out of its range, or TOLLGATE_PANIC. Then nothing was
// counted, except after TOLLGATE_PANIC perhaps.
//
// # Safety
// `hits` has `count` structs with as many readable bytes as the first one's size says, their users as many as their lengths
// say; `decisions` has `count` structs with as many writable bytes as the first one's size says; `tightest` is writable; or
// they are NULL.
tollgate_status tollgate_acquire_all(struct tollgate_limiter *limiter,
                                     const struct tollgate_hit *hits,
                                     size_t count,
                                     struct tollgate_decision *decisions,
                                     size_t *tightest);

// Counts several hits as tollgate_acquire_all does, without waiting: `callback` gets the decisions, as that of
// tollgate_acquire_async gets one.
//
// `hits` is only read during the call. Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT, TOLLGATE_CLOSED,
// TOLLGATE_FOREIGN_RULE, TOLLGATE_TOO_LONG, TOLLGATE_NOT_UTF8, TOLLGATE_BAD_SIZE, TOLLGATE_BAD_VALUE or TOLLGATE_PANIC.
//
// # Safety
// `hits` is as in tollgate_acquire_all; `callback` is NULL or a function of that type that any thread may call with
// `userdata`, until it was called, and that does not throw.
tollgate_status tollgate_acquire_all_async(struct tollgate_limiter *limiter,
                                           const struct tollgate_hit *hits,
                                           size_t count,
                                           tollgate_decisions_callback callback,
                                           void *userdata);

// What a limiter has done so far.
//
// Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT, TOLLGATE_CLOSED or TOLLGATE_BAD_SIZE.
//
// # Safety
// `stats` has as many writable bytes as its size says, or is NULL.
tollgate_status tollgate_stats(struct tollgate_limiter *limiter, struct tollgate_stats_snapshot *stats);

// How a limiter's store is right now; what tollgate_stats has no place for.
//
// `buffer` gets why it can't be asked, for people, and a final NUL, cut where it is longer than `capacity` - 1 bytes; empty
// while it can. `length` gets the length of the whole text. `state` is written also where the text is cut.
//
// Returns TOLLGATE_OK, TOLLGATE_NULL_ARGUMENT, TOLLGATE_CLOSED, TOLLGATE_BAD_SIZE or TOLLGATE_BUFFER_TOO_SMALL.
//
// # Safety
// `state` has as many writable bytes as its size says, `buffer` has `capacity` writable ones, `length` is writable; or they
// are NULL.
tollgate_status tollgate_store_state(struct tollgate_limiter *limiter,
                                     struct tollgate_store_snapshot *state,
                                     char *buffer,
                                     size_t capacity,
                                     size_t *length);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TOLLGATE_H */
