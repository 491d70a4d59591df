package io.tollgate;

/** A hit whose decision is yet to come. */
final class Hit extends Awaited<Decision> {
    private Decision decision;

    Hit(long number, boolean awaited) {
        super(number, awaited);
    }

    @Override
    boolean take(Decision next) {
        decision = next;
        return true;
    }

    @Override
    void completeAsTaken() {
        complete(decision);
    }
}
