//! The primitives that the queue is built of, in one place so that the model checker can put its own there.

#[cfg(shuttle)]
pub(super) use model::{Condvar, Mutex, spawn};
#[cfg(not(shuttle))]
pub(super) use real::{Condvar, Mutex, spawn};

#[cfg(not(shuttle))]
mod real {
    use std::io;
    use std::time::Instant;

    pub(in super::super) use parking_lot::Mutex;
    use parking_lot::MutexGuard;

    pub(in super::super) struct Condvar(parking_lot::Condvar);

    impl Condvar {
        pub(in super::super) fn new() -> Self {
            Self(parking_lot::Condvar::new())
        }

        pub(in super::super) fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
            self.0.wait(guard);
        }

        /// Waits; true when `deadline` has come.
        pub(in super::super) fn wait_until<T>(
            &self,
            guard: &mut MutexGuard<'_, T>,
            deadline: Instant,
        ) -> bool {
            self.0.wait_until(guard, deadline).timed_out()
        }

        pub(in super::super) fn notify_one(&self) {
            self.0.notify_one();
        }
    }

    pub(in super::super) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        std::thread::Builder::new().name(name.into()).spawn(work).map(drop)
    }
}

#[cfg(shuttle)]
mod model {
    use std::io;
    use std::time::Instant;

    use shuttle::rand::Rng as _;
    use shuttle::sync::MutexGuard;

    pub(in super::super) struct Mutex<T>(shuttle::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(in super::super) fn new(value: T) -> Self {
            Self(shuttle::sync::Mutex::new(value))
        }

        pub(in super::super) fn lock(&self) -> Guard<'_, T> {
            Guard { mutex: &self.0, held: Some(self.0.lock().expect("no panic")) }
        }
    }

    pub(in super::super) struct Guard<'a, T> {
        mutex: &'a shuttle::sync::Mutex<T>,
        /// None only while a condition variable has it.
        held: Option<MutexGuard<'a, T>>,
    }

    impl<T> std::ops::Deref for Guard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            self.held.as_ref().expect("held")
        }
    }

    impl<T> std::ops::DerefMut for Guard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            self.held.as_mut().expect("held")
        }
    }

    pub(in super::super) struct Condvar(shuttle::sync::Condvar);

    impl Condvar {
        pub(in super::super) fn new() -> Self {
            Self(shuttle::sync::Condvar::new())
        }

        pub(in super::super) fn wait<T>(&self, guard: &mut Guard<'_, T>) {
            let held = guard.held.take().expect("held");
            guard.held = Some(self.0.wait(held).expect("no panic"));
        }

        /// A deadline that has passed may still lose against a wake-up; one that hasn't never comes.
        pub(in super::super) fn wait_until<T>(&self, guard: &mut Guard<'_, T>, deadline: Instant) -> bool {
            if deadline > Instant::now() {
                self.wait(guard);
                return false;
            }
            // Others run meanwhile, as they could while this thread wakes up.
            drop(guard.held.take());
            for _ in 0..shuttle::rand::thread_rng().gen_range(0..3) {
                shuttle::thread::yield_now();
            }
            guard.held = Some(guard.mutex.lock().expect("no panic"));
            true
        }

        pub(in super::super) fn notify_one(&self) {
            self.0.notify_one();
        }
    }

    pub(in super::super) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        shuttle::thread::Builder::new().name(name.into()).spawn(work).map(drop)
    }
}
